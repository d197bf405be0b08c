/**
 * A brand's colours on the pages: a stylesheet whose address says what is in it (`/assets/brand.css?light=0f5c5c&dark=6fd0c4`), so that the pages need no
 * inline style (CSP level 3, section 6.6) and browsers keep it for ever. Colours that are hard to read are in none, whoever asks for them.
 */
import type { Language } from '../../platform/i18n/messages.ts';
import { type BrandColours, completeColours, isColour, isReadable, paletteOf, type Scheme } from './brand-colours.policy.ts';
import { footLinks } from './foot-links.resource.ts';
import type { Branding } from './settings.service.ts';

const PATH = '/assets/brand.css';
/** The same for a picture of a page in both schemes, beside each other. */
const PREVIEW_PATH = '/assets/brand-preview.css';

const addressOf = (path: string, { light, dark }: BrandColours): string => `${path}?light=${light.slice(1)}&dark=${dark.slice(1)}`;

/** @returns the address of the stylesheet for `.preview-light` and `.preview-dark` */
export const previewStylesheet = (colours: BrandColours): string => addressOf(PREVIEW_PATH, colours);

/** @param own colour of the application that a page is about; undefined: it has none @returns the colours of its pages; undefined: the pages' own */
const coloursFor = (
  { primaryColorHex, primaryColorDarkHex }: Pick<Branding, 'primaryColorHex' | 'primaryColorDarkHex'>,
  own: string | undefined,
): BrandColours | undefined => (own === undefined ? completeColours(primaryColorHex, primaryColorDarkHex) : completeColours(own));

/** What the pages are drawn with. */
export const presentBrand = (branding: Branding) => ({
  ...branding,
  links: (lang: string, words: Language['text']) => footLinks(branding, lang, words),
  stylesheet(own: string | undefined): string | undefined {
    const colours = coloursFor(branding, own);
    return colours && addressOf(PATH, colours);
  },
});

function rule(selector: string, scheme: Scheme, colour: string): string {
  const { accent, accentStrong, onAccent } = paletteOf(scheme, colour);
  return `${selector}{--accent:${accent};--accent-strong:${accentStrong};--on-accent:${onAccent}}\n`;
}

const colourIn = (query: URLSearchParams, scheme: Scheme): string | undefined => {
  const colour = `#${query.get(scheme) ?? ''}`;
  return isColour(colour) && isReadable(scheme, colour) ? colour : undefined;
};

/** @returns the stylesheet at an address; undefined: there is none */
export function writeBrandStylesheet(path: string, query: URLSearchParams): string | undefined {
  const [light, dark] = [colourIn(query, 'light'), colourIn(query, 'dark')];
  if (light === undefined || dark === undefined) return undefined;
  if (path === PATH) return `${rule(':root', 'light', light)}@media (prefers-color-scheme:dark){${rule(':root', 'dark', dark)}}\n`;
  return path === PREVIEW_PATH ? rule('.preview-light', 'light', light) + rule('.preview-dark', 'dark', dark) : undefined;
}
