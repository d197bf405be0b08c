/**
 * The PostgreSQL that the service runs itself without a DATABASE_URL: started on a unix socket, joined if it already runs, shared by all
 * services of one DATA_DIR, stopped with the last of them, and restarted if it dies. cluster.ts and binaries.ts handle files and programs.
 *
 * PostgreSQL arbitrates. Its postmaster.pid lets only one server run on the files, so of several concurrent starts one wins and the others
 * join it. Each service holds a shared advisory lock, which is released however it ends. The last one to leave gets the lock exclusively
 * and stops the server. A service that arrives at that moment is refused the shared lock and starts the server again.
 */

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgresError } from './binaries.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { endOfLog, isPostmasterOf, type Launched, launch, PORT, readPostmaster, removeIfEmpty, socketFolder } from './server.ts';

// The role of the service in the embedded PostgreSQL. It owns its database and is not a superuser, so an injected statement cannot read
// files or run programs (OWASP ASVS 5.0, 13.2.2). The superuser is used for backups and to create the role.

/** The role, which signs in with the superuser's password: both are read from the same file. */
const SERVICE_ROLE = 'gatehouse';

/** Held until the end of the transaction, so that services that start together do not change the role concurrently. */
const ROLE_LOCK = 0x67617466;

/** Former versions created everything as the superuser. Indexes and column sequences follow their table. */
const CHANGE_OWNER = `
DO $$
DECLARE command text;
BEGIN
  FOR command IN
    SELECT format('ALTER %s %s OWNER TO ${SERVICE_ROLE}', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
    FROM pg_class c
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relowner <> '${SERVICE_ROLE}'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid
        AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO ${SERVICE_ROLE}', p.oid::regprocedure)
    FROM pg_proc p
    WHERE pronamespace = 'public'::regnamespace AND proowner <> '${SERVICE_ROLE}'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO ${SERVICE_ROLE}', t.oid::regtype)
    FROM pg_type t
    WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e') AND typowner <> '${SERVICE_ROLE}'::regrole
  LOOP
    EXECUTE command;
  END LOOP;
END $$`;

/**
 * Creates the service's role if it is missing, and makes it the owner of a former version's database.
 * @param superuser the superuser's connection to the service's database
 * @returns the connection for the service
 */
async function provideServiceRole(superuser: pg.ClientConfig): Promise<pg.ClientConfig> {
  const { database = 'postgres', password } = superuser;
  const client = new pg.Client(superuser);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [ROLE_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ROLE]);
    const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(
      `${verb} ROLE ${SERVICE_ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${pg.escapeLiteral(String(password))}`,
    );
    await client.query(`ALTER DATABASE ${pg.escapeIdentifier(database)} OWNER TO ${SERVICE_ROLE}`);
    await client.query(CHANGE_OWNER);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  return { ...superuser, user: SERVICE_ROLE };
}

const PRESENCE_LOCK = 0x67617465;
const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 60_000;
/** A killed server leaves processes behind for a moment, during which a new one refuses to start. */
const START_ATTEMPTS = 5;
const WRONG_PASSWORD = '28P01';

export interface EmbeddedPostgres {
  /** The service's connection: its role owns the database and is not a superuser. It stays valid if the server dies and is restarted. */
  readonly connection: pg.ClientConfig;
  /** The superuser's, for backups. */
  readonly superuser: pg.ClientConfig;
  /** Was the server already running? */
  readonly adopted: boolean;
  /** Actual data folder. */
  readonly directory: string;
  /** Leaves the server, and stops it if no other service uses it. */
  stop(): Promise<void>;
}

