/**
 * The mails: what they say in each language, as plain text and as HTML (multipart/alternative, RFC 2046 section 5.1.4), in the name of the service as it is
 * branded. No picture, no style or script from elsewhere; the link stands as text, too. Pure but for the view, which is read once.
 */
import { readFileSync } from 'node:fs';
import ejs from 'ejs';
import type { MailKind } from './mail.policy.ts';
import { mailDe } from './messages/de.ts';
import { type MailMessages, mailEn } from './messages/en.ts';
import { mailEs } from './messages/es.ts';
import { mailZh } from './messages/zh.ts';

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

/** In the order of the pages' languages. */
const LANGUAGES: readonly (readonly [tag: string, messages: MailMessages])[] = [
  ['en', mailEn],
  ['zh-Hans', mailZh],
  ['de', mailDe],
  ['es', mailEs],
];

const VIEW = new URL('../../../../views/mail/mail.ejs', import.meta.url);
const html = ejs.compile(readFileSync(VIEW, 'utf8'));

const primary = (tag: string): string | undefined => tag.toLowerCase().split('-', 1)[0];

/** As on the pages, the first subtag decides; English where a language is not spoken here. */
const languageFor = (tags = ''): readonly [string, MailMessages] => {
  const spoken = tags.split(' ').map((tag) => LANGUAGES.find(([known]) => primary(known) === primary(tag)));
  return spoken.find((language) => language !== undefined) ?? ['en', mailEn];
};

const LONGEST_VALUE = 200;

/** What others have written, in one line: no control characters, and nothing that turns the direction of the text around it. */
function plain(value: string): string {
  const line = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
  return line.length > LONGEST_VALUE ? `${line.slice(0, LONGEST_VALUE).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}

/** @param language BCP 47 tags with spaces between them, the best first */
export function renderMail(kind: MailKind, language: string | undefined, facts: MailFacts, brand: MailBrand): Mail {
  const [lang, messages] = languageFor(language);
  const { login, values = {}, link, occurred } = facts;
  const known: Readonly<Record<string, string>> = { ...values, service: brand.name, login };
  const say = (message: string) =>
    message.replace(/\{(\w+)\}/g, (placeholder, field: string) => (known[field] === undefined ? placeholder : plain(known[field])));
  const words = messages.kinds[kind];
  const { common } = messages;

  const details: readonly (readonly [label: string, value: string])[] = [
    [common.account, plain(login)],
    ...(occurred === undefined ? [] : ([[common.time, timeIn(lang, occurred.at)]] as const)),
    ...(occurred?.browser === undefined ? [] : ([[common.browser, occurred.browser]] as const)),
    ...(occurred?.ipAddress === undefined ? [] : ([[common.address, plain(occurred.ipAddress)]] as const)),
  ];
  const parts = {
    lang,
    brand: plain(brand.name),
    subject: say(words.subject),
    heading: say(words.heading),
    paragraphs: words.paragraphs.map(say),
    action: link === undefined || words.action === undefined ? undefined : { href: link, label: say(words.action), byHand: common.byHand },
    details,
    closing: say(words.closing),
    sender: say(common.sender),
    support: brand.supportUrl === null ? undefined : { href: brand.supportUrl, label: common.support },
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
  LANGUAGES.map(([tag]) => [tag, new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })]),
);
const timeIn = (lang: string, at: Date): string => TIMES.get(lang)?.format(at) ?? at.toUTCString();
