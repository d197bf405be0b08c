/** Validates values of custom attributes. */
import type { Executor } from '../../platform/database/database.ts';
import { conflict, type FieldProblem, validation } from '../../platform/errors/errors.ts';
import { matchesExpression } from '../../platform/validation/patterns.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { isAnyMember } from '../organizations/memberships.store.ts';
import { refuseGuesses, UsedElsewhere } from '../users/names-elsewhere.service.ts';
import { BASE_ATTRIBUTES, type User } from '../users/users.resource.ts';
import type { Attribute, AttributeValue, UserSchema } from './attributes.resource.ts';
import { claimUniqueValues, findTakenValues, shareLockUserSchema } from './user-schema.store.ts';

/** Default maximum length of a string and of array elements. */
export const LONGEST_VALUE = 255;
export const MOST_ELEMENTS = 100;
/** Bytes of all values of a user together, in JSON. */
const LARGEST_VALUES = 16 * 1024;

/** Values as callers send them; null, an empty text or an empty list removes a value. */
export type GivenValues = Readonly<Record<string, unknown>>;

/** Does this value mean that the attribute is not set? */
export const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/**
 * @param given by names of attributes
 * @param complete is it the whole profile? Then required values must not be missing
 * @returns the problems, one per attribute
 */
export function valueProblems(
  { attributes }: UserSchema,
  given: GivenValues,
  { complete }: { readonly complete: boolean },
): FieldProblem[] {
  const known = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const attribute = known.get(name);
    const message =
      attribute === undefined ? 'is not an attribute of users' : isEmptyValue(value) ? undefined : valueProblem(attribute, value);
    if (message !== undefined) problems.push({ field: `profile.${name}`, message });
  }
  for (const { name, required } of attributes) {
    const isMissing = complete ? isEmptyValue(given[name]) : Object.hasOwn(given, name) && isEmptyValue(given[name]);
    if (required && isMissing) problems.push({ field: `profile.${name}`, message: 'is required' });
  }
  return problems;
}

/** @returns the problem of all values of a user together; undefined: none */
export const sizeProblem = (values: Readonly<Record<string, AttributeValue>>): FieldProblem | undefined =>
  Buffer.byteLength(JSON.stringify(values)) <= LARGEST_VALUES
    ? undefined
    : { field: 'profile', message: `must have at most ${LARGEST_VALUES} bytes in all added attributes` };

/** @returns the problem of the value; undefined: none */
export function valueProblem(attribute: Attribute, value: unknown): string | undefined {
  switch (attribute.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be of type boolean';
    case 'number':
      return Number.isFinite(value) ? choiceProblem(attribute, value) : 'must be of type number';
    case 'integer':
      return Number.isSafeInteger(value) ? choiceProblem(attribute, value) : 'must be a whole number';
    case 'string':
      return typeof value === 'string' ? (textProblem(attribute, value) ?? choiceProblem(attribute, value)) : 'must be of type string';
    case 'array':
      return listProblem(attribute, value);
  }
}

function listProblem(attribute: Attribute, value: unknown): string | undefined {
  if (!Array.isArray(value) || value.some((element) => typeof element !== 'string')) return 'must be a list of strings';
  if (value.length > MOST_ELEMENTS) return `must have at most ${MOST_ELEMENTS} elements`;
  if (new Set(value).size < value.length) return 'must not contain an element twice';
  const texts: readonly string[] = value;
  return texts.map((element) => textProblem({}, element) ?? choiceProblem(attribute, element)).find((problem) => problem !== undefined);
}

function textProblem({ minLength = 0, maxLength = LONGEST_VALUE, pattern }: Partial<Attribute>, value: string): string | undefined {
  if (!isPrintable(value)) return 'must not contain control characters';
  if (value.length < minLength) return `must have at least ${minLength} characters`;
  if (value.length > maxLength) return `must have at most ${maxLength} characters`;
  return pattern === undefined || matchesExpression(pattern, value) ? undefined : `must match the pattern ${pattern}`;
}

function choiceProblem({ enum: values, oneOf }: Attribute, value: unknown): string | undefined {
  const choices = choicesOf({ enum: values, oneOf })?.map((choice) => choice.const);
  return choices === undefined || choices.some((choice) => choice === value) ? undefined : `must be ${choices.slice(0, 20).join(' or ')}`;
}

