/**
 * The mails: what they say in each language, as plain text and as HTML (multipart/alternative, RFC 2046 section 5.1.4), in the name of the service as it is
 * branded. No picture, no style or script from elsewhere; the link stands as text, too. Pure but for the view, which is read once.
 */
import { readFileSync } from 'node:fs';
import ejs from 'ejs';
import { isMessageKey, LANGUAGES } from '../../platform/i18n/messages.ts';
import { negotiateLanguage } from '../../platform/i18n/page-language.ts';
import type { MailKind } from './mail.policy.ts';

/** How the service presents itself; null: no such link. */
export interface MailBrand {
  readonly name: string;
  readonly supportUrl: string | null;
}

export interface MailFacts {
  /** Whose account it is about. A login alone: a name that somebody gives himself is no text for another one's mailbox. */
  readonly login: string;
  /** Placeholders beside those that every mail has. */
  readonly values?: Readonly<Record<string, string>>;
  /** What the button leads to. */
  readonly link?: string | undefined;
  readonly occurred?: { readonly at: Date; readonly ipAddress?: string | undefined; readonly browser?: string | undefined } | undefined;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** BCP 47, of the mail as it is. */
  readonly language: string;
}

const VIEW = new URL('../../../../views/mail/mail.ejs', import.meta.url);
const html = ejs.compile(readFileSync(VIEW, 'utf8'));

const LONGEST_VALUE = 200;

/** What others have written, in one line: no control characters, and nothing that turns the direction of the text around it. */
function plain(value: string): string {
  const line = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
  return line.length > LONGEST_VALUE ? `${line.slice(0, LONGEST_VALUE).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}

/** @param tags BCP 47, separated by spaces, the preferred one first */
export function renderMail(kind: MailKind, tags: string | undefined, facts: MailFacts, brand: MailBrand): Mail {
  const { lang, text } = negotiateLanguage({ uiLocales: tags });
  const { login, link, occurred } = facts;
  const raw: Readonly<Record<string, string>> = { ...facts.values, service: brand.name, login };
  const values = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, plain(value)]));
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
    paragraphs: [text(`mail.${kind}.paragraph-1`, values), optional(`mail.${kind}.paragraph-2`)].filter(
      (paragraph) => paragraph !== undefined,
    ),
    action: link === undefined || action === undefined ? undefined : { href: link, label: action, byHand: text('mail.by-hand') },
    details,
    closing: text(`mail.${kind}.closing`, values),
    sender: text('mail.sender', values),
    support: brand.supportUrl === null ? undefined : { href: brand.supportUrl, label: text('mail.support') },
  };
  return { subject: parts.subject, text: plainText(parts), html: html(parts), language: lang };
}

interface Parts {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly action: { readonly href: string; readonly label: string } | undefined;
  readonly details: readonly (readonly [label: string, value: string])[];
  readonly closing: string;
  readonly sender: string;
  readonly support: { readonly href: string; readonly label: string } | undefined;
}

const plainText = ({ heading, paragraphs, action, details, closing, sender, support }: Parts): string =>
  `${[
    heading,
    ...paragraphs,
    ...(action === undefined ? [] : [`${action.label}:\n${action.href}`]),
    details.map(([label, value]) => `${label}: ${value}`).join('\n'),
    closing,
    // RFC 3676 section 4.3: what follows is the signature.
    ['-- ', sender, ...(support === undefined ? [] : [`${support.label}: ${support.href}`])].join('\n'),
  ].join('\n\n')}\n`;

/** By language. To make one takes far longer than to use it. In UTC, and said so: where its reader is, is not known. */
const TIMES = new Map(
  LANGUAGES.map(({ lang }) => [lang, new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })]),
);
const timeIn = (lang: string, at: Date): string => TIMES.get(lang)?.format(at) ?? at.toUTCString();
