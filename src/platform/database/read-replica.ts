/**
 * Reads from a replica within a measured lag (`READ_DATABASE_URL`). Each process maintains a counter in a row on the primary. The value on the
 * replica proves that all earlier commits have arrived. It needs no clock of the replica, and several replicas can share an address. If the value is
 * too old or missing, the primary is used.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { present } from '../clock/clock.ts';
import { timings } from '../clock/timings.ts';
import { type Database, type Executor, openDatabase, type ReadReplica } from './database.ts';
import type { Connection } from './writable-server.ts';

/** Milliseconds before a row is deleted. Longer than any process uses its former row. */
const KEPT = 600_000;
/** Counts per bound, and minimum and maximum milliseconds between two counts. */
const PACE = { perBound: 4, least: 25, most: 1000 };
/** Milliseconds after the start during which an unused replica is not logged. */
const FIRST_WHILE = 5000;

const WRITE = {
  name: 'write-heartbeat',
  text: `INSERT INTO read_heartbeats (id, beat) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, written = clock_timestamp()`,
};
const READ = { name: 'read-heartbeat', text: 'SELECT beat FROM read_heartbeats WHERE id = $1' };

export const replicaReads = new Counter({
  name: 'gatehouse_read_replica_reads_total',
  help: 'Tokens looked up at the read replica; all but "used" were asked of the primary',
  labelNames: ['outcome'],
  registers: [],
});

let currentLag = (): number => 0;
export const replicaLag = new Gauge({
  name: 'gatehouse_read_replica_lag_seconds',
  help: 'Age of what the read replica shows, at most',
  aggregator: 'max',
  registers: [],
  collect() {
    this.set(currentLag());
  },
});

/** Time by both clocks: the monotonic one may stop while the machine sleeps, the other may be set. */
interface Moment {
  readonly ticks: number;
  readonly time: number;
}
const now = (): Moment => ({ ticks: performance.now(), time: present().getTime() });
const ageOf = (moment: Moment | undefined): number =>
  moment === undefined ? Number.POSITIVE_INFINITY : Math.max(performance.now() - moment.ticks, present().getTime() - moment.time);

export interface ReplicaParts {
  readonly connection: Connection;
  readonly primary: Pick<Database, 'pool'>;
  /** Milliseconds. */
  readonly maxLag: number;
  readonly log: Logger;
}

/** Starts the measurement. A replica that was down is used when it is back. */
export async function openReplica({ connection, primary, maxLag, log }: ReplicaParts): Promise<ReadReplica & { close(): Promise<void> }> {
  const { pool, close } = await openDatabase({ connection, answerWithin: timings.replicaAnswer, onError: () => undefined });
  const id = randomUUID();
  const pause = Math.min(Math.max(maxLag / PACE.perBound, PACE.least), PACE.most);
  /** Start of each count: a replica that shows the count has everything that was committed before. */
  const begun = new Map<number, Moment>();
  const closed = new AbortController();
  let count = 0;
  let shown: Moment | undefined;
  let isUsed: boolean | undefined;
  const since = now();
  currentLag = () => (shown === undefined ? Number.NaN : ageOf(shown) / 1000);

  async function beat(): Promise<void> {
    count += 1;
    begun.set(count, now());
    for (const [number, moment] of begun) if (ageOf(moment) > maxLag) begun.delete(number);
    await primary.pool.query({ ...WRITE, values: [id, count] });
  }

  async function look(): Promise<void> {
    try {
      const { rows } = await pool.query<{ beat: number }>({ ...READ, values: [id] });
      shown = begun.get(rows[0]?.beat ?? 0) ?? shown;
      report();
    } catch (error) {
      report(error);
    }
  }

  /** Logs each change once. */
  function report(err?: unknown): void {
    const isFresh = ageOf(shown) <= maxLag;
    if (isFresh === isUsed || (isUsed === undefined && !isFresh && ageOf(since) < FIRST_WHILE)) return;
    isUsed = isFresh;
    if (isFresh) log.info('the read replica is in use');
    else log.warn({ err }, 'the read replica is unreachable or lags too far behind; reads go to the primary');
  }

  async function keep(step: () => Promise<unknown>): Promise<void> {
    while (!closed.signal.aborted) {
      await step().catch(() => undefined);
      await wait(pause, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
    }
  }
  const kept = [keep(beat), keep(look)];

  async function ask<T>(
    question: (pool: pg.Pool, heartbeat: string) => Promise<{ readonly value: T; readonly beat: number | null } | undefined>,
  ): Promise<readonly ['used', T] | readonly ['stale' | 'missing' | 'failed']> {
    if (ageOf(shown) > maxLag) return ['stale'];
    try {
      const answer = await question(pool, id);
      if (answer === undefined) return ['missing'];
      // One address may have several replicas, so the one that answered is checked.
      return ageOf(begun.get(answer.beat ?? 0)) > maxLag ? ['stale'] : ['used', answer.value];
    } catch {
      // Later requests do not wait for the replica until it responds again.
      shown = undefined;
      return ['failed'];
    }
  }

  return {
    async read(question) {
      const [outcome, value] = await ask(question);
      replicaReads.inc({ outcome });
      return value;
    },
    async close() {
      closed.abort();
      await Promise.all(kept);
      await primary.pool.query('DELETE FROM read_heartbeats WHERE id = $1', [id]).catch(() => undefined);
      await close();
    },
  };
}

/** @returns the number of deleted rows, at most `limit`: those of ended processes */
export async function deleteOldHeartbeats(executor: Executor, limit: number): Promise<number> {
  const old = executor('read_heartbeats')
    .where('written', '<', new Date(present().getTime() - KEPT))
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .select('id');
  return executor('read_heartbeats').whereIn('id', old).delete();
}

/** For the doctor. @returns milliseconds until the replica shows a new commit; undefined: longer than `most` */
export async function measureReplica(
  { pool }: Pick<Database, 'pool'>,
  replica: Pick<Database, 'pool'>,
  most: number,
): Promise<number | undefined> {
  const id = randomUUID();
  const from = performance.now();
  await pool.query({ ...WRITE, values: [id, 1] });
  try {
    for (;;) {
      const { rowCount } = await replica.pool.query({ ...READ, values: [id] });
      const elapsed = performance.now() - from;
      if (rowCount === 1) return Math.round(elapsed);
      if (elapsed > most) return undefined;
      await wait(PACE.least);
    }
  } finally {
    await pool.query('DELETE FROM read_heartbeats WHERE id = $1', [id]);
  }
}
