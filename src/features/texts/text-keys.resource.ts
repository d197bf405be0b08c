/** Texts that operators can change, and rules for changed texts: plain text with the variables of the original. */
import { z } from 'zod';
import { MESSAGE_KEYS, type MessageKey, originalText } from '../../platform/i18n/messages.ts';
import { shownText } from '../../platform/validation/text.ts';

/** The families of keys in views/locales that operators can change; e-mails have their own templates. */
const FAMILIES: readonly (readonly [prefix: string, page: string])[] = [
  ['sign-in.', 'Sign-in'],
  ['forgot.', 'Forgotten password'],
  ['choose-password.', 'Choose a password'],
  ['factor.', 'Second factor'],
  ['enroll.', 'Set up a second factor'],
  ['recovery.', 'Recovery codes'],
  ['passkey.', 'Passkeys'],
  ['consent.', 'Consent'],
  ['not-assigned.', 'No access'],
  ['organization.', 'Choose an organization'],
  ['invited.', 'Invitation to an organization'],
  ['upstream.', 'Other ways to sign in'],
  ['verify.', 'Confirm an address'],
  ['logout.', 'Sign out'],
  ['home.', 'Start page'],
  ['security.', 'Account security'],
  ['connected.', 'Connected accounts'],
  ['account.', 'Account pages'],
  ['footer.', 'Links at the foot'],
  ['error.heading.', 'Error pages'],
  ['error.advice.', 'Error pages'],
  ['mail.', 'All e-mails'],
];

/** Texts of the log and of templates, which cannot be changed. */
const CLOSED: readonly RegExp[] = [/^account\.event\./, /^mail\.[\w-]+\.[\w-]+$/];

/** @returns the page that shows the text; undefined: operators cannot change it */
export function pageOfText(key: MessageKey): string | undefined {
  if (CLOSED.some((pattern) => pattern.test(key))) return undefined;
  return FAMILIES.find(([prefix]) => key.startsWith(prefix))?.[1];
}

/** The editable texts of pages, in the order of the files. */
export const PAGE_TEXTS: readonly MessageKey[] = MESSAGE_KEYS.filter((key) => pageOfText(key) !== undefined);

/** Characters of one text of a page at most. */
const LONGEST_TEXT = 1000;

export const variablesIn = (message: string): readonly string[] => [
  ...new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
];

/** Texts of decisions must keep all their variables, so that users see what they decide about. */
const DECISIONS = /^(consent|verify|logout)\./;

export const variablesOf = (key: MessageKey): { readonly allowed: readonly string[]; readonly required: readonly string[] } => {
  const allowed = variablesIn(originalText('en', key));
  return { allowed, required: DECISIONS.test(key) ? allowed : [] };
};

const written = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(', ');

/** @returns the problem of a text's variables; undefined: none */
export function variableProblem(message: string, allowed: readonly string[], required: readonly string[]): string | undefined {
  const used = variablesIn(message);
  const unknown = used.filter((name) => !allowed.includes(name));
  if (unknown.length > 0) {
    const known = allowed.length === 0 ? 'this text has no variables' : `use ${written(allowed)}`;
    return `must not use the variable ${written(unknown)}: ${known}`;
  }
  const missing = required.filter((name) => !used.includes(name));
  return missing.length > 0 ? `must contain ${written(missing)}` : undefined;
}

/** One line of plain text. */
const pageText = shownText({ least: 1, most: LONGEST_TEXT });

/** The body of one text. */
export const pageTextBody = (key: MessageKey | undefined) =>
  z.strictObject({
    text: pageText.superRefine((message, ctx) => {
      if (key === undefined) return;
      const { allowed, required } = variablesOf(key);
      const problem = variableProblem(message, allowed, required);
      if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
    }),
  });
