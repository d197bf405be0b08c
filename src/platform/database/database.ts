/**
 * Access to PostgreSQL: a pool of connections, which the hot path uses directly and everything else through knex, and the migrations.
 * Contains no statements about the service's data.
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
  /** Absent: all reads use the primary. */
  readonly replica?: ReadReplica;
  /**
   * Commits the changes of `work` when it resolves, and rolls them back when it rejects. After a deadlock or a serialization failure the
   * work is repeated (repetition.ts), so it must have no effects except through `trx`.
   * @param options.repeatable false: the work is not repeated, because it has other effects or consumes something
   */
  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>, options?: { readonly repeatable: boolean }): Promise<T>;
  /** @throws the database is unreachable or read only */
  ping(): Promise<void>;
  /** Waits for pending work, then closes all connections. */
  close(): Promise<void>;
}

/** A copy of the database for reads that need not be current (read-replica.ts). */
export interface ReadReplica {
  /**
   * @param question also returns the replica's heartbeat; undefined: not found
   * @returns undefined: use the primary
   */
  read<T>(
    question: (pool: pg.Pool, heartbeat: string) => Promise<{ readonly value: T; readonly beat: number | null } | undefined>,
  ): Promise<T | undefined>;
}

/** First parameter of store functions: the database, or the transaction to join. */
export type Executor = Knex | Knex.Transaction;

const POOL_SIZE = 10;
/** @returns the maximum connections of one process: its pool, and one for notifications unless it polls */
export const connectionsOfProcess = (notifications: 'listen' | 'poll'): number => POOL_SIZE + (notifications === 'listen' ? 1 : 0);

/**
 * Set by a statement, because poolers refuse unknown start-up parameters. Also set without a limit, because the database or its user may have one.
 * @param statementTimeout milliseconds; 0: none
 */
const session = (statementTimeout: number): string =>
  `SET statement_timeout = ${statementTimeout}; SET idle_in_transaction_session_timeout = '60s'`;
const MIGRATION_LOCK = 0x67617466;

/**
 * Creates the pool. Connections are opened on demand and restored after an outage without a restart.
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
      // Through a pooler, the limit would also apply to later users of the same connection.
      if (!(options.patient && options.connection.pooler)) await client.query(session(options.patient ? 0 : timings.databaseStatement));
      if (options.connection.pooler && client instanceof PreparingClient) await client.prepareOnlyWhereNamesLast();
    },
  });
  pool.on('error', options.onError);
  // A connection checks for writes only when it opens. One that was refused would stay so after the database accepts writes again.
  pool.on('release', (_error, client) => {
    if (client instanceof PreparingClient && client.wasReadOnly) client.end().catch(() => {});
  });

  const knex = knexFactory({
    client: 'pg',
    connectionPool: pool,
    // Otherwise an error would bring the statement with its values, including password hashes, into the log.
    compileSqlOnError: false,
    // knex also prints the errors that it throws.
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
      // First: after its destruction, knex returns no connections, and the pool would wait for them forever.
      await pool.end();
      await knex.destroy();
    },
  };
}

type Connected = Parameters<pg.Pool['connect']>[0];

/** A waiting request gets its connection in the context of the request that releases it. This restores its own context. */
class TracedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  // biome-ignore lint/suspicious/noConfusingVoidType: pg's own overloads
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    return callback === undefined ? super.connect() : super.connect(keepContext(callback));
  }
}

/** @throws {ReadOnly} on a standby, and if an operator has made the database read only */
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

/** @throws after the timeout */
async function answerWithin(milliseconds: number): Promise<never> {
  await delay(milliseconds, undefined, { ref: false });
  throw new Error('Query read timeout');
}

/** Parses counters and sequence numbers as numbers; beyond 2^53, where a number is not exact, as pg's string. For this pool only. */
function numbersForBigints(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : text));
  return types;
}

/**
 * Migrates the schema to the newest version. Any number of processes can call it concurrently, and one can be killed midway: its lock ends
 * with it, and an incomplete migration is rolled back.
 */
export const migrate = ({ pool, knex }: Database): Promise<void> =>
  whileLocked(pool, MIGRATION_LOCK, async () => {
    // knex has a lock of its own, a row that remains if its holder dies.
    await knex.migrate.forceFreeMigrationsLock(MIGRATIONS);
    await knex.migrate.latest(MIGRATIONS);
  });

/** @returns the names of the migrations that have not run in this database */
export async function pendingMigrations({ knex }: Database): Promise<readonly string[]> {
  const [, pending] = (await knex.migrate.list(MIGRATIONS)) as [unknown, readonly string[]];
  return pending;
}

const FOLDER = new URL('../../../migrations/', import.meta.url);

const MIGRATIONS: Knex.MigratorConfig = {
  migrationSource: {
    // Recorded without an extension: the name is the same for the source and the compiled file.
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