/** @returns the values to choose from, with their titles; undefined: any */
export function choicesOf({ enum: values, oneOf }: Pick<Attribute, 'enum' | 'oneOf'>) {
  if (oneOf === undefined) return values?.map((value) => ({ const: value, title: String(value) }));
  return values === undefined ? oneOf : oneOf.filter((choice) => values.includes(choice.const));
}

/** Parses a value of a form or file; a text that cannot be converted is unchanged, and fails validation. */
export function valueOfText(type: Attribute['type'], text: string): AttributeValue {
  if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if ((type === 'number' || type === 'integer') && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (type === 'array') return listOfText(text);
  return text;
}

/** A list in JSON; anything else is one element. */
function listOfText(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((element) => typeof element === 'string')) return list;
  } catch {
    // Not JSON.
  }
  return [text];
}

const BASE: ReadonlySet<string> = new Set(BASE_ATTRIBUTES);
export const isBaseAttribute = (name: string): boolean => BASE.has(name);

const NAMES: ReadonlySet<string> = new Set(['login', 'email', 'emailVerified', ...BASE_ATTRIBUTES]);

/** @returns the custom attributes of a profile */
export const addedValues = <V>(profile: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(profile).filter(([name]) => !NAMES.has(name)));

/**
 * Locks the schema until the transaction ends.
 * @param after the user's new profile
 * @param given the profile as sent; other values were validated before
 * @returns the schema, for `claimAttributes`
 * @throws {ApiError} validation
 */
export async function validateAttributes(
  trx: Executor,
  after: Pick<User, 'profile'>,
  given: GivenValues,
  { complete }: { readonly complete: boolean },
): Promise<UserSchema> {
  const schema = await shareLockUserSchema(trx);
  const problems = valueProblems(schema, addedValues(given), { complete });
  const size = sizeProblem(addedValues<AttributeValue>(after.profile));
  if (size !== undefined) problems.push(size);
  if (problems.length > 0) throw validation(problems);
  return schema;
}

type UserValues = Pick<User, 'id' | 'profile'>;

function uniqueValues({ attributes }: UserSchema, { profile }: UserValues): Readonly<Record<string, string>> {
  const given = attributes.filter(({ unique, name }) => unique && profile[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, String(profile[name])]));
}

/** Call after writing the user: reserves their unique values. @returns the attribute whose value another user has; undefined: none */
export async function findTakenAttribute(trx: Executor, schema: UserSchema, user: UserValues): Promise<string | undefined> {
  if (!schema.attributes.some(({ unique }) => unique)) return undefined;
  const [taken] = await claimUniqueValues(trx, user.id, uniqueValues(schema, user));
  return taken;
}

/** As `findTakenAttribute`, but reserves nothing. */
export async function findAttributeOfOthers(executor: Executor, schema: UserSchema, user: UserValues): Promise<string | undefined> {
  const [taken] = (await findTakenValues(executor, user.id, uniqueValues(schema, user))).keys();
  return taken;
}

/**
 * Like `findTakenAttribute`.
 * @param before undefined: the user is new
 * @throws {ApiError} conflict when another user has a value that must be unique; rate limited, see names-elsewhere.service.ts
 */
export async function claimAttributes(
  trx: Executor,
  schema: UserSchema,
  before: Pick<User, 'profile'> | undefined,
  user: Pick<User, 'id' | 'profile'>,
  request: RequestContext,
): Promise<void> {
  const reach = reachOf(request.roles ?? [], 'write');
  const isNew = ({ name, unique }: Attribute): boolean =>
    unique && user.profile[name] !== undefined && user.profile[name] !== before?.profile[name];
  if (schema.attributes.some(isNew)) await refuseGuesses(trx, reach);
  const taken = await findTakenAttribute(trx, schema, user);
  if (taken === undefined) return;
  if (reach !== 'everything') {
    const holders = await findTakenValues(trx, user.id, { [taken]: String(user.profile[taken]) });
    if (!(await isAnyMember(trx, [...holders.values()], reach))) throw new UsedElsewhere(`profile.${taken}`, reach, request);
  }
  throw conflict({ field: `profile.${taken}`, message: 'another user has this value. Choose another one' });
}
