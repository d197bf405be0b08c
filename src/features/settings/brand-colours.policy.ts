/**
 * Readable brand colours: contrast as defined by WCAG 2.2 ("relative luminance", "contrast ratio"), compared with success criteria 1.4.3 (text) and
 * 1.4.11 (parts of controls), on the pages in light and in dark; and the nearest colour that passes. Colours are `#rrggbb`.
 */

export type Scheme = 'light' | 'dark';

/** Colours in views/public/gatehouse.css next to a brand colour, for each scheme. */
export interface ColourScheme {
  readonly card: string;
  readonly ground: string;
  /** Background of notices, and of the element under the pointer. */
  readonly tint: string;
  /** The default colour. */
  readonly accent: string;
  /** Colour to mix with for more contrast. */
  readonly away: string;
  /** Text colour on it: white in light, nearly black in dark. */
  readonly on: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly edge: string;
}

export const SCHEME_COLOURS: Readonly<Record<Scheme, ColourScheme>> = {
  light: {
    ...{ card: '#ffffff', ground: '#f2f5f4', tint: '#eaf2f0', ink: '#16211f', soft: '#55625f', line: '#d5dddb', edge: '#7c8a87' },
    ...{ accent: '#0f5c5c', away: '#000000', on: '#ffffff' },
  },
  dark: {
    ...{ card: '#182220', ground: '#0f1615', tint: '#20302d', ink: '#e9f0ee', soft: '#a3b1ad', line: '#2d3a37', edge: '#7b8b87' },
    ...{ accent: '#6fd0c4', away: '#ffffff', on: '#06201d' },
  },
};

/** Minimum contrast of text (1.4.3, level AA), and of control boundaries (1.4.11). */
const TEXT = 4.5;
const CONTROL = 3;

export const isColour = (value: string): boolean => /^#[0-9a-f]{6}$/i.test(value);

const channelsOf = (colour: string): readonly [number, number, number] => {
  const bits = Number.parseInt(colour.slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
};

/** 0 (black) to 1 (white). */
export function relativeLuminance(colour: string): number {
  const [r, g, b] = channelsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** From 1 (the same) to 21 (black on white); the order of the colours does not matter. */
export function contrastRatio(one: string, other: string): number {
  const [darker, lighter] = [relativeLuminance(one), relativeLuminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** Rounded down, so that 4.499 is not shown as 4.5. */
export const writeRatio = (ratio: number): string => `${(Math.floor(ratio * 100) / 100).toFixed(2)}:1`;

/** @param share of the second, 0 to 1 */
function mix(one: string, other: string, share: number): string {
  const [from, to] = [channelsOf(one), channelsOf(other)];
  const mixed = from.map((channel, at) => Math.round(channel + ((to[at] ?? channel) - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

export interface ContrastCheck {
  readonly what: string;
  /** Success criterion of WCAG 2.2. */
  readonly criterion: '1.4.3' | '1.4.11';
  readonly ratio: number;
  readonly needed: number;
  readonly passes: boolean;
}

/** Checks contrast with all page elements next to a brand colour. @param around colours of the pages; absent: the product's own */
export function checkContrast(scheme: Scheme, colour: string, around: ColourScheme = SCHEME_COLOURS[scheme]): readonly ContrastCheck[] {
  const { card, ground, tint, on } = around;
  const check = (what: string, criterion: ContrastCheck['criterion'], against: string): ContrastCheck => {
    const needed = criterion === '1.4.3' ? TEXT : CONTROL;
    const ratio = contrastRatio(colour, against);
    return { what, criterion, ratio, needed, passes: ratio >= needed };
  };
  return [
    check('Links on the card', '1.4.3', card),
    check('Links on the page', '1.4.3', ground),
    check('Links in notices', '1.4.3', tint),
    check('Text on the main button', '1.4.3', on),
    check('Edge of the main button', '1.4.11', card),
  ];
}

export const isReadable = (scheme: Scheme, colour: string, around?: ColourScheme): boolean =>
  checkContrast(scheme, colour, around).every(({ passes }) => passes);

/** @returns the colour if it passes, otherwise the first one toward black (in light) or white (in dark) that does */
export function nearestReadable(scheme: Scheme, colour: string, around?: ColourScheme): string {
  const steps = Array.from({ length: 101 }, (_, step) => mix(colour, SCHEME_COLOURS[scheme].away, step / 100));
  return (steps.find((step) => isReadable(scheme, step, around)) ?? SCHEME_COLOURS[scheme].away).toLowerCase();
}

/** @returns the problem of a brand colour; undefined: none */
export function colourProblem(scheme: Scheme, colour: string, around?: ColourScheme): string | undefined {
  const failed = checkContrast(scheme, colour, around)
    .filter(({ passes }) => !passes)
    .sort((a, b) => a.ratio - a.needed - (b.ratio - b.needed))[0];
  if (failed === undefined) return undefined;
  const { what, ratio, needed, criterion } = failed;
  const finding = `${what.charAt(0).toLowerCase()}${what.slice(1)} would have a contrast of ${writeRatio(ratio)}`;
  return `is hard to read in ${scheme}: ${finding}, but ${needed}:1 is required (WCAG 2.2, ${criterion}). The nearest readable colour is ${nearestReadable(scheme, colour, around)}`;
}

/** The colours of a brand, one for each scheme. */
export interface BrandColours {
  readonly light: string;
  readonly dark: string;
}

/** @returns both colours, with the dark one derived from the light one if it is missing; undefined if none is given */
export function completeColours(light: string | null | undefined, dark?: string | null): BrandColours | undefined {
  if (!light && !dark) return undefined;
  return {
    light: light || SCHEME_COLOURS.light.accent,
    dark: dark || (light ? nearestReadable('dark', light) : SCHEME_COLOURS.dark.accent),
  };
}

/** Stylesheet colours of one scheme: the brand colour, its text colour, and the hover colour with more contrast. */
export function paletteOf(
  scheme: Scheme,
  colour: string,
): { readonly accent: string; readonly accentStrong: string; readonly onAccent: string } {
  const { away, on } = SCHEME_COLOURS[scheme];
  return { accent: colour.toLowerCase(), accentStrong: mix(colour, away, 0.25), onAccent: on };
}
