/** Schemas of the CSS and the footer links of `settings/branding`. A link has a label in each language. */

import { z } from 'zod';
import { LANGUAGES, type Language } from '../../platform/i18n/messages.ts';
import { isHttpsAddress } from '../../platform/validation/addresses.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { isColour } from './brand-colours.policy.ts';
import { CSS_COLOUR_NAMES, CSS_COLOURS, CSS_FONTS, CSS_VERSION, type CssFont, MOST_RADIUS } from './brand-css.policy.ts';

const colour = (description: string) =>
  z.string().trim().refine(isColour, 'must be a colour like #0f5c5c').toLowerCase().exactOptional().meta({ description });

const scheme = z.strictObject(Object.fromEntries(CSS_COLOUR_NAMES.map((name) => [name, colour(CSS_COLOURS[name])]))).exactOptional();

export const brandCss = z.strictObject({
  version: z.literal(CSS_VERSION).meta({ description: 'Of the list of properties' }),
  light: scheme,
  dark: scheme,
  radius: z.int().min(0).max(MOST_RADIUS).exactOptional().meta({ description: 'Of corners, in CSS pixels' }),
  font: z
    .enum(Object.keys(CSS_FONTS) as [CssFont, ...CssFont[]])
    .exactOptional()
    .meta({ description: 'A family that the device has' }),
});

/** A link that the operator added. */
export interface FooterLink {
  readonly url: string;
  /** By language tag; the English label replaces missing ones. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Footer link for templates. */
export interface FootLink {
  readonly href: string;
  readonly label: string;
}

const MOST_LINKS = 6;

const label = shownText({ least: 1, most: 60 });

export const footerLink = z.strictObject({
  url: text({ most: 2048 }).refine(isHttpsAddress, 'must be a URL that begins with https://'),
  labels: z
    .strictObject(Object.fromEntries(LANGUAGES.map(({ lang }) => [lang, lang === 'en' ? label : label.exactOptional()])))
    .meta({ description: 'By language; `en` stands in for those that are missing' }),
});

export const footerLinksField = z.array(footerLink).max(MOST_LINKS);

interface Links {
  readonly supportUrl: string | null;
  readonly privacyUrl: string | null;
  readonly termsUrl: string | null;
  readonly footerLinks: readonly FooterLink[];
}

/** @returns the links in the language of the page or e-mail */
export function footLinks(
  { supportUrl, privacyUrl, termsUrl, footerLinks }: Links,
  lang: string,
  words: Language['text'],
): readonly FootLink[] {
  const own = footerLinks.map(({ url, labels }) => ({ href: url, label: labels[lang] ?? labels.en ?? url }));
  const known = [
    { href: supportUrl, label: words('footer.support') },
    { href: privacyUrl, label: words('footer.privacy') },
    { href: termsUrl, label: words('footer.terms') },
  ];
  return [...known.flatMap(({ href, label }) => (href === null ? [] : [{ href, label }])), ...own];
}
