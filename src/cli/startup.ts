/**
 * Start-up before the first request. Every process: database (embedded or external) and secret key. Once: schema, first administrator and the
 * service's own applications.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { registerSystemApplications } from '../features/applications/system-applications.service.ts';
import { findUnopenable } from '../features/secret-keys/resealing.service.ts';
import { type FirstAdministrator, firstStart } from '../features/settings/first-start.service.ts';
import type { Config } from '../platform/config/config.ts';
import { Keyring, readSecretKeys } from '../platform/crypto/secrets.ts';
import { type Database, migrate, openDatabase } from '../platform/database/database.ts';
import { isUnavailable, wasHeldUp } from '../platform/database/database-failures.ts';
import type { Services } from '../platform/database/dependencies.ts';
import { type Notifications, openNotifications } from '../platform/database/notifications.ts';
import { pollNotifications } from '../platform/database/polled-notifications.ts';
import { openReplica } from '../platform/database/read-replica.ts';
import { type Connection, serversIn, shouldTakeWrites } from '../platform/database/writable-server.ts';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.ts';
import { OpenResources, StartFailure } from './lifecycle.ts';

export interface StartupContext {
  readonly config: Config;
  readonly log: Logger;
  /** For requests; can be a pooler in transaction mode. */
  readonly pooled: Connection;
  /** For migrations, long statements and LISTEN. With polling it can also be a pooler. */
  readonly direct: Connection;
}

/** Finds the database, and starts the embedded one if none is configured. @param say gets lines for the operator */
export async function findDatabase(config: Config, log: Logger, open: OpenResources, say: (line: string) => void): Promise<StartupContext> {
  if (config.databaseUrl !== undefined) {
    const { databaseUrl, databaseDirectUrl = databaseUrl } = config;
    const isDirect = databaseDirectUrl !== databaseUrl;
    const polls = config.notifications === 'poll';
    const pooled = { ...connectionTo(databaseUrl), pooler: isDirect || polls };
    return { config, log, pooled, direct: { ...connectionTo(databaseDirectUrl), pooler: polls && !isDirect } };
  }
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, say });
  open.add(() => embedded.stop());
  return { config, log, pooled: embedded.connection, direct: embedded.connection };
}

function connectionTo(url: string): Connection {
  const servers = serversIn(url);
  const [connectionString = url] = servers;
  return shouldTakeWrites(url) ? { connectionString, servers } : { connectionString };
}

/** @param patient no timeouts, for migrations and waiting for another process's first start */
export const connectToDatabase = (connection: Connection, log: Logger, patient = false): Promise<Database> =>
  openDatabase({ connection, patient, onError: (error) => log.warn({ err: error }, 'lost a database connection') });

/** The read replica, if there is one. @param primary closed after it */
export async function withReadReplica({ config, pooled, log }: StartupContext, primary: Database, open: OpenResources): Promise<Database> {
  const { readDatabase } = config;
  if (readDatabase === undefined) return primary;
  const connection = { connectionString: readDatabase.url, pooler: pooled.pooler ?? false };
  const replica = await openReplica({ connection, primary, maxLag: readDatabase.maxLag, log });
  open.add(() => replica.close());
  return { ...primary, replica };
}

/**
 * Notifications of changes by other processes, as configured by `NOTIFICATIONS`.
 * @param database used for polling; close it after the notifications
 */
export const listenForChanges = ({ config, direct, log }: StartupContext, database: Database): Promise<Notifications> =>
  config.notifications === 'poll' ? pollNotifications(database, log) : openNotifications(direct, log);

/** Brings the schema to the newest version. @throws {StartFailure} when the database cannot be reached */
export async function migrateSchema({ direct, log }: StartupContext): Promise<void> {
  const database = await connectToDatabase(direct, log, true);
  try {
    await migrate(database);
  } catch (error) {
    if (!isUnavailable(error) || wasHeldUp(error)) throw error;
    throw new StartFailure(
      `The database cannot be reached (${reasonOf(error)}). Check that it is running and that DATABASE_URL is correct.`,
    );
  } finally {
    await database.close();
  }
}

/** Completes the first start of an installation, and updates the service's own applications to the configuration. */
export async function completeFirstStart(
  foundation: StartupContext,
  printCredentials: (administrator: FirstAdministrator) => void,
): Promise<void> {
  const { config, log, direct } = foundation;
  const open = new OpenResources();
  try {
    const database = await connectToDatabase(direct, log, true);
    open.add(() => database.close());
    const notifications = await listenForChanges(foundation, database);
    open.add(() => notifications.close());
    const services = { config, log, database, notifications, keyring: await openKeyring(config) };
    await checkSecretKeys(services);
    await firstStart(services, printCredentials);
    await registerSystemApplications(services);
  } finally {
    await open.close();
  }
}

/** Without its keys, the service would fail at each request. @throws {StartFailure} a key is missing */
export async function checkSecretKeys(services: Pick<Services, 'database' | 'keyring' | 'config'>): Promise<void> {
  const unopenable = await findUnopenable(services);
  if (unopenable.length === 0) return;
  const { secretKeys, dataDir } = services.config;
  const source = secretKeys === undefined ? secretKeyFile(dataDir) : 'SECRET_KEY';
  const ids = [...new Set(unopenable.map(({ keyId }) => keyId))];
  throw new StartFailure(
    [
      `${source} does not have the key that encrypted the secrets in this database. Missing: ${ids.join(', ')}, needed for:`,
      ...unopenable.map(({ keyId, table, count }) => `  ${count} ${count === 1 ? 'value' : 'values'} in ${table} (${keyId})`),
      'Add the old key after the new one, separated by a comma, and run gatehouse reseal before you remove the old key. Without it these secrets are lost.',
    ].join('\n'),
  );
}

/** The keys of SECRET_KEY; for an embedded database the one in DATA_DIR, which is created if it is missing. */
export async function openKeyring({ secretKeys, dataDir }: Config): Promise<Keyring> {
  return new Keyring(secretKeys ?? (await ownSecretKeys(dataDir)));
}

/** Key file of the embedded database, used when SECRET_KEY is not set. */
export const secretKeyFile = (dataDir: string): string => path.join(dataDir, 'secret.key');

/** Stored beside its database, readable by its owner only. */
async function ownSecretKeys(dataDir: string): Promise<readonly Buffer[]> {
  await mkdir(dataDir, { recursive: true });
  const file = secretKeyFile(dataDir);
  if (!existsSync(file)) {
    // Complete before it gets its name, so that two services that start at the same time read the same key.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      unlinkSync(draft);
    }
  }
  const keys = readSecretKeys(readFileSync(file, 'utf8').trim());
  if (keys === undefined) throw new StartFailure(`${file} does not contain a valid key (32 bytes). Restore the file from a backup.`);
  return keys;
}

/** A failed attempt at several addresses of a name has an error code, but no message. */
const reasonOf = (error: unknown): string => {
  const { message, code } = error as Error & { code?: unknown };
  return message !== '' ? message : String(code);
};
