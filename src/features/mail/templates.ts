/**
 * E-mail templates: texts in each language, as plain text and HTML (multipart/alternative, RFC 2046 section 5.1.4), with the service's name, logo,
 * light and dark colours, and links. No external styles or scripts; the link is also shown as text. Pure except for the view, which is read once.
 */
import { readFileSync } from 'node:fs';
import ejs from 'ejs';
import { type ChangedTexts, isMessageKey, LANGUAGES, withChangedTexts } from '../../platform/i18n/messages.ts';
import { negotiateLanguage } from '../../platform/i18n/page-language.ts';
import { paletteOf, type Scheme } from '../settings/brand-colours.policy.ts';
import { schemeColours } from '../settings/brand-css.policy.ts';
import { accentsOf } from '../settings/brand-stylesheet.service.ts';
import { type FootLink, footLinks } from '../settings/branding.resource.ts';
import type { Branding } from '../settings/settings.service.ts';
import type { MailKind } from './mail.policy.ts';

/** Look of all e-mails, and texts of the operator. */
export interface MailDesign {
  readonly brand: Branding;
  readonly texts: ChangedTexts;
}

export interface MailFacts {
  /** Login of the account. Not the display name: users choose it, and it must not reach other mailboxes. */
  readonly login: string;
  /** Placeholders in addition to those that every e-mail has. */
  readonly values?: Readonly<Record<string, string>>;
  /** Target of the button. */
  readonly link?: string | undefined;
  readonly occurred?: { readonly at: Date; readonly ipAddress?: string | undefined; readonly browser?: string | undefined } | undefined;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** BCP 47 tag of the language in which the e-mail is written. */
  readonly language: string;
  /** Parts for the preview. */
  readonly picture: Parts & { readonly lang: string; readonly brand: string; readonly logo: string | null };
}

const VIEW = new URL('../../../../views/mail/mail.ejs', import.meta.url);
const html = ejs.compile(readFileSync(VIEW, 'utf8'));

const LONGEST_VALUE = 200;

/** Single line of user-supplied text: without control characters and characters that change text direction. */
function plain(value: string): string {
  const line = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
  return line.length > LONGEST_VALUE ? `${line.slice(0, LONGEST_VALUE).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}

/** @param tags BCP 47, separated by spaces, preferred one first */
export function renderMail(kind: MailKind, tags: string | undefined, facts: MailFacts, { brand, texts }: MailDesign): Mail {
  const { lang, text } = withChangedTexts(negotiateLanguage({ uiLocales: tags }), texts);
  const { login, link, occurred } = facts;
  const raw: Readonly<Record<string, string>> = { ...facts.values, service: brand.name, login };
  const short = Object.entries(raw).map(([name, value]): [string, string] => [name, plain(value)]);
  const values: Readonly<Record<string, string>> = Object.fromEntries(link === undefined ? short : [...short, ['link', link]]);
  const optional = (key: string): string | undefined => (isMessageKey(key) ? text(key, values) : undefined);

  const action = optional(`mail.${kind}.action`);
  const details: readonly (readonly [label: string, value: string])[] = [
    [text('mail.account'), plain(login)],
    ...(occurred === undefined ? [] : ([[text('mail.time'), timeIn(lang, occurred.at)]] as const)),
    ...(occurred?.browser === undefined ? [] : ([[text('mail.browser'), occurred.browser]] as const)),
    ...(occurred?.ipAddress === undefined ? [] : ([[text('mail.address'), plain(occurred.ipAddress)]] as const)),
  ];
  const parts = {
    lang,
    brand: plain(brand.name),
    subject: text(`mail.${kind}.subject`, values),
    heading: text(`mail.${kind}.heading`, values),
    paragraphs: paragraphsOf(text(`mail.${kind}.introduction`, values)),
    action: link === undefined || action === undefined ? undefined : { href: link, label: action, byHand: text('mail.by-hand') },
    details,
    closing: paragraphsOf(text(`mail.${kind}.closing`, values)),
    sender: text('mail.sender', values),
    links: footLinks(brand, lang, text),
  };
  const picture = { ...parts, logo: brand.logoUrl };
  return { subject: parts.subject, text: plainText(parts), html: html({ ...picture, ...coloursOf(brand) }), language: lang, picture };
}

/** An empty line starts a paragraph. */
const paragraphsOf = (written: string): readonly string[] => written.split(/\n{2,}/);

/** Colours of the e-mail stylesheet, for both schemes. */
function coloursOf(brand: Branding) {
  const accents = accentsOf(brand, undefined);
  const of = (scheme: Scheme) => ({ ...schemeColours(scheme, brand.css), ...paletteOf(scheme, accents[scheme]) });
  return { light: of('light'), dark: of('dark') };
}

interface Parts {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly action: { readonly href: string; readonly label: string; readonly byHand: string } | undefined;
  readonly details: readonly (readonly [label: string, value: string])[];
  readonly closing: readonly string[];
  readonly sender: string;
  readonly links: readonly FootLink[];
}

const plainText = ({ heading, paragraphs, action, details, closing, sender, links }: Parts): string =>
  `${[
    heading,
    ...paragraphs,
    ...(action === undefined ? [] : [`${action.label}:\n${action.href}`]),
    details.map(([label, value]) => `${label}: ${value}`).join('\n'),
    ...closing,
    // RFC 3676 section 4.3: this line starts the signature.
    ['-- ', sender, ...links.map(({ label, href }) => `${label}: ${href}`)].join('\n'),
  ].join('\n\n')}\n`;

/** Cached by language, because creating one takes long. Times are in UTC and say so: the reader's time zone is unknown. */
const TIMES = new Map(
  LANGUAGES.map(({ lang }) => [lang, new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })]),
);
const timeIn = (lang: string, at: Date): string => TIMES.get(lang)?.format(at) ?? at.toUTCString();
