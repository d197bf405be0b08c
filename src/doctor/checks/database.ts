/** Is the database there, does it keep what it is given, and has it room for all connections? */
import { present } from '../../platform/clock/clock.ts';
import { connectionsOfProcess, openDatabase, pendingMigrations } from '../../platform/database/database.ts';
import { type DatabaseState, readDatabaseState } from '../../platform/database/database-state.ts';
import { measureReplica } from '../../platform/database/read-replica.ts';
import { ageOfEmbedded } from '../../platform/embedded-postgres/release.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** PostgreSQL 15: the oldest version that its makers still mend and the tests run on. */
const OLDEST = 150_000;

async function state(ground: CheckContext): Promise<DatabaseState> {
  ownConfig(ground);
  return readDatabaseState(await ground.database());
}

export const database: readonly Rule<CheckContext>[] = section('Database', [
  {
    id: 'database.version',
    sentence: 'The database is reachable and runs PostgreSQL 15 or later.',
    async run(ground) {
      const { version, versionNumber } = await state(ground);
      must(versionNumber >= OLDEST, `it runs PostgreSQL ${version}: upgrade to 15 or later`);
      return `PostgreSQL ${version}${ownConfig(ground).databaseUrl === undefined ? ageOfEmbedded(version, present()) : ''}`;
    },
  },
  {
    id: 'database.migrations',
    sentence: 'The database schema is up to date.',
    async run(ground) {
      ownConfig(ground);
      const pending = await pendingMigrations(await ground.database());
      must(pending.length === 0, `pending migrations: ${pending.join(', ')}. Run gatehouse migrate, or restart the service`);
    },
  },
  {
    id: 'database.durability',
    sentence: 'Committed data survives a power cut: fsync, full_page_writes and synchronous_commit are on.',
    async run(ground) {
      const { fsync, fullPageWrites, synchronousCommit } = await state(ground);
      must(fsync === 'on', `fsync is ${fsync}: set it to on in postgresql.conf`);
      must(fullPageWrites === 'on', `full_page_writes is ${fullPageWrites}: set it to on in postgresql.conf`);
      must(synchronousCommit !== 'off', 'synchronous_commit is off: set it to on in postgresql.conf');
      return `synchronous_commit is ${synchronousCommit}`;
    },
  },
  {
    id: 'database.connections',
    sentence: 'The database allows enough connections for every process (WORKERS).',
    async run(ground) {
      const { workers, notifications } = ownConfig(ground);
      const { maxConnections, reservedConnections } = await state(ground);
      const needed = workers * connectionsOfProcess(notifications);
      const there = maxConnections - reservedConnections;
      must(
        needed <= there,
        `${needed} connections are needed, ${there} are allowed: raise max_connections, use a pooler, or lower WORKERS`,
      );
      return `${needed} of ${there}`;
    },
  },
  {
    id: 'database.replica',
    sentence: 'The read replica receives committed data within READ_DATABASE_MAX_LAG_MS.',
    async run(ground) {
      const { readDatabase } = ownConfig(ground);
      if (readDatabase === undefined) throw new Skipped('READ_DATABASE_URL is not set');
      const { url, maxLag } = readDatabase;
      const replica = await openDatabase({ connection: { connectionString: url }, onError: () => undefined });
      try {
        const lag = await measureReplica(await ground.database(), replica, maxLag);
        must(
          lag !== undefined,
          `it lags more than ${maxLag} ms, so reads go to the primary. Check that READ_DATABASE_URL is a replica of this database`,
        );
        return `${lag} ms`;
      } finally {
        await replica.close();
      }
    },
  },
]);
