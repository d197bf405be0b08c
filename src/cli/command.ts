/**
 * Shared by all commands: the database as the service finds it, and error handling. A command is a function, so that tests run it
 * without a separate process.
 */
import { pino } from 'pino';
import { loadConfig } from '../platform/config/config.ts';
import type { Keyring } from '../platform/crypto/secrets.ts';
import type { Database } from '../platform/database/database.ts';
import { hasCluster } from '../platform/embedded-postgres/cluster.ts';
import { ApiError } from '../platform/errors/errors.ts';
import { createLog } from '../platform/log/log.ts';
import { explainFailure, OpenResources, StartFailure } from './lifecycle.ts';
import { connectToDatabase, findDatabase, migrateSchema, openKeyring, type StartupContext } from './startup.ts';
import { print, type Terminal } from './terminal.ts';

/** @returns the exit code */
export type Command<Options extends readonly unknown[] = []> = (terminal: Terminal, ...options: Options) => Promise<number>;

/**
 * A command that reports its errors in plain words.
 * @param failed exit code on failure
 */
export const command =
  <Options extends readonly unknown[]>(failed: number, work: Command<Options>): Command<Options> =>
  async (terminal, ...options) => {
    try {
      return await work(terminal, ...options);
    } catch (error) {
      const words = error instanceof ApiError ? [error.summary, ...error.causes].join('\n  ') : explainFailure(error);
      if (words !== '') print(terminal.stderr, words);
      return failed;
    }
  };

/** Services available to a command. */
export interface CommandContext extends StartupContext {
  readonly database: Database;
  readonly keyring: Keyring;
  /** Closed after the work. */
  readonly open: OpenResources;
}

/**
 * Runs work on the database of the service's environment, after migrating its schema, with or without the service running, and closes all resources.
 * @param patient for slow statements: no timeouts
 * @throws {StartFailure} there is no database, or it is unreachable
 */
export async function onDatabase<T>({ env, stderr }: Terminal, work: (context: CommandContext) => Promise<T>, patient = false): Promise<T> {
  const config = loadConfig(env);
  if (config.databaseUrl === undefined && !hasCluster(config.dataDir))
    throw new StartFailure(
      `There is no database in ${config.dataDir}. Start the service once, or set DATA_DIR to the folder of the database.`,
    );
  const log = createLog({ level: config.logLevel }, pino.destination(2));
  const open = new OpenResources();
  try {
    const foundation = await findDatabase(config, log, open, (line) => print(stderr, line));
    await migrateSchema(foundation);
    const database = await connectToDatabase(patient ? foundation.direct : foundation.pooled, log, patient);
    open.add(() => database.close());
    return await work({ ...foundation, database, keyring: await openKeyring(config), open });
  } finally {
    await open.close();
  }
}
