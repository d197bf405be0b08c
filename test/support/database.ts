/**
 * A database of its own for a test: cloned from the migrated template that the test entry (run.ts) has made on its server.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** One key for all that is done with the template. */
const TEMPLATE_LOCK = 0x67617474;

export interface TestDatabase {
  readonly connection: pg.ClientConfig;
  /** Usable as DATABASE_URL by a spawned process. */
  readonly url: string;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
}

/** @returns a fresh database with the newest schema */
export const testDatabase = (): Promise<TestDatabase> => create(fromRunner('GATEHOUSE_TEST_TEMPLATE'));

/** @returns a database on which the first start has been carried out, by a service with the key and the credentials of `STARTED` */
export const startedDatabase = (): Promise<TestDatabase> => create(fromRunner('GATEHOUSE_TEST_STARTED'));

/** @returns a fresh database with nothing in it */
export const emptyDatabase = (): Promise<TestDatabase> => create('template0');

/** @param database nobody is connected to it @returns a database with the same in it */
export const copyOf = ({ url }: TestDatabase): Promise<TestDatabase> => create(new URL(url).pathname.slice(1));

async function create(template: string): Promise<TestDatabase> {
  const server = fromRunner('GATEHOUSE_TEST_SERVER');
  const name = `gatehouse_test_${randomBytes(8).toString('hex')}`;
  await maintain(server, async (client) => {
    // Two at once would each find the other one at the template.
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    try {
      // Copies files. The default writes every page to the log first, which takes twice the processor time.
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
    }
  });
  const url = databaseUrl(server, name);
  return { connection: { connectionString: url }, url, drop: () => maintain(server, (client) => drop(client, name)) };
}

/** A connection that can let its process end while it is open. pg has both; its types lack them. */
type MaintenanceClient = pg.Client & { ref(): void; unref(): void };

let kept: Promise<MaintenanceClient> | undefined;
let underWay = 0;

/** Does one piece of work on the connection that the process keeps for making and dropping databases: a new one takes a quarter of the time of the work. */
async function maintain<T>(server: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  kept ??= (async () => {
    const client = new pg.Client({ connectionString: server }) as MaintenanceClient;
    const forget = () => {
      kept = undefined;
    };
    client.on('error', forget).on('end', forget);
    await client.connect();
    return client;
  })();
  const client = await kept;
  underWay += 1;
  client.ref();
  try {
    return await work(client);
  } finally {
    underWay -= 1;
    if (underWay === 0) client.unref();
  }
}

const drop = async (client: pg.Client, name: string): Promise<void> => {
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
};

/** @param server URL of any database on the server */
export async function dropDatabase(server: string, name: string): Promise<void> {
  await onServer(server, (client) => drop(client, name));
}

/** Does one piece of work on a connection of its own. */
export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** @returns the URL of another database on the same server */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function fromRunner(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error('tests are run by: npm test [files or parts of their names]');
  return value;
}
