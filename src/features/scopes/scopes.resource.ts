/** Scopes (RFC 6749 section 3.3): the record, and its settings as the API, the console and the table have them. */
import { z } from 'zod';
import { LANGUAGES } from '../../platform/i18n/messages.ts';
import type { ValuesOf } from '../../platform/validation/resource.ts';
import { shownText } from '../../platform/validation/text.ts';

/** The languages of the pages in which a scope can have other texts than its own. */
export const TRANSLATED = LANGUAGES.filter(({ lang }) => lang !== 'en');

const translation = z.strictObject({ displayName: shownText().optional(), description: shownText({ most: 1024 }).optional() });

export const SCOPE_SETTINGS = {
  name: {
    // The service validates it.
    schema: z.string(),
    column: 'name',
    label: 'Name',
    hint: 'The name that applications use in requests, e.g. “orders:read”: printable ASCII characters without spaces.',
    input: 'line',
  },
  displayName: {
    schema: shownText(),
    column: 'display_name',
    initial: '',
    label: 'Display name',
    hint: 'The name on the consent page, e.g. “See your orders”.',
    input: 'line',
  },
  description: {
    schema: shownText({ most: 1024 }),
    column: 'description',
    initial: '',
    label: 'Description',
    hint: 'Shown below the name on the consent page.',
    input: 'description',
  },
  translations: {
    schema: z.strictObject(Object.fromEntries(TRANSLATED.map(({ lang }) => [lang, translation.optional()]))),
    column: 'translations',
    initial: {},
    label: 'Translations',
    input: 'own',
  },
  consent: {
    schema: z.enum(['IMPLICIT', 'REQUIRED', 'FLEXIBLE']),
    column: 'consent',
    initial: 'IMPLICIT',
    label: 'Consent of the user',
    input: 'radios',
    options: [
      { value: 'IMPLICIT', label: 'Never ask', hint: 'For harmless scopes, or for your own applications.' },
      {
        value: 'FLEXIBLE',
        label: 'Ask when a user is present',
        hint: 'Trusted (first-party) applications get it without asking. Without a user (client credentials, password) it is granted.',
      },
      {
        value: 'REQUIRED',
        label: 'Always require',
        hint: 'Without a user it is not granted. Trusted (first-party) applications get it by the password grant.',
      },
    ],
  },
  isDefault: {
    schema: z.boolean(),
    column: 'is_default',
    apiName: 'default',
    initial: false,
    label: 'Requested by default',
    hint: 'For requests that name no scope.',
    input: 'check',
  },
  optional: {
    schema: z.boolean(),
    column: 'optional',
    initial: false,
    label: 'Users can decline it on the consent page',
    hint: 'The application must work without it.',
    input: 'check',
  },
  metadataPublish: {
    schema: z.enum(['NO_CLIENTS', 'ALL_CLIENTS']),
    column: 'metadata_publish',
    initial: 'ALL_CLIENTS',
    label: 'Published in discovery',
    hint: 'Anyone can read discovery. Applications can request a scope that is not published.',
    input: 'check',
    checkedAs: ['ALL_CLIENTS', 'NO_CLIENTS'],
  },
} as const;

export type ScopeSettings = ValuesOf<typeof SCOPE_SETTINGS>;

export interface Scope extends ScopeSettings {
  readonly id: string;
  /** A standard scope: neither renamed nor deleted. */
  readonly system: boolean;
}