/**
 * Starts or joins the PostgreSQL of a DATA_DIR.
 * @param options.say gets lines for the operator
 * @param options.settings PostgreSQL settings that override the defaults; no effect on a running server
 * @throws {EmbeddedPostgresError} in one line: no binaries for the platform, no place for the data, or a server that does not start
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  say(line: string): void;
  settings?: Record<string, string>;
}): Promise<EmbeddedPostgres> {
  const { say, settings = {} } = options;
  const cluster = await openCluster(path.resolve(options.dataDir), say);
  let presence = await enter(cluster, settings, undefined);
  const { adopted, sockets } = presence;
  const superuser = connectionTo(cluster, sockets);
  const connection = await provideServiceRole(superuser).catch(async (error: unknown) => {
    await leave(cluster, presence);
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL does not accept the role of the service: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  let stopping = false;
  let returning: Promise<void> | undefined;

  const comeBack = async () => {
    say('lost the connection to the embedded PostgreSQL; reconnecting to it or restarting it');
    for (let wait = 100; !stopping; wait = Math.min(wait * 2, 5000)) {
      try {
        presence = await enter(cluster, settings, sockets);
        watch();
        return say('the embedded PostgreSQL is available again');
      } catch (error) {
        say(error instanceof Error ? error.message : String(error));
        await delay(wait);
      }
    }
  };
  const watch = () =>
    presence.client.once('end', () => {
      if (!stopping) returning = comeBack();
    });
  watch();

  return {
    connection,
    superuser,
    adopted,
    directory: cluster.directory,
    async stop() {
      stopping = true;
      await returning;
      await leave(cluster, presence);
    },
  };
}

/** A service's use of the server. */
interface Presence {
  readonly client: pg.Client;
  readonly pid: number;
  readonly sockets: string;
  readonly adopted: boolean;
}

/** Joins the server, and starts it first if it is not running. */
async function enter(cluster: Cluster, settings: Record<string, string>, formerSockets: string | undefined): Promise<Presence> {
  let launched: Launched | undefined;
  let attempts = 0;
  for (const end = performance.now() + READY_WITHIN_MS; performance.now() < end; await delay(10)) {
    const postmaster = readPostmaster(cluster.data);
    if (postmaster?.alive) {
      const client = postmaster.ready ? await joinAt(cluster, postmaster.sockets) : undefined;
      if (client !== undefined)
        return { client, pid: postmaster.pid, sockets: postmaster.sockets, adopted: postmaster.pid !== launched?.pid };
    } else if (launched === undefined) {
      launched = launch(cluster, settings, socketFolder(cluster.user, formerSockets ?? postmaster?.sockets), postmaster?.pid);
    } else if (launched.ended !== undefined) {
      attempts += 1;
      if (attempts === START_ATTEMPTS) throw new EmbeddedPostgresError(`the embedded PostgreSQL does not start: ${launched.ended}`);
      launched = undefined;
      await delay(50 * 2 ** attempts);
    }
  }
  throw new EmbeddedPostgresError(`the embedded PostgreSQL is not ready after ${READY_WITHIN_MS / 1000} s: ${endOfLog(cluster.log)}`);
}

/** @returns a connection that counts as a service; undefined: the server does not accept connections, or is about to stop */
async function joinAt(cluster: Cluster, sockets: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    ...connectionTo(cluster, sockets),
    application_name: 'gatehouse presence',
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {}); // only its end matters
  try {
    await client.connect();
    const { rows } = await client.query<{ admitted: boolean }>('SELECT pg_try_advisory_lock_shared($1) AS admitted', [PRESENCE_LOCK]);
    if (rows[0]?.admitted) return client;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === WRONG_PASSWORD) {
      throw new EmbeddedPostgresError(`the embedded PostgreSQL refuses the password kept in ${cluster.directory}`);
    }
  }
  client.end().catch(() => {});
  return undefined;
}

/** Leaves the server, and stops it if no other service uses it. */
async function leave(cluster: Cluster, { client, pid, sockets }: Presence): Promise<void> {
  try {
    // First release, then lock exclusively: of two that leave at once, the second is alone.
    await client.query('SELECT pg_advisory_unlock_shared($1)', [PRESENCE_LOCK]);
    const { rows } = await client.query<{ alone: boolean }>('SELECT pg_try_advisory_lock($1) AS alone', [PRESENCE_LOCK]);
    if (!rows[0]?.alone) return;
    process.kill(pid, 'SIGINT');
    // The connection keeps the lock, so nobody joins until the end.
    for (const end = performance.now() + STOPPED_WITHIN_MS; isPostmasterOf(pid, cluster.data) && performance.now() < end; ) await delay(10);
    removeIfEmpty(sockets);
  } catch {
    // The server has already ended.
  } finally {
    await client.end().catch(() => {});
  }
}

const connectionTo = (cluster: Cluster, sockets: string): pg.ClientConfig => ({
  host: sockets,
  port: PORT,
  user: cluster.superuser,
  password: cluster.password,
  database: 'postgres',
  ssl: false,
});
