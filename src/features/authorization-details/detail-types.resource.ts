/**
 * Types of authorization details (RFC 9396 section 2) of an authorization server: the record, and the settings that the API, the console and the
 * table share.
 */
import { z } from 'zod';
import type { ValuesOf } from '../../platform/validation/resource.ts';
import { shownText } from '../../platform/validation/text.ts';
import { TRANSLATED } from '../scopes/scopes.resource.ts';
import type { JsonSchema } from './details.policy.ts';

const template = shownText({ most: 1024 });
const translation = z.strictObject({ displayName: shownText().optional(), template: template.optional() });

export const DETAIL_TYPE_SETTINGS = {
  name: {
    schema: z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces, " and \\'),
    column: 'name',
    label: 'Name',
    hint: 'The “type” that applications use in requests, e.g. “payment_initiation”: printable ASCII characters without spaces.',
    input: 'line',
  },
  displayName: {
    schema: shownText(),
    column: 'display_name',
    initial: '',
    label: 'Display name',
    hint: 'The name on the consent page, e.g. “Make a payment”.',
    input: 'line',
  },
  template: {
    schema: template,
    column: 'template',
    initial: '',
    label: 'Sentence for users',
    hint: 'Plain text with fields in braces, e.g. “Pay {amount.value} {amount.currency} to {creditor}”. Without it the consent page lists the fields.',
    input: 'description',
  },
  translations: {
    schema: z.strictObject(Object.fromEntries(TRANSLATED.map(({ lang }) => [lang, translation.optional()]))),
    column: 'translations',
    initial: {},
    label: 'Translations',
    input: 'own',
  },
  schema: {
    schema: z.record(z.string(), z.unknown()) as z.ZodType<JsonSchema>,
    column: 'schema',
    initial: { type: 'object' } as JsonSchema,
    label: 'JSON Schema',
    input: 'own',
  },
  rememberConsent: {
    schema: z.boolean(),
    column: 'remember_consent',
    initial: true,
    label: 'Remember consent',
    hint: 'Users are not asked again for the same details. Leave it off for payments and other things that are done once.',
    input: 'check',
  },
} as const;

export type DetailTypeSettings = ValuesOf<typeof DETAIL_TYPE_SETTINGS>;

export interface DetailType extends DetailTypeSettings {
  readonly id: string;
}
