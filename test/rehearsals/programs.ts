/** Programs of the machine that a rehearsal runs, each in a temporary folder and as an unprivileged user: PostgreSQL (Debian's), haproxy, PgBouncer. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { eventually, freePort } from '../support/process.ts';

/** PostgreSQL refuses to run as root. */
export const AS_POSTGRES: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0
    ? { uid: Number(execFileSync('id', ['-u', 'postgres'])), gid: Number(execFileSync('id', ['-g', 'postgres'])) }
    : {};
const USER = 'gatehouse';
const PASSWORD = 'of-the-rehearsal';

/** A file of this folder; the compiled scripts lie elsewhere. */
export const beside = (name: string): string => fileURLToPath(new URL(`../../../test/rehearsals/${name}`, import.meta.url));

/** @param made absent: on the disk */
export function folder(t: TestContext, made = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-rehearsal-'))): string {
  if (AS_POSTGRES.uid !== undefined) chownSync(made, AS_POSTGRES.uid, AS_POSTGRES.gid ?? 0);
  afterwards(t, () => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function answers(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Starts a program and waits until it takes connections. It is killed with the test. */
async function start(
  t: TestContext,
  program: string,
  args: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, {
    ...AS_POSTGRES,
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env },
    stdio: 'ignore',
  });
  afterwards(t, () => kill(child));
  await eventually(async () => {
    assert.equal(child.exitCode, null, `${program} ended`);
    return answers(port);
  }, `${program} takes connections`);
  return child;
}

/** As when the machine is lost: the program and all that it has started, at once. */
async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined;
  // Not by their group: each of PostgreSQL's processes has its own. The first one before the others, so that it starts no more.
  process.kill(pid, 'SIGSTOP');
  const children = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .split(/\s+/);
  for (const one of [...children.filter((text) => text !== '').map(Number), pid]) process.kill(one, signal);
  await ended;
}

export function postgresBinaries(): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  assert.ok(newest !== undefined, 'no PostgreSQL here: apt-get install postgresql');
  return `/usr/lib/postgresql/${newest}/bin`;
}

const run = (name: string, args: readonly string[]) =>
  execFileSync(path.join(postgresBinaries(), name), args, {
    ...AS_POSTGRES,
    cwd: '/',
    stdio: 'pipe',
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', PGPASSWORD: PASSWORD },
  });

export interface Server {
  readonly port: number;
  /** For DATABASE_URL; the database `gatehouse` is there. */
  readonly url: string;
  /** Loses the whole server at once, or freezes it (SIGSTOP). */
  lose(signal?: NodeJS.Signals): Promise<void>;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** A standby that follows it. */
  standby(name: string): Promise<Server>;
  promote(): void;
}

const urlOf = (address: string): string => `postgresql://${USER}:${PASSWORD}@${address}/gatehouse`;
/** The database at several addresses, as DATABASE_URL names it. */
export const urlOfAll = (servers: readonly Server[]): string =>
  `${urlOf(servers.map(({ port }) => `127.0.0.1:${port}`).join(','))}?target_session_attrs=read-write`;

/** A PostgreSQL of its own, as durable as it is by default. */
export async function postgres(t: TestContext, settings: readonly string[] = [], home = folder(t)): Promise<Server> {
  writeFileSync(path.join(home, 'password'), `${PASSWORD}\n`);
  run('initdb', [
    '-D',
    path.join(home, 'data'),
    '-U',
    USER,
    '--pwfile',
    path.join(home, 'password'),
    '-A',
    'scram-sha-256',
    '--locale=C.UTF-8',
    '-E',
    'UTF8',
  ]);
  const server = await serve(t, home, settings);
  await onServer(server.url.replace(/gatehouse$/, 'postgres'), (client) => client.query('CREATE DATABASE gatehouse'));
  return server;
}

async function serve(t: TestContext, home: string, settings: readonly string[]): Promise<Server> {
  const port = Number(await freePort());
  const data = path.join(home, 'data');
  const given = ['listen_addresses=127.0.0.1', `unix_socket_directories=${home}`, 'max_connections=200', ...settings].flatMap((one) => [
    '-c',
    one,
  ]);
  const child = await start(t, path.join(postgresBinaries(), 'postgres'), ['-D', data, '-p', String(port), ...given], port);
  const url = urlOf(`127.0.0.1:${port}`);
  const asked = () => onServer(url.replace(/gatehouse$/, 'postgres'), (client) => client.query('SELECT 1'));
  await eventually(() => asked().catch(() => false), 'PostgreSQL has started');
  return {
    port,
    url,
    lose: (signal) => kill(child, signal),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await onServer(url, (client) => client.query(text, [...values]))).rows as Row[],
    async standby(name) {
      const other = folder(t);
      const source = `host=127.0.0.1 port=${port} user=${USER} password=${PASSWORD} application_name=${name}`;
      run('pg_basebackup', ['-d', source, '-D', path.join(other, 'data'), '-R', '-X', 'stream', '-c', 'fast']);
      return serve(t, other, ['hot_standby=on']);
    },
    promote: () => void run('pg_ctl', ['promote', '-D', data, '-W']),
  };
}

/** @param port where the balancer listens, at 127.0.0.1 @param processes addresses of the service */
export async function haproxy(t: TestContext, port: string, [first = '', second = '']: readonly string[]): Promise<void> {
  await start(t, '/usr/sbin/haproxy', ['-db', '-f', beside('haproxy.cfg')], Number(port), {
    BALANCER: `127.0.0.1:${port}`,
    FIRST: first,
    SECOND: second,
  });
}

/** The program that PGBOUNCER names, or Debian's. @returns its version, and the database's URL through it */
export async function pgbouncer(t: TestContext, server: Server): Promise<{ version: string; url: string }> {
  const program = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';
  const version = /PgBouncer (\S+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1] ?? '';
  const home = folder(t);
  const port = await freePort();
  const known = Number(version.split('.')[1]) >= 21;
  const lines = readFileSync(beside('pgbouncer.ini'), 'utf8')
    .replaceAll('%SERVER_PORT%', String(server.port))
    .replaceAll('%PORT%', port)
    .replaceAll('%FOLDER%', home);
  writeFileSync(path.join(home, 'pgbouncer.ini'), known ? lines : lines.replace(/^max_prepared_statements.*$/m, ''));
  writeFileSync(path.join(home, 'users'), `"${USER}" "${PASSWORD}"\n`);
  await start(t, program, ['-q', path.join(home, 'pgbouncer.ini')], Number(port));
  return { version, url: urlOf(`127.0.0.1:${port}`) };
}
