/** Rules for custom attributes that the schema of a body cannot express. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { FieldProblem } from '../../platform/errors/errors.ts';
import { regularExpressionProblem } from '../../platform/validation/patterns.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import { LONGEST_VALUE, valueProblem } from './attribute-values.service.ts';
import type { Attribute, UserSchema } from './attributes.resource.ts';
import { eraseValues, findUserSchema, lockUserSchema, releaseValues, USER_SCHEMA, updateUserSchema } from './user-schema.store.ts';

export const MOST_ATTRIBUTES = 200;
/** Each unique attribute adds an index row for every user. Okta has the same limit. */
export const MOST_UNIQUE = 5;
/** Maximum length that a string attribute can be configured with. */
export const LONGEST_STRING = 1024;

/** Reserved names: other columns of user files, and fields of the user itself. */
const TAKEN: readonly string[] = [
  'login',
  'email',
  'emailVerified',
  'id',
  'status',
  'created',
  'lastLogin',
  'lastUpdated',
  'orgId',
  'depId',
  'password',
  'credentials',
  'profile',
];

/** @returns all problems of a single attribute, by field */
function definitionProblems(attribute: Attribute): FieldProblem[] {
  const { type, unique, minLength, maxLength, pattern, enum: values, oneOf } = attribute;
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string | undefined) => {
    if (message !== undefined) problems.push({ field, message });
  };
  for (const field of ['minLength', 'maxLength', 'pattern'] as const) {
    if (attribute[field] !== undefined && type !== 'string') refuse(field, `cannot be used with type ${type}`);
  }
  if (unique && (type === 'boolean' || type === 'array')) refuse('unique', `cannot be used with type ${type}`);
  if (minLength !== undefined && minLength > (maxLength ?? LONGEST_VALUE)) refuse('minLength', 'must not be greater than maxLength');
  refuse('pattern', pattern === undefined ? undefined : regularExpressionProblem(pattern));
  if (type === 'boolean' && (values ?? oneOf) !== undefined)
    refuse(values === undefined ? 'oneOf' : 'enum', 'cannot be used with type boolean');
  if (problems.length > 0) return problems;
  const { enum: _, oneOf: __, ...rules } = attribute;
  const choices = Object.entries({ enum: values, oneOf: oneOf?.map((choice) => choice.const) });
  for (const [field, given] of choices) {
    const wrong = (given ?? []).map((value) => valueProblem(rules, type === 'array' ? [value] : value));
    const at = wrong.findIndex((problem) => problem !== undefined);
    refuse(`${field}.${at}`, wrong[at]);
    if (new Set(given).size < (given?.length ?? 0)) refuse(field, 'must not contain a value twice');
  }
  if (values !== undefined && oneOf !== undefined && !oneOf.some((choice) => values.includes(choice.const)))
    refuse('oneOf', 'must contain a value of enum');
  return problems;
}

/** @returns why the name is not allowed; undefined: it is */
function attributeNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_]{0,58}$/.test(name)) return 'must begin with a letter and have at most 59 letters, digits and underscores';
  const isTaken = [...BASE_ATTRIBUTES, ...TAKEN].some((taken) => taken.toLowerCase() === name.toLowerCase()) || name in {};
  return isTaken ? 'is reserved for the service. Choose another name' : undefined;
}

/**
 * @param changes null: removes the attribute
 * @returns the problems of a schema change, by names of attributes
 */
export function changeProblems(before: UserSchema, changes: ReadonlyMap<string, Attribute | null>): FieldProblem[] {
  const known = new Map(before.attributes.map((attribute) => [attribute.name, attribute]));
  return [...changes].flatMap(([name, wanted]): FieldProblem[] => {
    const is = known.get(name);
    if (wanted === null) return is === undefined ? [{ field: name, message: 'does not exist, so it cannot be removed' }] : [];
    const within = ({ field, message }: FieldProblem) => ({ field: `${name}.${field}`, message });
    if (is !== undefined) {
      const moved =
        is.type === wanted.type
          ? []
          : [{ field: 'type', message: `cannot be changed from ${is.type}. Remove the attribute and add another one` }];
      return [...moved, ...definitionProblems(wanted)].map(within);
    }
    const duplicate = [...known.keys(), ...changes.keys()].find((other) => other !== name && other.toLowerCase() === name.toLowerCase());
    const wrong = attributeNameProblem(name) ?? (duplicate && `differs from ${duplicate} only in case. Choose another name`);
    return [...(wrong === undefined ? [] : [{ field: name, message: wrong }]), ...definitionProblems(wanted).map(within)];
  });
}

// Erases the values of removed attributes in limited batches, each in its own transaction. Any number of processes can do so concurrently.

type Parts = Pick<Services, 'database' | 'notifications'>;

/**
 * One batch. Until an attribute is erased completely, no other one can have its name: it would have values that were never validated.
 * @returns its size; less than `limit` if nothing is left
 */
export async function eraseRemovedAttributes({ database, notifications }: Parts, limit: number): Promise<number> {
  const { removing } = await findUserSchema(database.knex);
  const [name] = removing;
  if (name === undefined) return 0;
  const erased = await eraseValues(database.knex, name, limit);
  const released = await releaseValues(database.knex, name, limit);
  if (Math.max(erased, released) === limit) return limit;
  await database.transaction(async (trx) => {
    const schema = await lockUserSchema(trx, present());
    await updateUserSchema(trx, { ...schema, removing: schema.removing.filter((one) => one !== name) }, present());
    await notifications.publish(trx, { kind: 'settings', id: USER_SCHEMA });
  });
  return removing.length > 1 ? limit : 0;
}
