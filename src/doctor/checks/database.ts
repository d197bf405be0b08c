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
    sentence: 'The database can be reached, and is PostgreSQL 15 or later.',
    async run(ground) {
      const { version, versionNumber } = await state(ground);
      must(versionNumber >= OLDEST, `it is PostgreSQL ${version}`);
      return `PostgreSQL ${version}${ownConfig(ground).databaseUrl === undefined ? ageOfEmbedded(version, present()) : ''}`;
    },
  },
  {
    id: 'database.migrations',
    sentence: 'The schema is the newest.',
    async run(ground) {
      ownConfig(ground);
      const pending = await pendingMigrations(await ground.database());
      must(pending.length === 0, `not carried out yet: ${pending.join(', ')}`);
    },
  },
  {
    id: 'database.durability',
    sentence: 'What is committed survives a power cut: fsync, full_page_writes and synchronous_commit are on.',
    async run(ground) {
      const { fsync, fullPageWrites, synchronousCommit } = await state(ground);
      must(fsync === 'on', `fsync is ${fsync}`);
      must(fullPageWrites === 'on', `full_page_writes is ${fullPageWrites}`);
      must(synchronousCommit !== 'off', 'synchronous_commit is off');
      return `synchronous_commit is ${synchronousCommit}`;
    },
  },
  {
    id: 'database.connections',
    sentence: 'The database has room for the connections of every process (WORKERS).',
    async run(ground) {
      const { workers, notifications } = ownConfig(ground);
      const { maxConnections, reservedConnections } = await state(ground);
      const needed = workers * connectionsOfProcess(notifications);
      const there = maxConnections - reservedConnections;
      must(needed <= there, `${needed} are needed, ${there} are there: raise max_connections, put a pooler before it, or lower WORKERS`);
      return `${needed} of ${there}`;
    },
  },
  {
    id: 'database.replica',
    sentence: 'The read replica shows what is committed within READ_DATABASE_MAX_LAG_MS.',
    async run(ground) {
      const { readDatabase } = ownConfig(ground);
      if (readDatabase === undefined) throw new Skipped('READ_DATABASE_URL is not set');
      const { url, maxLag } = readDatabase;
      const replica = await openDatabase({ connection: { connectionString: url }, onError: () => undefined });
      try {
        const lag = await measureReplica(await ground.database(), replica, maxLag);
        must(lag !== undefined, `not within ${maxLag} ms: the primary is asked instead. Is READ_DATABASE_URL a replica of this database?`);
        return `${lag} ms`;
      } finally {
        await replica.close();
      }
    },
  },
]);
