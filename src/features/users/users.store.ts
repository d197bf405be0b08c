/**
 * Users. The only SQL on that table, except for lookups that join a user with other data, and for failed and plain sign-ins
 * (failed-sign-ins.store.ts, sign-ins.store.ts).
 */
import type { Knex } from 'knex';
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Database, Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type AttributeColumn, type AttributeColumns, applyFilter, type Filter } from '../../platform/database/filter.ts';
import { asciiAddress, composedName, spellingsOf } from '../../platform/dns/address-spelling.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import type { Attribute } from '../user-schema/attributes.resource.ts';
import type { UserStatus } from './user-lifecycle.policy.ts';
import { applyUserWords } from './user-orders.store.ts';
import { BASE_ATTRIBUTES, type User } from './users.resource.ts';

export const USER_COLUMNS: Columns<User> = {
  id: 'id',
  login: 'login',
  email: 'email',
  emailVerified: 'email_verified',
  status: 'status',
  lockedUntil: 'locked_until',
  profile: 'profile',
  passwordHash: 'password_hash',
  passwordChanged: 'password_changed',
  created: 'created',
  activated: 'activated',
  approvalRequested: 'approval_requested',
  statusChanged: 'status_changed',
  lastLogin: 'last_login',
  lastUpdated: 'last_updated',
};

/** The same for joins. */
export const USER_AMONG_OTHERS = Object.fromEntries(Object.entries(USER_COLUMNS).map(([field, column]) => [field, `users.${column}`]));

/** @returns false if another user has that user name */
export async function insertUser(executor: Executor, user: User): Promise<boolean> {
  const loginTaken = executor.raw('(lower(login))');
  const inserted = await executor('users').insert(toRow(USER_COLUMNS, user)).onConflict(loginTaken).ignore().returning('id');
  return inserted.length === 1;
}

export const findUserById = async (executor: Executor, id: string): Promise<User | undefined> =>
  executor('users').where({ id }).first<User | undefined>(USER_COLUMNS);

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export const lockUser = async (trx: Executor, id: string): Promise<User | undefined> =>
  trx('users').where({ id }).forUpdate().first<User | undefined>(USER_COLUMNS);

