/** Custom attributes of users, stored in the settings; unique values of users; and values of removed attributes. */
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';
import { findCommittedSettings, findSettings, lockSettings, updateSettings } from '../settings/settings.store.ts';
import { NO_ATTRIBUTES, type UserSchema } from './attributes.resource.ts';

/** Name of the setting, also in notifications of a change. */
export const USER_SCHEMA = 'user-schema';

const schemaOf = (stored: object | undefined): UserSchema => ({ ...NO_ATTRIBUTES, ...stored });

/** Committed schema, regardless of the current transaction. */
export const findCommittedUserSchema = async (pool: pg.Pool): Promise<UserSchema> =>
  schemaOf(await findCommittedSettings(pool, USER_SCHEMA));

export const findUserSchema = async (executor: Executor): Promise<UserSchema> => schemaOf(await findSettings(executor, USER_SCHEMA));

/** Prevents changes until the transaction ends, shared with other readers, so that validated values are stored under the same schema. */
export async function shareLockUserSchema(trx: Executor): Promise<UserSchema> {
  const row = await trx('settings').where({ name: USER_SCHEMA }).forShare().first<{ value: object } | undefined>('value');
  return schemaOf(row?.value);
}

/** Locks it for a change, after all transactions that share it have ended. */
export const lockUserSchema = async (trx: Executor, now: Date): Promise<UserSchema> => schemaOf(await lockSettings(trx, USER_SCHEMA, now));

export const updateUserSchema = (trx: Executor, schema: UserSchema, now: Date): Promise<void> =>
  updateSettings(trx, USER_SCHEMA, { ...schema }, now);

/** A value as it is compared: composed Unicode, without case. */
const COMPARED = 'lower(normalize(given.value, NFC))';

const RELEASE = `DELETE FROM unique_attribute_values kept WHERE user_id = :userId AND NOT EXISTS (
  SELECT FROM unnest(CAST(:names AS text[]), CAST(:values AS text[])) AS given(name, value) WHERE given.name = kept.name AND ${COMPARED} = kept.value)`;

/** Ordered, so that transactions do not deadlock. The update changes nothing; it distinguishes the user's own value from another's. */
const CLAIM = `INSERT INTO unique_attribute_values AS kept (name, value, user_id)
  SELECT given.name, ${COMPARED}, CAST(:userId AS text) FROM unnest(CAST(:names AS text[]), CAST(:values AS text[])) AS given(name, value) ORDER BY 1, 2
  ON CONFLICT (name, value) DO UPDATE SET value = excluded.value WHERE kept.user_id = excluded.user_id RETURNING name`;

/**
 * Reserves these values for the user, and releases their former ones. Of two users who want one value concurrently, the second waits for the first.
 * @param values by names of attributes
 * @returns names of the attributes whose values other users have
 */
export async function claimUniqueValues(trx: Executor, userId: string, values: Readonly<Record<string, string>>): Promise<string[]> {
  const bindings = { userId, names: Object.keys(values), values: Object.values(values) };
  await trx.raw(RELEASE, bindings);
  const { rows } = await trx.raw<{ rows: { name: string }[] }>(CLAIM, bindings);
  const claimed = new Set(rows.map(({ name }) => name));
  return Object.keys(values).filter((name) => !claimed.has(name));
}

const TAKEN = `SELECT kept.name, kept.user_id AS holder FROM unique_attribute_values kept
  JOIN unnest(CAST(:names AS text[]), CAST(:values AS text[])) AS given(name, value) ON given.name = kept.name AND ${COMPARED} = kept.value
  WHERE kept.user_id <> :userId`;

/** @param values by the names of attributes @returns IDs of the other users who have some of them now, by the names */
export async function findTakenValues(
  executor: Executor,
  userId: string,
  values: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const bindings = { userId, names: Object.keys(values), values: Object.values(values) };
  const { rows } = await executor.raw<{ rows: { name: string; holder: string }[] }>(TAKEN, bindings);
  return new Map(rows.map(({ name, holder }) => [name, holder]));
}

/** Users at a time, each statement well within its time limit. */
const BATCH = 20_000;

const CLAIM_PRESENT = `WITH batch AS MATERIALIZED (SELECT seq, id, profile->>CAST(:name AS text) AS value FROM users WHERE seq > :after ORDER BY seq LIMIT ${BATCH}),
  claimed AS (INSERT INTO unique_attribute_values (name, value, user_id)
    SELECT CAST(:name AS text), ${COMPARED}, given.id FROM batch AS given WHERE given.value IS NOT NULL ON CONFLICT DO NOTHING RETURNING 1)
  SELECT (SELECT max(seq) FROM batch) AS last, (SELECT count(*) FROM batch WHERE value IS NOT NULL) AS wanted, (SELECT count(*) FROM claimed) AS claimed`;

interface Claimed {
  /** undefined: no more users. */
  readonly last: number | null;
  readonly wanted: number;
  readonly claimed: number;
}

/**
 * Reserves the present values of an attribute that becomes unique. Needs the schema locked, so that no value is written at the same time.
 * @returns false if two users have the same value
 */
export async function claimPresentValues(trx: Executor, name: string): Promise<boolean> {
  let after: number | null = 0;
  while (after !== null) {
    const batch: Claimed | undefined = (await trx.raw<{ rows: Claimed[] }>(CLAIM_PRESENT, { name, after })).rows[0];
    if (batch === undefined || batch.claimed !== batch.wanted) return false;
    after = batch.last;
  }
  return true;
}

/** Releases all values of an attribute. */
export async function releaseAllValues(trx: Executor, name: string): Promise<void> {
  while ((await releaseValues(trx, name, BATCH)) === BATCH);
}

/** @returns the number of released values, at most `limit` */
export async function releaseValues(trx: Executor, name: string, limit: number): Promise<number> {
  const some = trx('unique_attribute_values').where({ name }).limit(limit).select('value');
  return trx('unique_attribute_values').where({ name }).whereIn('value', some).delete();
}

const ERASE = `UPDATE users SET profile = profile - CAST(:name AS text) WHERE id IN (
  SELECT id FROM users WHERE attribute_terms(profile) @@ attribute_query(:name, '', true) ORDER BY id LIMIT :limit FOR UPDATE)`;

/** Removes an attribute from profiles. @returns the number of changed profiles, at most `limit` */
export async function eraseValues(executor: Executor, name: string, limit: number): Promise<number> {
  const { rowCount } = await executor.raw<{ rowCount: number }>(ERASE, { name, limit });
  return rowCount;
}
