/** `meta/schemas/user/default`: the attributes of users, as in Okta's Schemas API. Standard ones are read-only; operators add custom ones. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Endpoint, endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { validation } from '../../platform/errors/errors.ts';
import { MOST_ATTRIBUTES } from './attribute-definitions.service.ts';
import { attributeChoices, attributeFields, attributeIn, titledAttributeChoices } from './attribute-fields.service.ts';
import { ATTRIBUTE_TYPES, type Attribute, SELF_PERMISSIONS, type UserSchema } from './attributes.resource.ts';
import { baseProperties } from './base-attributes.service.ts';
import { changeUserSchema, readUserSchema, replaceUserSchema } from './user-schema.service.ts';

const read = z.object({
  title: z.string(),
  description: z.string().optional(),
  type: z.enum(ATTRIBUTE_TYPES),
  items: z.object({ type: z.literal('string'), enum: attributeChoices.optional(), oneOf: titledAttributeChoices.optional() }).optional(),
  required: z.boolean(),
  enum: attributeChoices.optional(),
  oneOf: titledAttributeChoices.optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  pattern: z.string().optional(),
  unique: z.literal('UNIQUE_VALIDATED').optional(),
  permissions: z.array(z.object({ principal: z.literal('SELF'), action: z.enum(SELF_PERMISSIONS) })),
  scope: z.literal('NONE'),
  mutability: z.literal('READ_WRITE'),
  master: z.object({ type: z.literal('PROFILE_MASTER') }),
});

const part = <Id extends string>(id: Id) =>
  z.object({
    id: z.literal(id),
    type: z.literal('object'),
    properties: z.record(z.string(), read),
    required: z.array(z.string()),
  });

const schema = z.object({
  id: z.url(),
  $schema: z.literal('http://json-schema.org/draft-04/schema#'),
  name: z.literal('user'),
  title: z.literal('User'),
  type: z.literal('object'),
  definitions: z.object({ base: part('#base'), custom: part('#custom') }),
  properties: z.object({ profile: z.object({ allOf: z.array(z.record(z.string(), z.string())) }) }),
});

const changes = z.strictObject({
  definitions: z.strictObject({
    base: z
      .looseObject({ properties: z.record(z.string(), z.unknown()).optional() })
      .nullish()
      .meta({ description: 'As it was read: it cannot be changed' }),
    custom: z
      .strictObject({
        id: z.literal('#custom').nullish(),
        type: z.literal('object').nullish(),
        properties: z
          .record(z.string().max(100), attributeFields.nullable())
          .meta({ description: 'By name; null removes an attribute with its values' }),
        required: z
          .array(z.string().max(100))
          .max(MOST_ATTRIBUTES)
          .nullish()
          .meta({ description: 'As it was read. To change it, set required of the attribute' }),
      })
      .nullish(),
  }),
});

const examples = {
  'Add attributes': {
    definitions: {
      custom: {
        properties: {
          memberNumber: { title: 'Member number', type: 'string', pattern: '^M[0-9]{6}$', unique: 'UNIQUE_VALIDATED' },
          interests: {
            title: 'Interests',
            type: 'array',
            items: { type: 'string', enum: ['books', 'music', 'sports'] },
            permissions: [{ principal: 'SELF', action: 'READ_WRITE' }],
          },
        },
      },
    },
  },
  'Remove an attribute': { definitions: { custom: { properties: { memberNumber: null } } } },
};

const PATH = '/meta/schemas/user/default';

export const userSchemaEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: PATH,
    access: 'service',
    summary: 'Read the attributes of users',
    response: schema,
    handler: async ({ services }) => presentSchema(await readUserSchema(services), services.config.baseUrl),
  }),
  endpoint({
    method: 'PUT',
    path: PATH,
    access: 'service',
    summary: 'Replace the attributes that you have added to users; those that are not named are removed with their values',
    body: z.strictObject({
      definitions: z.strictObject({ custom: z.strictObject({ properties: z.record(z.string().max(100), attributeFields) }) }),
    }),
    bodyLimit: LARGE_BODY,
    response: schema,
    async handler({ services, body, request }) {
      const wanted = Object.entries(body.definitions.custom.properties);
      const all = new Map(wanted.map(([name, one]) => [name, attributeIn(name, one)]));
      return presentSchema(await replaceUserSchema(services, all, request), services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'POST',
    path: PATH,
    access: 'service',
    summary: 'Add, change or remove attributes of users; those that are not named stay',
    body: changes,
    examples,
    bodyLimit: LARGE_BODY,
    response: schema,
    async handler({ services, body, request }) {
      const { base, custom } = body.definitions;
      refuseChangedBase(base?.properties ?? {});
      const wanted = Object.entries(custom?.properties ?? {});
      const changed = new Map(wanted.map(([name, one]) => [name, one === null ? null : attributeIn(name, one)]));
      refuseNewlyRequired(custom?.required ?? [], await readUserSchema(services), changed);
      return presentSchema(await changeUserSchema(services, changed, request), services.config.baseUrl);
    },
  }),
];

/** Unchanged base attributes can be sent back. @throws {ApiError} validation */
function refuseChangedBase(given: Readonly<Record<string, unknown>>): void {
  const is: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(baseProperties()).map(([name, attribute]) => [name, presentProperty(attribute)]),
  );
  const wrong = Object.entries(given).filter(([name, wanted]) => wanted !== undefined && !isSame(is[name], wanted));
  const message = 'cannot be changed: the attributes of the service are read-only';
  if (wrong.length > 0) throw validation(wrong.map(([name]) => ({ field: `definitions.base.properties.${name}`, message })));
}

