/** An attribute in the API and the console, in Okta's terms. */
import { z } from 'zod';
import { validation } from '../../platform/errors/errors.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { LONGEST_STRING } from './attribute-definitions.service.ts';
import { LONGEST_VALUE } from './attribute-values.service.ts';
import { ATTRIBUTE_TYPES, type Attribute, SELF_PERMISSIONS } from './attributes.resource.ts';

const MOST_CHOICES = 100;

const choice = z.union([text({ least: 1 }), z.number()], { error: 'must be a string or a number' });
export const attributeChoices = z.array(choice).min(1).max(MOST_CHOICES);
export const titledAttributeChoices = z
  .array(z.strictObject({ const: choice, title: shownText({ least: 1, most: 100 }) }))
  .min(1)
  .max(MOST_CHOICES);
const permissions = z.array(z.strictObject({ principal: z.literal('SELF'), action: z.enum(SELF_PERMISSIONS) })).max(1);

/** null, sent by Okta's SDKs for unset fields, means absent. */
export const attributeFields = z.strictObject({
  title: shownText({ least: 1, most: 100 }).meta({ description: 'What forms call it' }),
  description: shownText({ most: 500 }).nullish(),
  type: z.enum(ATTRIBUTE_TYPES),
  /** For arrays: string elements, optionally from a list. */
  items: z.strictObject({ type: z.literal('string'), enum: attributeChoices.nullish(), oneOf: titledAttributeChoices.nullish() }).nullish(),
  required: z.boolean().nullish().meta({ description: 'false unless given' }),
  enum: attributeChoices.nullish().meta({ description: 'Values to choose from' }),
  oneOf: titledAttributeChoices.nullish().meta({ description: 'Values to choose from, with the words of forms' }),
  minLength: z.int().min(0).max(LONGEST_STRING).nullish(),
  maxLength: z
    .int()
    .min(1)
    .max(LONGEST_STRING)
    .nullish()
    .meta({ description: `${LONGEST_VALUE} unless given` }),
  pattern: text({ least: 1, most: 500 }).nullish().meta({ description: 'A regular expression of RE2; a value has a match of it' }),
  unique: z
    .enum(['UNIQUE_VALIDATED', 'NOT_UNIQUE'])
    .nullish()
    .meta({ description: 'UNIQUE_VALIDATED: no two users have the same value, whatever its case' }),
  permissions: permissions.nullish().meta({ description: 'What users may do with their own value; READ_ONLY unless given' }),
  scope: z.literal('NONE').nullish(),
  mutability: z.literal('READ_WRITE').nullish(),
  master: z.strictObject({ type: z.literal('PROFILE_MASTER') }).nullish(),
});

/** @throws {ApiError} validation */
export function attributeIn(name: string, given: z.output<typeof attributeFields>): Attribute {
  const { title, description, type, items, required, minLength, maxLength, pattern, unique, permissions: self } = given;
  const rules = type === 'array' ? { enum: items?.enum ?? given.enum, oneOf: items?.oneOf ?? given.oneOf } : given;
  const set = { description: description === '' ? null : description, enum: rules.enum, oneOf: rules.oneOf, minLength, maxLength, pattern };
  if (items !== null && items !== undefined && type !== 'array') {
    throw validation([{ field: `definitions.custom.properties.${name}.items`, message: `cannot be used with type ${type}` }]);
  }
  return {
    name,
    title,
    type,
    ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null && value !== undefined)),
    required: required ?? false,
    unique: unique === 'UNIQUE_VALIDATED',
    self: self?.[0]?.action ?? 'READ_ONLY',
  };
}
