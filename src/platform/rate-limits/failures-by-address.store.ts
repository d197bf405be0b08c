/** Failures counted by address, for all processes: rate-limiter-flexible's store over the pool, one statement for each read or count. */
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { present } from '../clock/clock.ts';
import type { Executor } from '../database/database.ts';

const TABLE = 'failures_by_address';

/** Maximum number of failures within a number of seconds from the first. */
export interface FailureLimit {
  /** Separates different kinds of counts. */
  readonly prefix: string;
  readonly most: number;
  readonly seconds: number;
}

/** @returns seconds until the next attempt; undefined: now */
export async function secondsBlocked(pool: pg.Pool, limit: FailureLimit, key: string): Promise<number | undefined> {
  const state = await limiter(pool, limit).get(key);
  return state !== null && state.consumedPoints >= limit.most ? seconds(state) : undefined;
}

/** The same within a transaction, which has a connection already. */
export async function secondsBlockedWithin(trx: Executor, limit: FailureLimit, key: string): Promise<number | undefined> {
  const now = present().getTime();
  const counted = trx(TABLE)
    .where({ key: countedUnder(limit, key) })
    .where('points', '>=', limit.most)
    .where('expire', '>', now);
  const row = await counted.first<{ expire: string } | undefined>('expire');
  return row && Math.max(1, Math.ceil((Number(row.expire) - now) / 1000));
}

/** @returns how many are counted now */
export async function failuresOf(pool: pg.Pool, limit: FailureLimit, key: string): Promise<number> {
  return (await limiter(pool, limit).get(key))?.consumedPoints ?? 0;
}

export interface CountedFailure {
  /** Seconds until the next attempt, if this one exceeded the limit. */
  readonly blockedSeconds: number | undefined;
  /** Seconds for which further attempts are blocked, if this was the last allowed one; of many concurrent attempts, exactly one is. */
  readonly newBlockSeconds: number | undefined;
}

/** Counts one failure; of many concurrent ones, each is counted. @param failures the limit and its count */
export async function countFailure(pool: pg.Pool, limit: FailureLimit, key: string, failures = 1): Promise<CountedFailure> {
  try {
    const state = await limiter(pool, limit).consume(key, failures);
    return { blockedSeconds: undefined, newBlockSeconds: state.consumedPoints === limit.most ? seconds(state) : undefined };
  } catch (over) {
    if (over instanceof RateLimiterRes) return { blockedSeconds: seconds(over), newBlockSeconds: undefined };
    throw over;
  }
}

/** Removes an attempt from the count that turned out not to be a failure. */
export async function forgetFailure(pool: pg.Pool, limit: FailureLimit, key: string): Promise<void> {
  await pool.query({
    name: 'forget-failure',
    text: `UPDATE ${TABLE} SET points = points - 1 WHERE key = $1 AND points > 0 AND expire > $2`,
    values: [countedUnder(limit, key), present().getTime()],
  });
}

/** @param now epoch milliseconds @returns the number of deleted counts, at most `limit` */
export async function deleteExpiredFailures(executor: Executor, now: number, limit: number): Promise<number> {
  const expired = executor(TABLE).where('expire', '<=', now).limit(limit).forUpdate().skipLocked().select('key');
  return executor(TABLE).whereIn('key', expired).delete();
}

const seconds = ({ msBeforeNext }: RateLimiterRes): number => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** Key of a counter in the library's format, for statements that read it together with other data. */
export const countedUnder = ({ prefix }: FailureLimit, key: string): string => `${prefix}:${key}`;

/** Stateless: counts are in a table that migrations create and the cleanup of expired rows empties. */
const limiter = (pool: pg.Pool, { prefix, most, seconds: duration }: FailureLimit): RateLimiterPostgres =>
  new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: TABLE,
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: prefix,
    points: most,
    duration,
  });