export async function findUserByLogin(executor: Executor, login: string): Promise<User | undefined> {
  for (const name of spellingsOf(login)) {
    const found = await executor('users').whereRaw('lower(login) = lower(?)', [name]).first<User | undefined>(USER_COLUMNS);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @returns the user with that e-mail address; undefined if several share it, because then it identifies nobody */
export async function findUserByUniqueEmail(executor: Executor, email: string): Promise<User | undefined> {
  const found: User[] = [];
  // One statement for each spelling: for several at once, PostgreSQL scans the table until it has been analyzed.
  for (const name of spellingsOf(email))
    found.push(...(await executor('users').whereRaw('lower(email) = lower(?)', [name]).limit(2).select<User[]>(USER_COLUMNS)));
  return found.length === 1 ? found[0] : undefined;
}

/** As at sign-in: the user with that user name, otherwise the only one with that address. */
export async function findUserByName(executor: Executor, name: string): Promise<User | undefined> {
  if (name === '' || !isPrintable(name)) return undefined;
  return (await findUserByLogin(executor, name)) ?? (await findUserByUniqueEmail(executor, name));
}

/**
 * Call with the user locked.
 * @param user their state when the password was verified
 * @returns false if their status or password has changed
 */
export async function isUnchanged(
  trx: Executor,
  { id, status, passwordChanged }: Pick<User, 'id' | 'status' | 'passwordChanged'>,
): Promise<boolean> {
  return (await trx('users').where({ id, status, password_changed: passwordChanged }).first('id')) !== undefined;
}

/** Records a sign-in. @returns false if the user is no longer active */
export async function touchLastLogin(executor: Executor, id: string, lastLogin: Date): Promise<boolean> {
  return (await executor('users').where({ id, status: 'ACTIVE' }).update({ last_login: lastLogin })) === 1;
}

/** @returns false if there is no such user */
export async function updatePasswordHash(executor: Executor, id: string, passwordHash: string, now: Date): Promise<boolean> {
  return (await executor('users').where({ id }).update({ password_hash: passwordHash, password_changed: now, last_updated: now })) === 1;
}

/**
 * Stores a new hash of the same password, if the stored hash is still the compared one: a newer password is not overwritten.
 * @returns whether it was stored
 */
export async function replacePasswordHash(executor: Executor, id: string, compared: string, newHash: string): Promise<boolean> {
  return (await executor('users').where({ id, password_hash: compared }).update({ password_hash: newHash })) === 1;
}

/** @returns false if another user has the user name */
export const updateUser = (executor: Executor, id: string, changes: Partial<Omit<User, 'id' | 'created'>>): Promise<boolean> =>
  unlessRefused(executor('users').where({ id }).update(toRow<User>(USER_COLUMNS, changes)), 'users_by_login');

const TAKEN_NAMES = `
  SELECT 'login' AS name, id FROM users WHERE lower(email) IN (lower(:login), lower(:asciiLogin)) AND id <> :id
  UNION SELECT 'email as login', id FROM users WHERE lower(login) IN (lower(:email), lower(:asciiEmail)) AND id <> :id
  UNION SELECT 'email', id FROM users WHERE lower(email) IN (lower(:email), lower(:asciiEmail)) AND id <> :id
  UNION SELECT 'login as login', id FROM users WHERE lower(login) IN (lower(:login), lower(:asciiLogin)) AND id <> :id`;

/** In a fixed order, so that two transactions do not deadlock. */
const LOCK_NAMES = `SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended('user name ' || lower(name), 0) AS key FROM unnest(ARRAY[:login, :email]::text[]) AS name
  WHERE name IS NOT NULL ORDER BY 1) AS keys`;

export type TakenName = 'login' | 'email as login' | 'email' | 'login as login';

/**
 * Names of a user that others already have: the login or the e-mail address, each as a login or an address. Locks the names until the transaction ends: two
 * users created concurrently would not see each other.
 * @returns IDs of the others
 */
export async function findTakenNames(
  trx: Executor,
  { id, login, email }: Pick<User, 'id' | 'login' | 'email'>,
): Promise<ReadonlyMap<TakenName, readonly string[]>> {
  const names = { login: composedName(login), email: email === null ? null : composedName(email) };
  await trx.raw(LOCK_NAMES, names);
  const ascii = { asciiLogin: asciiAddress(names.login), asciiEmail: names.email === null ? null : asciiAddress(names.email) };
  const { rows } = await trx.raw<{ rows: { name: TakenName; id: string }[] }>(TAKEN_NAMES, { id, ...names, ...ascii });
  return new Map(rows.map(({ name }) => [name, rows.filter((row) => row.name === name).map((row) => row.id)]));
}

/** Counts sign-ups waiting for approval, using the index users_by_approval. */
export async function countWaitingSignUps(executor: Executor): Promise<number> {
  const query = executor('users').where({ status: 'STAGED' }).whereNotNull('approval_requested');
  return (await query.count<{ count: number }[]>({ count: '*' }).first())?.count ?? 0;
}

/** Deletes the user with memberships, roles, API tokens and consents. */
export const deleteUserRow = async (executor: Executor, id: string): Promise<void> => executor('users').where({ id }).delete();

/** Filter of users; all conditions must match. */
export interface UserSelection {
  /** Each word is a prefix of a word of a name or of the e-mail address. */
  readonly words?: string | undefined;
  readonly filters: readonly Filter[];
  readonly withoutStatus?: UserStatus | undefined;
  /** Members of any of these. */
  readonly orgIds?: ReadonlySet<string> | undefined;
}

const OF_TYPE = {
  string: { type: 'text', sql: (name: string) => `profile->>'${name}'` },
  boolean: {
    type: 'boolean',
    sql: (name: string) => `CASE jsonb_typeof(profile->'${name}') WHEN 'boolean' THEN (profile->>'${name}')::boolean END`,
  },
  number: {
    type: 'number',
    sql: (name: string) => `CASE jsonb_typeof(profile->'${name}') WHEN 'number' THEN (profile->>'${name}')::numeric END`,
  },
} as const;

/** @param name consists of letters, digits and underscores (features/user-schema/attribute-definitions.service.ts) */
function addedColumn({ name, type }: Pick<Attribute, 'name' | 'type'>): AttributeColumn {
  if (type === 'array') {
    const elements = `jsonb_array_elements_text(CASE jsonb_typeof(profile->'${name}') WHEN 'array' THEN profile->'${name}' ELSE '[]' END) AS element`;
    return { sql: 'element', type: 'text', among: elements, terms: name };
  }
  const known = OF_TYPE[type === 'integer' ? 'number' : type];
  return { sql: known.sql(name), type: known.type, terms: name };
}

/**
 * Columns of filterable user attributes.
 * @param added custom attributes
 * @param now users who are locked at that time have the status LOCKED_OUT
 */
export const userAttributes = (added: readonly Pick<Attribute, 'name' | 'type'>[], now: Date): AttributeColumns => ({
  id: { sql: 'id', type: 'text' },
  status: {
    sql: `CASE WHEN status = 'ACTIVE' AND locked_until > '${now.toISOString()}'::timestamptz THEN 'LOCKED_OUT' ELSE status END`,
    type: 'text',
  },
  created: { sql: 'created', type: 'time' },
  activated: { sql: 'activated', type: 'time' },
  approvalRequested: { sql: 'approval_requested', type: 'time' },
  statusChanged: { sql: 'status_changed', type: 'time' },
  lastLogin: { sql: 'last_login', type: 'time' },
  lastUpdated: { sql: 'last_updated', type: 'time' },
  passwordChanged: { sql: 'password_changed', type: 'time' },
  ...Object.fromEntries(BASE_ATTRIBUTES.map((name) => [`profile.${name}`, { sql: `profile->>'${name}'`, type: 'text' as const }])),
  ...Object.fromEntries(added.map((attribute) => [`profile.${attribute.name}`, addedColumn(attribute)])),
  'profile.login': { sql: 'login', type: 'text', spellings: spellingsOf },
  'profile.email': { sql: 'email', type: 'text', spellings: spellingsOf },
  'profile.emailVerified': { sql: 'email_verified', type: 'boolean' },
});

/** The rows of a selection, without columns, order or limit. @param columns those that the filters were parsed with */
export function selectedUsers(
  executor: Executor,
  { words, filters, withoutStatus, orgIds }: UserSelection,
  columns: AttributeColumns,
  users: string | Knex.QueryBuilder = 'users',
) {
  const query = executor<User>(users as string);
  if (words !== undefined) applyUserWords(query, words);
  for (const filter of filters) applyFilter(query, filter, columns);
  if (withoutStatus !== undefined) query.whereNot({ status: withoutStatus });
  if (orgIds !== undefined) {
    const members = executor('memberships').whereIn('org_id', [...orgIds]);
    query.whereExists(members.whereRaw('memberships.user_id = users.id').select(executor.raw('1')));
  }
  return query;
}

/** Counts users as in the default list, without deactivated ones. */
export async function countUsers(executor: Executor): Promise<number> {
  const row = await executor('users').whereNot({ status: 'DEPROVISIONED' }).count<{ count: number }[]>({ count: '*' }).first();
  return row?.count ?? 0;
}

/**
 * A user whose user name cannot be found: lookups use composed Unicode (NFC, see platform/dns/address-spelling.ts), and this one is stored
 * in another form. Migration 018 kept it because another user has the composed one. PostgreSQL composes in UTF8 databases only.
 */
export interface UncomposedLogin {
  readonly id: string;
  readonly login: string;
  /** ID of the user that the user name finds instead. */
  readonly takenBy: string | null;
}

/** Plain ASCII is always composed. */
const UNCOMPOSED = `SELECT id, login,
    (SELECT id FROM users other WHERE lower(other.login) = lower(normalize(users.login, NFC)) AND other.id <> users.id) AS "takenBy"
  FROM users WHERE octet_length(login) > length(login) AND login IS NOT NFC NORMALIZED ORDER BY seq LIMIT $1`;

/** Reads every user. @returns the first `most` of them; undefined if the database is not in UTF8 */
export async function listUncomposedLogins({ pool }: Database, most: number): Promise<readonly UncomposedLogin[] | undefined> {
  const { rows } = await pool.query<{ encoding: string }>('SELECT getdatabaseencoding() AS encoding');
  if (rows[0]?.encoding !== 'UTF8') return undefined;
  return (await pool.query<UncomposedLogin>(UNCOMPOSED, [most])).rows;
}