/** The list of required attributes can be sent back, also when this request changes it. @throws {ApiError} it names others */
function refuseNewlyRequired(names: readonly string[], { attributes }: UserSchema, changed: ReadonlyMap<string, Attribute | null>): void {
  const isRequired = (name: string) => attributes.some((one) => one.name === name && one.required) || changed.get(name)?.required === true;
  const other = names.find((name) => !isRequired(name));
  if (other === undefined) return;
  const message = `names ${other}, which is not required. Set definitions.custom.properties.${other}.required to true instead`;
  throw validation([{ field: 'definitions.custom.required', message }]);
}

/** SDKs omit absent values or send null for them. */
function isSame(is: unknown, given: unknown): boolean {
  if (typeof is !== 'object' || is === null || typeof given !== 'object' || given === null) return false;
  const known: Readonly<Record<string, unknown>> = { ...is };
  return Object.entries(given).every(([field, value]) => value === null || value === undefined || isDeepStrictEqual(known[field], value));
}

function presentProperty({
  title,
  description,
  type,
  required,
  enum: values,
  oneOf,
  unique,
  self,
  ...rules
}: Attribute): z.input<typeof read> {
  const chosen = { ...(values !== undefined && { enum: [...values] }), ...(oneOf !== undefined && { oneOf: [...oneOf] }) };
  const { minLength, maxLength, pattern } = rules;
  const set = Object.fromEntries(Object.entries({ description, minLength, maxLength, pattern }).filter(([, value]) => value !== undefined));
  return {
    title,
    type,
    ...set,
    required,
    ...(type === 'array' ? { items: { type: 'string', ...chosen } } : chosen),
    ...(unique && { unique: 'UNIQUE_VALIDATED' }),
    permissions: [{ principal: 'SELF', action: self }],
    scope: 'NONE',
    mutability: 'READ_WRITE',
    master: { type: 'PROFILE_MASTER' },
  };
}

const presentPart = <Id extends string>(id: Id, attributes: readonly Attribute[]) => ({
  id,
  type: 'object' as const,
  properties: Object.fromEntries(attributes.map((attribute) => [attribute.name, presentProperty(attribute)])),
  required: attributes.filter(({ required }) => required).map(({ name }) => name),
});

function presentSchema({ attributes }: UserSchema, baseUrl: string): z.input<typeof schema> {
  return {
    id: `${baseUrl}/api/v1${PATH}`,
    $schema: 'http://json-schema.org/draft-04/schema#',
    name: 'user',
    title: 'User',
    type: 'object',
    definitions: { base: presentPart('#base', Object.values(baseProperties())), custom: presentPart('#custom', attributes) },
    properties: { profile: { allOf: [{ $ref: '#/definitions/base' }, { $ref: '#/definitions/custom' }] } },
  };
}
