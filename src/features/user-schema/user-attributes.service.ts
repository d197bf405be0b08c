/** The attributes that operators add (features/user-schema), where a user is written. */
import type { Executor } from '../../platform/database/database.ts';
import { conflict, validation } from '../../platform/errors/errors.ts';
import { BASE_ATTRIBUTES, type User } from '../users/users.resource.ts';
import { type GivenValues, sizeProblem, valueProblems } from './attribute-values.service.ts';
import type { AttributeValue, UserSchema } from './attributes.resource.ts';
import { claimUniqueValues, holdUserSchema } from './user-schema.store.ts';

const BASE: ReadonlySet<string> = new Set(BASE_ATTRIBUTES);
export const isBaseAttribute = (name: string): boolean => BASE.has(name);

const NAMES: ReadonlySet<string> = new Set(['login', 'email', 'emailVerified', ...BASE_ATTRIBUTES]);

/** @returns of a profile, what operators have added */
export const addedValues = <V>(profile: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(profile).filter(([name]) => !NAMES.has(name)));

/**
 * Until the transaction ends, the schema stays as it is.
 * @param after as the user is to be
 * @param given the profile as it was sent; what it does not name was judged before
 * @returns the schema, for `claimAttributes`
 * @throws {ApiError} validation
 */
export async function judgeAttributes(
  trx: Executor,
  after: Pick<User, 'profile'>,
  given: GivenValues,
  { complete }: { readonly complete: boolean },
): Promise<UserSchema> {
  const schema = await holdUserSchema(trx);
  const problems = valueProblems(schema, addedValues(given), { complete });
  const size = sizeProblem(addedValues<AttributeValue>(after.profile));
  if (size !== undefined) problems.push(size);
  if (problems.length > 0) throw validation(problems);
  return schema;
}

/** Once the user is written: makes their unique values theirs alone. @returns the attribute whose value another user has; undefined: none */
export async function takenAttribute(
  trx: Executor,
  { attributes }: UserSchema,
  { id, profile }: Pick<User, 'id' | 'profile'>,
): Promise<string | undefined> {
  const unique = attributes.filter((attribute) => attribute.unique).map(({ name }) => name);
  if (unique.length === 0) return undefined;
  const values = unique.flatMap((name) => (profile[name] === undefined ? [] : [[name, String(profile[name])]]));
  const [taken] = await claimUniqueValues(trx, id, Object.fromEntries(values));
  return taken;
}

/** Like `takenAttribute`. @throws {ApiError} conflict when another user has a value that must be unique */
export async function claimAttributes(trx: Executor, schema: UserSchema, user: Pick<User, 'id' | 'profile'>): Promise<void> {
  const taken = await takenAttribute(trx, schema, user);
  if (taken !== undefined) throw conflict({ field: `profile.${taken}`, message: 'another user has this value. Choose another one' });
}
