/**
 * What the commands beside the service share: how they speak, the database as the service itself finds it, and their orderly end. What each of them does, and with which
 * code it ends, is its own.
 */
import { pino } from 'pino';
import type { Config } from './config.ts';
import { ApiError } from './errors.ts';
import { bringUpToDate, connect, type Foundation, findDatabase, openKeyring } from './foundation.ts';
import { explain, OpenThings, StartFailure } from './lifecycle.ts';
import { createLog } from './log.ts';
import type { Keyring } from './secrets.ts';
import type { Database } from './store/database.ts';
import { hasCluster } from './store/embedded-postgres-cluster.ts';

/** For whoever watches: progress, mistakes. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The result. */
export const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** What a command works with. */
export interface Ground extends Foundation {
  readonly database: Database;
  readonly keyring: Keyring;
  /** Closed after the work. */
  readonly open: OpenThings;
}

/**
 * Does the work on the service's database, its schema brought up to date, beside the running service or without it, and closes what was opened.
 * @param patient for statements that read or write a lot and may take their time
 * @throws {StartFailure} when there is no database, or it cannot be reached
 */
export async function onDatabase<T>(config: Config, work: (ground: Ground) => Promise<T>, patient = false): Promise<T> {
  if (config.databaseUrl === undefined && !hasCluster(config.dataDir))
    throw new StartFailure(`There is no database in ${config.dataDir}. Start the service once, or set DATA_DIR to where it is.`);
  const log = createLog({ level: config.logLevel }, pino.destination(2));
  const open = new OpenThings();
  try {
    const foundation = await findDatabase(config, log, open, say);
    await bringUpToDate(foundation);
    const database = await connect(foundation.pooled, log, patient);
    open.add(() => database.close());
    return await work({ ...foundation, database, keyring: await openKeyring(config), open });
  } finally {
    await open.close();
  }
}

/** Ends the process with the code that the command has come to. @param failed the code where it could not do its work, which is told in words */
export function endWith(command: Promise<number>, failed: number): void {
  command.then(
    (code) => process.exit(code),
    (error: unknown) => {
      say(error instanceof ApiError ? [error.summary, ...error.causes].join('\n  ') : explain(error));
      process.exit(failed);
    },
  );
}
