/**
 * The test entry: `node dist/test/support/run.js [files, or parts of their names] [options of node --test]`. Provides one server
 * (TEST_DATABASE_URL, else an embedded one in a temporary folder) with a migrated template database, then runs the test files.
 * The files of test/long run where they are named so (`long/`), one at a time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { registerSystemApplications } from '../../src/features/applications/system-applications.service.ts';
import { firstStart } from '../../src/features/settings/first-start.service.ts';
import { Keyring } from '../../src/platform/crypto/secrets.ts';
import { type Database, migrate, openDatabase } from '../../src/platform/database/database.ts';
import { openNotifications } from '../../src/platform/database/notifications.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { makeDataFolder } from './data-folder.ts';
import { databaseUrl, dropDatabase, onServer } from './database.ts';
import { divide, readDurations, shortName } from './durations.ts';
import { findPrimes } from './quick-keys.ts';
import { firstConfig } from './service.ts';
import './short-waits.ts';

/** Processes: more than a small machine has cores, as each waits at times. */
const AT_ONCE = 4;
/** Milliseconds. The last resort, for a process that is too busy to notice that a test does not end (group.ts). */
const GROUP_LIMIT = { ordinary: 1_800_000, long: 7_200_000 };

const root = fileURLToPath(new URL('../../../', import.meta.url));
const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

/** What `npm run test:long` names; with more names, only those of it that have one of them. */
const LONG = 'test/long/';
const isLong = (file: string): boolean => file.includes(LONG);
/** Is it of test/long, then the name has to say so. */
const isNamed = (file: string, part: string): boolean => file.includes(part) && (!isLong(file) || part.includes('long/'));

/** The compiled tests whose source is still there, those asked for and not left out (`!name`); a name may be given as that of the source. */
function testFiles(): string[] {
  const partOf = (name: string): string =>
    path
      .normalize(name)
      .replace(/^.*\bdist\//, '')
      .replace(/\.[jt]s$/, '');
  const parts = wanted.filter((name) => !name.startsWith('!')).map(partOf);
  const leftOut = wanted.filter((name) => name.startsWith('!')).map((name) => partOf(name.slice(1)));
  return readdirSync(path.join(root, 'dist/test'), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.js') && !/^test\/(bench|rehearsals|support)\//.test(file))
    .filter((file) => existsSync(path.join(root, file.replace(/\.js$/, '.ts'))))
    .filter((file) => !leftOut.some((part) => file.includes(part)))
    .filter((file) => (parts.length === 0 ? !isLong(file) : parts.some((part) => isNamed(file, part))))
    .filter((file) => !parts.includes(LONG) || parts.length === 1 || parts.some((part) => part !== LONG && file.includes(part)))
    .sort()
    .map((file) => path.join('dist', file));
}

async function provideServer(): Promise<{ url: string; stop(): Promise<void> }> {
  if (process.env.TEST_DATABASE_URL) return { url: process.env.TEST_DATABASE_URL, stop: async () => {} };
  const dataDir = makeDataFolder();
  // Thrown away afterwards: nothing has to survive a power cut.
  const server = await startEmbeddedPostgres({
    dataDir,
    say: () => {},
    settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_wal_size: '256MB' },
  });
  const { host, port, user, password } = server.superuser;
  const url = `postgres://${user}:${password}@localhost:${port}/postgres?host=${encodeURIComponent(host ?? '')}`;
  // Tests open thousands of connections. At 4096 iterations each would spend a millisecond of processor time on its password.
  await onServer(url, async (client) => {
    await client.query('SET scram_iterations = 1');
    await client.query(`ALTER ROLE ${client.escapeIdentifier(String(user))} PASSWORD ${client.escapeLiteral(String(password))}`);
  });
  const stop = async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url, stop };
}

