/**
 * Is the database available and durable, and does it allow enough connections? Does sign-in find every user by user name, and can every stored
 * secret be decrypted? Read-only.
 */

import { countSealed } from '../../features/secret-keys/sealed-values.store.ts';
import { listUncomposedLogins } from '../../features/users/users.store.ts';
import { present } from '../../platform/clock/clock.ts';
import { connectionsOfProcess, openDatabase, pendingMigrations } from '../../platform/database/database.ts';
import { isTimeout } from '../../platform/database/database-failures.ts';
import { type DatabaseState, readDatabaseState } from '../../platform/database/database-state.ts';
import { measureReplica } from '../../platform/database/read-replica.ts';
import { ageOfEmbedded } from '../../platform/embedded-postgres/binaries.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** PostgreSQL 15: the oldest version that is still maintained and that the tests use. */
const OLDEST = 150_000;

async function state(context: CheckContext): Promise<DatabaseState> {
  ownConfig(context);
  return readDatabaseState(await context.database());
}

export const database: readonly Rule<CheckContext>[] = section('Database', [
  {
    id: 'database.version',
    sentence: 'The database is reachable and runs PostgreSQL 15 or later.',
    async run(context) {
      const { version, versionNumber } = await state(context);
      must(versionNumber >= OLDEST, `it runs PostgreSQL ${version}: upgrade to 15 or later`);
      return `PostgreSQL ${version}${ownConfig(context).databaseUrl === undefined ? ageOfEmbedded(version, present()) : ''}`;
    },
  },
  {
    id: 'database.migrations',
    sentence: 'The database schema is up to date.',
    async run(context) {
      ownConfig(context);
      const pending = await pendingMigrations(await context.database());
      must(pending.length === 0, `pending migrations: ${pending.join(', ')}. Run gatehouse migrate, or restart the service`);
    },
  },
  {
    id: 'database.durability',
    sentence: 'Committed data survives a power cut: fsync, full_page_writes and synchronous_commit are on.',
    async run(context) {
      const { fsync, fullPageWrites, synchronousCommit } = await state(context);
      must(fsync === 'on', `fsync is ${fsync}: set it to on in postgresql.conf`);
      must(fullPageWrites === 'on', `full_page_writes is ${fullPageWrites}: set it to on in postgresql.conf`);
      must(synchronousCommit !== 'off', 'synchronous_commit is off: set it to on in postgresql.conf');
      return `synchronous_commit is ${synchronousCommit}`;
    },
  },
  {
    id: 'database.letter-case',
    sentence: 'The database ignores upper and lower case of all letters in user names and searches.',
    async run(context) {
      const { foldsLetters } = await state(context);
      must(
        foldsLetters,
        'its locale (C or POSIX) only knows A to Z: restore a dump into a database with another locale, such as C.UTF-8 (CREATE DATABASE … LOCALE)',
      );
    },
  },
  {
    id: 'database.connections',
    sentence: 'The database allows enough connections for every process (WORKERS).',
    async run(context) {
      const { workers, notifications } = ownConfig(context);
      const { maxConnections, reservedConnections } = await state(context);
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
    async run(context) {
      const { readDatabase } = ownConfig(context);
      if (readDatabase === undefined) throw new Skipped('READ_DATABASE_URL is not set');
      const { url, maxLag } = readDatabase;
      const replica = await openDatabase({ connection: { connectionString: url }, onError: () => undefined });
      try {
        const lag = await measureReplica(await context.database(), replica, maxLag);
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

/** Number of users listed by name. */
const MAX_LISTED = 10;

/** These statements have the usual timeout of the service. */
async function read<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw isTimeout(error) ? new Skipped('the table is too large to check within the statement timeout') : error;
  });
}

const values = (count: number): string => `${count} ${count === 1 ? 'value' : 'values'}`;

export const dataChecks: readonly Rule<CheckContext>[] = section('Data', [
  {
    id: 'data.logins',
    sentence: 'Every user name is stored as composed Unicode (NFC), the form that sign-in searches for.',
    async run(context) {
      ownConfig(context);
      const found = await read(listUncomposedLogins(await context.database(), MAX_LISTED + 1));
      if (found === undefined) throw new Skipped('the encoding of the database is not UTF8, so this cannot be checked');
      const listed = found
        .slice(0, MAX_LISTED)
        .map(({ id, login, takenBy }) => `${id} ${JSON.stringify(login)}${takenBy ? ` (finds ${takenBy} instead)` : ''}`);
      const more = found.length > MAX_LISTED ? ', and more' : '';
      const remedy = 'Change each user name: under Users in the console, or with POST /api/v1/users/<id> and {"profile":{"login":"…"}}';
      must(found.length === 0, `these users cannot sign in with their user names: ${listed.join(', ')}${more}. ${remedy}`);
    },
  },
  {
    id: 'data.sealed',
    sentence: 'SECRET_KEY can decrypt every stored secret.',
    async run(context) {
      ownConfig(context);
      const database = await context.database();
      const { id: newest, ids } = await context.keyring();
      const sealed = await read(countSealed(database.knex));
      const unopenable = sealed
        .filter(({ keyId }) => !ids.includes(keyId))
        .map(({ table, keyId, count }) => `${values(count)} in ${table} (key ${keyId})`);
      const remedy = 'Add the old key after the others, separated by a comma, and run gatehouse reseal. Without it these secrets are lost';
      must(unopenable.length === 0, `it cannot decrypt ${unopenable.join(', ')}. ${remedy}`);
      const sum = (of: typeof sealed) => of.reduce((before, { count }) => before + count, 0);
      const former = sum(sealed.filter(({ keyId }) => keyId !== newest));
      return `${values(sum(sealed))}${former === 0 ? '' : `, ${former} of them with an old key: run gatehouse reseal before you remove that key`}`;
    },
  },
]);
