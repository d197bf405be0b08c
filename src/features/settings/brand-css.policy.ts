/**
 * The custom properties of the pages' stylesheet that operators can set: version 1 of a list that only grows. Contrast is checked as in
 * brand-colours.policy.ts, for each scheme, including default colours.
 */
import {
  type BrandColours,
  type ColourScheme,
  checkContrast,
  contrastRatio,
  SCHEME_COLOURS,
  type Scheme,
  writeRatio,
} from './brand-colours.policy.ts';

/** The version of the list; a property never changes its meaning within one. */
export const CSS_VERSION = 1;

/** Colours of a scheme, and what each is for. */
export const CSS_COLOURS = {
  ground: 'Background of the page',
  card: 'Background of the card and of fields',
  tint: 'Background of notices',
  ink: 'Text',
  soft: 'Secondary text',
  line: 'Lines',
  edge: 'Edges of fields and buttons',
} as const;
export type CssColour = keyof typeof CSS_COLOURS;
export const CSS_COLOUR_NAMES = Object.keys(CSS_COLOURS) as readonly CssColour[];

/** Families that every device has: nothing is loaded from elsewhere. */
export const CSS_FONTS = {
  SYSTEM: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  SERIF: 'Georgia, "Times New Roman", "Noto Serif", serif',
  HUMANIST: 'Optima, Candara, "Noto Sans", sans-serif',
  GEOMETRIC: 'Avenir, Montserrat, Corbel, "Noto Sans", sans-serif',
} as const;
export type CssFont = keyof typeof CSS_FONTS;

type SchemeColours = Readonly<Partial<Record<CssColour, string>>>;

/** Configured values; absent ones use the product's defaults. */
export interface BrandCss {
  readonly version: 1;
  readonly light?: SchemeColours;
  readonly dark?: SchemeColours;
  /** CSS pixels, of the corners of fields, buttons and the card. */
  readonly radius?: number;
  readonly font?: CssFont;
}

export const MOST_RADIUS = 24;

/** Backgrounds of message colours, which are the product's own. */
const MESSAGES: Readonly<Record<Scheme, readonly string[]>> = {
  light: ['#b3261e', '#1b6b3a', '#8a4b00'],
  dark: ['#ffb4a9', '#7fd6a0', '#f3c06b'],
};
const FOCUS: Readonly<Record<Scheme, string>> = { light: '#1f6feb', dark: '#8ab8ff' };

/** @returns all colours of a scheme: those of the brand, else the product's own */
export const schemeColours = (scheme: Scheme, css: BrandCss | null | undefined): ColourScheme => ({
  ...SCHEME_COLOURS[scheme],
  ...css?.[scheme],
});

interface Problem {
  /** `light.ink` */
  readonly field: string;
  readonly message: string;
}

/** @returns each unreadable colour of a scheme */
function schemeProblems(scheme: Scheme, css: BrandCss): readonly Problem[] {
  const around = schemeColours(scheme, css);
  const { card, ground, tint, ink, soft, edge } = around;
  const pairs: readonly (readonly [set: readonly CssColour[], what: string, front: string, behind: string, needed: number])[] = [
    [['ink', 'card'], 'text on the card', ink, card, 4.5],
    [['ink', 'ground'], 'text on the page', ink, ground, 4.5],
    [['ink', 'tint'], 'text in notices', ink, tint, 4.5],
    [['soft', 'card'], 'secondary text on the card', soft, card, 4.5],
    [['soft', 'ground'], 'secondary text on the page', soft, ground, 4.5],
    [['edge', 'card'], 'borders on the card', edge, card, 3],
    ...MESSAGES[scheme].map((colour) => [['card'], 'messages on the card', colour, card, 4.5] as const),
    [['card'], 'the focus outline on the card', FOCUS[scheme], card, 3],
    [['ground'], 'the focus outline on the page', FOCUS[scheme], ground, 3],
  ];
  const messages = new Map<string, string>();
  for (const [names, what, front, behind, needed] of pairs) {
    const field = names.find((name) => css[scheme]?.[name] !== undefined);
    const ratio = contrastRatio(front, behind);
    if (field === undefined || ratio >= needed || messages.has(field)) continue;
    messages.set(
      field,
      `is hard to read in ${scheme}: ${what} would have a contrast of ${writeRatio(ratio)}, but ${needed}:1 is required (WCAG 2.2)`,
    );
  }
  return [...messages].map(([name, message]) => ({ field: `${scheme}.${name}`, message }));
}

/** @param accents colours of links and buttons on the pages @returns the problems of the properties; empty if everything is readable */
export function cssProblems(css: BrandCss, accents: BrandColours): readonly Problem[] {
  const schemes: readonly Scheme[] = ['light', 'dark'];
  return schemes.flatMap((scheme) => {
    const own = schemeProblems(scheme, css);
    const failed = checkContrast(scheme, accents[scheme], schemeColours(scheme, css)).find(({ passes }) => !passes);
    const field = (['card', 'ground', 'tint'] as const).find((name) => css[scheme]?.[name] !== undefined);
    if (own.length > 0 || failed === undefined || field === undefined) return own;
    const { what, ratio, needed } = failed;
    const words = `${what.charAt(0).toLowerCase()}${what.slice(1)} would have a contrast of ${writeRatio(ratio)}, but ${needed}:1 is required`;
    return [
      { field: `${scheme}.${field}`, message: `has too little contrast with the colour of links and buttons in ${scheme}: ${words}` },
    ];
  });
}

/** @returns declarations of a rule, without its braces */
export function cssDeclarations(scheme: Scheme, css: BrandCss): string {
  const colours = CSS_COLOUR_NAMES.flatMap((name) => {
    const colour = css[scheme]?.[name];
    return colour === undefined ? [] : [`--${name}:${colour}`];
  });
  const radius = css.radius === undefined ? [] : [`--radius:${css.radius}px`];
  const font = css.font === undefined ? [] : [`--font:${CSS_FONTS[css.font]}`];
  return [...colours, ...radius, ...font].join(';');
}
