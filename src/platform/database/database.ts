/**
 * The service's way to PostgreSQL: one pool of connections, used directly by the hot path and through knex by everything else,
 * and the migrations. Holds no statement of its own about the service's data.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { timings } from '../clock/timings.ts';
import { keepContext } from '../telemetry/tracing.ts';
import { whileLocked } from './advisory-lock.ts';
import { ReadOnly } from './database-failures.ts';
import { PreparingClient } from './prepared-statements.ts';
import { repeatUndone } from './repetition.ts';
import type { Connection } from './writable-server.ts';

export interface Database {
  /** For the hot path: named prepared statements. */
  readonly pool: pg.Pool;
  /** For management resources and migrations, over the same pool. Its `.stream()` would release a connection twice (knex 3.3.0). */
  readonly knex: Knex;
  /** Absent: everything is read from the primary. */
  readonly replica?: ReadReplica;
  /**
   * Commits what `work` did when it resolves, undoes it when it rejects. After a deadlock or a serialization failure the work is done again (repetition.ts),
   * hence it has no effect but by `trx`.
   * @param options.repeatable false: the work is done once, for it has other effects, or uses something up
   */
  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>, options?: { readonly repeatable: boolean }): Promise<T>;
  /** @throws when the database cannot be reached, or takes no writes */
  ping(): Promise<void>;
  /** Waits for the work under way, then closes every connection. */
  close(): Promise<void>;
}

/** A copy of the database that may be read where what it shows need not be the newest (read-replica.ts). */
export interface ReadReplica {
  /**
   * @param question also returns the heartbeat that the replica shows; undefined: not found
   * @returns undefined: ask the primary
   */
  read<T>(
    question: (pool: pg.Pool, heartbeat: string) => Promise<{ readonly value: T; readonly beat: number | null } | undefined>,
  ): Promise<T | undefined>;
}

/** First parameter of store functions: the database, or the transaction to join. */
export type Executor = Knex | Knex.Transaction;

const POOL_SIZE = 10;
/** @returns what one process of the service holds at most: its pool, and where it does not poll, the one that listens to notifications */
export const connectionsOfProcess = (notifications: 'listen' | 'poll'): number => POOL_SIZE + (notifications === 'listen' ? 1 : 0);

/**
 * Set by a statement, not at the start of the connection: poolers refuse start-up parameters they do not know. Said, too, where there is no limit: the
 * database, or its user, may have one.
 * @param statementTimeout milliseconds; 0: none
 */
const session = (statementTimeout: number): string =>
  `SET statement_timeout = ${statementTimeout}; SET idle_in_transaction_session_timeout = '60s'`;
const MIGRATION_LOCK = 0x67617466;

/**
 * Creates the pool; connections are opened on demand, and a lost database is found again without a restart.
 * @param options.poolSize maximum connections, at least 2
 * @param options.patient for migrations and waiting for locks: no statement or response timeout
 * @param options.answerWithin timeout in milliseconds for connections and responses; absent: those of the primary
 * @param options.onError called when an idle connection breaks
 */
export async function openDatabase(options: {
  connection: Connection;
  poolSize?: number;
  patient?: boolean;
  answerWithin?: number;
  onError(error: Error): void;
}): Promise<Database> {
  const pool = new TracedPool({
    Client: PreparingClient,
    application_name: 'gatehouse',
    ...options.connection,
    max: options.poolSize ?? POOL_SIZE,
    connectionTimeoutMillis: options.answerWithin ?? timings.databaseConnection,
    ...(options.patient ? {} : { query_timeout: options.answerWithin ?? timings.databaseAnswer }),
    // Prepared statements live as long as their connection.
    idleTimeoutMillis: 300_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: numbersForBigints(),
    onConnect: async (client) => {
      // Through a pooler it would be the limit of others, too, who get the same connection later.
      if (!(options.patient && options.connection.pooler)) await client.query(session(options.patient ? 0 : timings.databaseStatement));
      if (options.connection.pooler && client instanceof PreparingClient) await client.prepareOnlyWhereNamesLast();
    },
  });
  pool.on('error', options.onError);
  // A connection learns whether it can write only when it opens: one that was refused would stay so when the database accepts writes again.
  pool.on('release', (_error, client) => {
    if (client instanceof PreparingClient && client.wasReadOnly) client.end().catch(() => {});
  });

  const knex = knexFactory({
    client: 'pg',
    connectionPool: pool,
    // An error would carry the statement with its values, password hashes among them, into the log.
    compileSqlOnError: false,
    // knex prints what it throws as well.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
  });
  return {
    pool,
    knex,
    transaction: (work, { repeatable } = { repeatable: true }) =>
      repeatable ? repeatUndone(() => knex.transaction(work)) : knex.transaction(work),
    async ping() {
      await Promise.race([askWhetherWritable(pool), answerWithin(timings.databasePing)]);
    },
    async close() {
      // First: knex, once destroyed, gives no connection back, and the pool would wait for it for ever.
      await pool.end();
      await knex.destroy();
    },
  };
}

type Connected = Parameters<pg.Pool['connect']>[0];

/** One who waits for a connection gets it from the request that gives it back, and in that one's context. */
class TracedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  // biome-ignore lint/suspicious/noConfusingVoidType: pg's own overloads
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    return callback === undefined ? super.connect() : super.connect(keepContext(callback));
  }
}

/** @throws {ReadOnly} on a standby as well as where an operator has said so */
async function askWhetherWritable(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let isWritable = false;
  try {
    const { rows } = await client.query<{ state: string }>("SELECT current_setting('transaction_read_only') AS state");
    isWritable = rows[0]?.state === 'off';
  } finally {
    client.release(!isWritable);
  }
  if (!isWritable) throw new ReadOnly();
}

/** @throws when the time is over */
async function answerWithin(milliseconds: number): Promise<never> {
  await delay(milliseconds, undefined, { ref: false });
  throw new Error('Query read timeout');
}

/** Counters and sequence numbers as numbers; beyond 2^53, where a number would lie, as pg's string. This pool's alone. */
function numbersForBigints(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : text));
  return types;
}

/**
 * Brings the schema to the newest version. Any number of processes may call it at once, and one may be killed midway: its lock ends with it, and what was
 * half done is rolled back.
 */
export const migrate = ({ pool, knex }: Database): Promise<void> =>
  whileLocked(pool, MIGRATION_LOCK, async () => {
    // knex has a lock of its own, a row that outlives its holder.
    await knex.migrate.forceFreeMigrationsLock(MIGRATIONS);
    await knex.migrate.latest(MIGRATIONS);
  });

/** @returns the names of the migrations that this database has not seen yet */
export async function pendingMigrations({ knex }: Database): Promise<readonly string[]> {
  const [, pending] = (await knex.migrate.list(MIGRATIONS)) as [unknown, readonly string[]];
  return pending;
}

const FOLDER = new URL('../../../migrations/', import.meta.url);

const MIGRATIONS: Knex.MigratorConfig = {
  migrationSource: {
    // Recorded without an extension: the name is the same for the source and for what is compiled from it.
    getMigrations: async () =>
      readdirSync(FOLDER)
        .filter((file) => /^\d{3}-[a-z0-9-]+\.js$/.test(file))
        .map((file) => file.slice(0, -'.js'.length))
        .sort(),
    getMigrationName: (name: string) => name,
    getMigration: (name: string): Promise<Knex.Migration> => import(new URL(`${name}.js`, FOLDER).href),
  },
  // Migrations only add, so an older process still starts on the schema of a newer one.
  disableMigrationsListValidation: true,
};