/** A file with hooks beyond its own suites needs a process of its own: elsewhere they would be those of all files. One of test/long has more patience, too. */
const mustBeAlone = (file: string): boolean =>
  isLong(file) || /^(before|after|beforeEach|afterEach)\(/m.test(readFileSync(path.join(root, file), 'utf8'));

/** What takes long to make, and is made once for each process that needs it: what all pages of the console show (test/pages/console/tours.ts). */
const common = (file: string): string | undefined => /\bstartOnTour\b/.exec(readFileSync(path.join(root, file), 'utf8'))?.[0];

/** @param name of a compiled file of this folder @returns its URL */
const own = (name: string): string => new URL(name, import.meta.url).href;

/** Writes what `node --test` is to run: a file for each process, in the order of the names, each after the first of its test files. */
function writeGroups(directory: string, groups: readonly string[][]): string[] {
  return groups.map((files, index) => {
    const name = shortName(files[0] ?? '').replaceAll('/', '_');
    const file = path.join(directory, `${String(index + 1).padStart(3, '0')}-${name}.mjs`);
    const urls = files.map((name) => pathToFileURL(path.join(root, name)).href);
    const form = files.some(isLong) ? 'long' : 'ordinary';
    writeFileSync(
      file,
      [
        `import ${JSON.stringify(own('untracked-promises.js'))};`,
        `const { runGroup } = await import(${JSON.stringify(own('group.js'))});`,
        `await runGroup(${JSON.stringify(urls, null, 2)}, '${form}');\n`,
      ].join('\n'),
    );
    return file;
  });
}

/** Closed to connections, so that it can be cloned at any time. @param fill brings it from what `from` is to what it is to be */
async function makeTemplate(server: string, template: string, from: string, fill: (database: Database) => Promise<void>): Promise<void> {
  await onServer(server, (client) => client.query(`CREATE DATABASE ${template} TEMPLATE ${from}`));
  const connection = { connectionString: databaseUrl(server, template) };
  const database = await openDatabase({ connection, onError: (error) => console.error(error) });
  await fill(database);
  await database.close();
  await onServer(server, (client) => client.query(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`));
}

/** Carries the first start out, and registers the service's own applications. */
async function start(url: string, database: Database): Promise<void> {
  const config = firstConfig(url);
  const log = pino({ level: 'silent' });
  const notifications = await openNotifications({ connectionString: url }, log);
  const services = { config, log, database, notifications, keyring: new Keyring(config.secretKeys ?? []) };
  await firstStart(services, () => {});
  await registerSystemApplications(services);
  await notifications.close();
}

/** @param form long: one at a time @returns the exit code of `node --test` */
function runTests(files: readonly string[], env: Record<string, string>, form: keyof typeof GROUP_LIMIT): Promise<number> {
  const reporter = (name: string, destination: string): string[] => [
    `--test-reporter=${name}`,
    `--test-reporter-destination=${destination}`,
  ];
  const reporters = [...reporter('spec', 'stdout'), ...reporter(own('timings.js'), 'stdout')];
  if (process.env.CI === 'true') reporters.push(...reporter(own('refuse-skipped.js'), 'stderr'));
  const limits = [`--test-concurrency=${form === 'long' ? 1 : AT_ONCE}`, `--test-timeout=${GROUP_LIMIT[form]}`];
  child = spawn(process.execPath, ['--test', ...limits, ...reporters, ...options, ...files], {
    cwd: root,
    // How long they take one at a time is nothing to schedule the others by.
    env: { ...process.env, ...env, ...(form === 'long' && { WRITE_DURATIONS: 'false' }) },
    stdio: 'inherit',
  });
  const running = child;
  return new Promise((resolve, reject) => {
    running.once('error', reject);
    running.once('exit', (code) => resolve(code ?? 1));
  });
}

// Ctrl-C at any time: the tests end, and then what is ours is put away.
let child: ChildProcess | undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

const files = testFiles();
if (files.length === 0) {
  console.error('no test file of that name; are they compiled (npx tsc --incremental)? Name those of test/long with their folder: long/…');
  process.exit(1);
}
// On another core, while the server starts.
const primes = findPrimes();
const server = await provideServer();
const groups = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-tests-'));
const template = `gatehouse_template_${randomBytes(8).toString('hex')}`;
const started = `${template}_started`;
try {
  await makeTemplate(server.url, template, 'template0', migrate);
  await makeTemplate(server.url, started, template, (database) => start(databaseUrl(server.url, started), database));
  const env = {
    GATEHOUSE_TEST_SERVER: server.url,
    GATEHOUSE_TEST_TEMPLATE: template,
    GATEHOUSE_TEST_STARTED: started,
    GATEHOUSE_TEST_PRIMES: await primes,
    // Each process loads a thousand modules: from Node 22 on, the second takes from here what the first has compiled.
    NODE_COMPILE_CACHE: path.join(groups, 'compiled'),
  };
  process.exitCode = interrupted
    ? 1
    : await runTests(
        writeGroups(groups, divide(files, readDurations(), { mustBeAlone, common, processes: AT_ONCE })),
        env,
        files.some(isLong) ? 'long' : 'ordinary',
      );
} finally {
  rmSync(groups, { recursive: true });
  for (const name of [started, template]) await dropDatabase(server.url, name);
  await server.stop();
}
