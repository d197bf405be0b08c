/**
 * Branding stylesheet with its colours in the address (`/assets/brand.css?light=0f5c5c&dark=6fd0c4`), so that pages need no inline style (CSP level
 * 3, section 6.6) and browsers cache it forever. Unreadable colours are never included, whatever the address says.
 */
import type { Language } from '../../platform/i18n/messages.ts';
import { isHttpsAddress } from '../../platform/validation/addresses.ts';
import {
  type BrandColours,
  completeColours,
  isColour,
  isReadable,
  nearestReadable,
  paletteOf,
  SCHEME_COLOURS,
  type Scheme,
} from './brand-colours.policy.ts';
import { type BrandCss, cssDeclarations, cssProblems, schemeColours } from './brand-css.policy.ts';
import { brandCss, footLinks } from './branding.resource.ts';
import type { Branding } from './settings.service.ts';

const PATH = '/assets/brand.css';
/** The same for pictures of a page in both schemes, next to each other. */
const PREVIEW_PATH = '/assets/brand-preview.css';

type Appearance = Pick<Branding, 'primaryColorHex' | 'primaryColorDarkHex' | 'css' | 'backgroundUrl'>;

/** @returns the colours of links and buttons; undefined: the pages' own, without other custom properties */
function coloursFor(
  { primaryColorHex, primaryColorDarkHex, css, backgroundUrl }: Appearance,
  own: string | undefined,
): BrandColours | undefined {
  const set = own === undefined ? completeColours(primaryColorHex, primaryColorDarkHex) : completeColours(own);
  if (set === undefined && css === null && backgroundUrl === null) return undefined;
  const { light, dark } = set ?? { light: SCHEME_COLOURS.light.accent, dark: SCHEME_COLOURS.dark.accent };
  // An application's colour was checked against the default surroundings, and a dark colour may have been derived from the light one.
  return {
    light: nearestReadable('light', light, schemeColours('light', css)),
    dark: nearestReadable('dark', dark, schemeColours('dark', css)),
  };
}

function addressOf(path: string, { light, dark }: BrandColours, { css, backgroundUrl }: Pick<Appearance, 'css' | 'backgroundUrl'>): string {
  const query = new URLSearchParams({ light: light.slice(1), dark: dark.slice(1) });
  if (css !== null) query.set('css', Buffer.from(JSON.stringify(css)).toString('base64url'));
  if (backgroundUrl !== null) query.set('background', Buffer.from(backgroundUrl).toString('base64url'));
  return `${path}?${query}`;
}

/** @param own colour of the page's application @returns the colours of links and buttons, by default those of the pages */
export const accentsOf = (appearance: Appearance, own: string | undefined): BrandColours =>
  coloursFor(appearance, own) ?? { light: SCHEME_COLOURS.light.accent, dark: SCHEME_COLOURS.dark.accent };

/** @param own colour of the application in the picture @returns the address of the stylesheet for `.preview-light` and `.preview-dark` */
export const previewStylesheet = (appearance: Appearance, own?: string): string =>
  addressOf(PREVIEW_PATH, accentsOf(appearance, own), appearance);

/** Branding data for page templates. */
export const presentBrand = (branding: Branding) => ({
  ...branding,
  links: (lang: string, words: Language['text']) => footLinks(branding, lang, words),
  stylesheet(own: string | undefined): string | undefined {
    const colours = coloursFor(branding, own);
    return colours && addressOf(PATH, colours, branding);
  },
});

/** @param css undefined: only the colours of links and buttons */
function rule(selector: string, scheme: Scheme, colour: string, css: BrandCss | undefined): string {
  const { accent, accentStrong, onAccent } = paletteOf(scheme, colour);
  const more = css === undefined ? '' : cssDeclarations(scheme, css);
  return `${selector}{--accent:${accent};--accent-strong:${accentStrong};--on-accent:${onAccent}${more === '' ? '' : `;${more}`}}\n`;
}

/** Elements on the background image get an opaque background, because contrast on the image is unknown. */
function backgroundRules(selector: string, parts: readonly string[], background: string | undefined): string {
  if (background === undefined) return '';
  const picture = `${selector}{background-image:url("${background}");background-position:center;background-size:cover}\n`;
  const plates = parts.map((part) => `${selector} > ${part}`).join(',');
  return `${picture}${plates}{inline-size:fit-content;padding:0.25rem 0.75rem;border-radius:var(--radius);background:var(--card);margin-inline:auto}\n`;
}

const colourIn = (query: URLSearchParams, scheme: Scheme, css: BrandCss | undefined): string | undefined => {
  const colour = `#${query.get(scheme) ?? ''}`;
  return isColour(colour) && isReadable(scheme, colour, schemeColours(scheme, css)) ? colour : undefined;
};

/** Longer parameters cannot be from this service. */
const LONGEST_PARAMETER = 4096;

const decoded = (query: URLSearchParams, name: string): string | undefined => {
  const value = query.get(name);
  return value === null || value.length > LONGEST_PARAMETER ? undefined : Buffer.from(value, 'base64url').toString();
};

function cssIn(query: URLSearchParams): BrandCss | undefined {
  const text = decoded(query, 'css');
  if (text === undefined) return undefined;
  try {
    return brandCss.safeParse(JSON.parse(text)).data as BrandCss | undefined;
  } catch {
    return undefined;
  }
}

/** @returns the address for `url("…")`, without characters that end it (CSS Syntax level 3, section 4.3.6) */
function backgroundIn(query: URLSearchParams): string | undefined {
  const address = decoded(query, 'background');
  if (address === undefined || !isHttpsAddress(address)) return undefined;
  return new URL(address).href.replace(/["'()\\<>\s]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** @returns the stylesheet at an address; undefined: there is none */
export function writeBrandStylesheet(path: string, query: URLSearchParams): string | undefined {
  const css = cssIn(query);
  const [light, dark] = [colourIn(query, 'light', css), colourIn(query, 'dark', css)];
  if (light === undefined || dark === undefined) return undefined;
  if (css !== undefined && cssProblems(css, { light, dark }).length > 0) return undefined;
  const background = backgroundIn(query);
  if (path === PATH) {
    const { light: ofLight, ...ofBoth } = css ?? {};
    const rules = `${rule(':root', 'light', light, css && (ofBoth as BrandCss))}@media (prefers-color-scheme:dark){${rule(':root', 'dark', dark, css)}}\n`;
    // In the dark scheme, a light background would stay under the pages' own dark colours.
    const lightOnly =
      ofLight === undefined || css === undefined ? '' : `@media (prefers-color-scheme:light){:root{${cssDeclarations('light', css)}}}\n`;
    return rules + lightOnly + backgroundRules('body.narrow', ['.brand', '.languages', '.foot'], background);
  }
  if (path !== PREVIEW_PATH) return undefined;
  const rules = rule('.preview-light', 'light', light, css) + rule('.preview-dark', 'dark', dark, css);
  return rules + backgroundRules('.preview-page', ['.preview-brand', '.preview-link', '.preview-foot'], background);
}
