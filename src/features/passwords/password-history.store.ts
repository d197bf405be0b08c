/** Former passwords of a user, and passwords that were imported with their hashes. */
import type { Executor } from '../../platform/database/database.ts';
import { PASSWORD_ELSEWHERE } from './password.policy.ts';

/** @returns the newest hashes, at most `most` */
export async function findFormerHashes(executor: Executor, userId: string, most: number): Promise<readonly string[]> {
  return executor('password_history').where({ user_id: userId }).orderBy('seq', 'desc').limit(most).pluck('password_hash');
}

/** Stores a replaced hash, and deletes the oldest ones. @param most maximum number of hashes. Needs the user's row locked. */
export async function rememberFormerHash(trx: Executor, userId: string, passwordHash: string, most: number): Promise<void> {
  if (most > 0) await trx('password_history').insert({ user_id: userId, password_hash: passwordHash });
  const newest = trx('password_history').where({ user_id: userId }).orderBy('seq', 'desc').limit(most).select('seq');
  await trx('password_history').where({ user_id: userId }).whereNotIn('seq', newest).delete();
}

/** Costs of scrypt: the logarithm of N, block size, parallelism. */
export type ScryptCost = readonly [work: number, ln: number, r: number, p: number];

/** The most expensive imported hash of each kind; null: none. */
export interface CostliestHashes {
  /** The work factor. */
  readonly bcrypt: number | null;
  /** PBKDF2 with this digest: iterations, for all blocks of the key. */
  readonly sha1: number | null;
  readonly sha256: number | null;
  readonly sha512: number | null;
  readonly scrypt: ScryptCost | null;
  /** Firebase's. */
  readonly firebase: ScryptCost | null;
  /** KiB, iterations and parallelism, after their product. */
  readonly argon2: readonly [work: number, m: number, t: number, p: number] | null;
  /** Does another system have a password? */
  readonly elsewhere: boolean;
}

const iterations = (scheme: string, blockBytes: number): string =>
  `max(CASE WHEN starts_with(password_hash, '$pbkdf2-${scheme}$') THEN substr(split_part(password_hash, '$', 3), 3)::integer
    * ceil(length(decode(split_part(password_hash, '$', 5), 'base64')) / ${blockBytes}.0) END)::float8`;

/** @param part the one between dollar signs that has three parameters, such as `ln=14,r=8,p=1` */
const parameters = (part: number): readonly string[] =>
  [1, 2, 3].map((n) => `split_part(split_part(split_part(password_hash, '$', ${part}), ',', ${n}), '=', 2)::float8`);

const scryptCost = (scheme: string): string => {
  const [ln, r, p] = parameters(3);
  return `max(CASE WHEN starts_with(password_hash, '$${scheme}$') THEN ARRAY[2 ^ ${ln} * ${r} * ${p}, ${ln}, ${r}, ${p}] END)`;
};

const [M, T, P] = parameters(4);

const COSTLIEST = `SELECT max(CASE WHEN starts_with(password_hash, '$2b$') THEN substr(password_hash, 5, 2)::integer END) AS bcrypt,
    ${iterations('sha1', 20)} AS sha1, ${iterations('sha256', 32)} AS sha256, ${iterations('sha512', 64)} AS sha512,
    ${scryptCost('scrypt')} AS scrypt, ${scryptCost('firebase-scrypt')} AS firebase,
    max(CASE WHEN starts_with(password_hash, '$foreign-argon2') THEN ARRAY[${M} * ${T}, ${M}, ${T}, ${P}] END) AS argon2,
    coalesce(bool_or(password_hash = '${PASSWORD_ELSEWHERE}'), false) AS elsewhere
  FROM users WHERE password_hash NOT LIKE '$argon2id$%'`;

export async function findCostliestHashes(executor: Executor): Promise<CostliestHashes> {
  const { rows } = await executor.raw<{ rows: [CostliestHashes] }>(COSTLIEST);
  return rows[0];
}
