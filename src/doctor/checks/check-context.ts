/** Context of the installation checks: configuration and database if they belong to the checked service, and its management API. */
import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Fixtures } from '../fixtures.ts';
import { type HttpClient, jsonOf } from '../http-client.ts';
import { Blocked, Broken, Skipped } from '../rule.ts';

export interface CheckContext {
  readonly url: string;
  /** undefined when the configuration has errors. */
  readonly config: Config | undefined;
  readonly problems: readonly string[];
  /** Opened by the first check that needs it. @throws if it cannot be reached */
  database(): Promise<Database>;
  /** The keys of SECRET_KEY; an embedded database stores its own in DATA_DIR. */
  keyring(): Promise<Keyring>;
  /** A separate HTTP client for each call. */
  wire(): HttpClient;
  /** undefined: there is no API token. */
  readonly fixtures: Fixtures | undefined;
}

/** @throws {Skipped} the configuration here belongs to another service */
export function ownConfig({ config, url }: CheckContext): Config {
  if (config === undefined) throw new Blocked('the configuration has errors');
  if (config.baseUrl !== url) throw new Skipped(`the environment here configures ${config.baseUrl}, not the checked service`);
  return config;
}

/** Reads settings from the database. Other rules report a database that is unavailable. @throws {Skipped} */
export async function readStored<T>(context: CheckContext, reading: (database: Database) => Promise<T>): Promise<T> {
  try {
    return await reading(await context.database());
  } catch (error) {
    if (error instanceof Skipped || error instanceof Blocked) throw error;
    throw new Skipped('the settings cannot be read from the database');
  }
}

/** @returns the resource at a path of the management API @throws {Blocked} there is no API token */
export async function read(context: CheckContext, path: string): Promise<unknown> {
  if (context.fixtures === undefined) throw new Blocked('there is no API token: set GATEHOUSE_TOKEN');
  const reply = await context.fixtures.api.call('GET', path);
  if (reply.status !== 200) throw new Broken(`GET /api/v1${path} answered ${reply.status}`);
  return jsonOf(reply);
}
