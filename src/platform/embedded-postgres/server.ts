/**
 * The server process of the embedded PostgreSQL: starts it on a cluster's files, reads from postmaster.pid whether one runs, and manages
 * its socket folder. embedded-postgres.ts decides when it stops.
 */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { chownAll, processOptions, type SystemUser, temporaryFolderFor } from './binaries.ts';
import type { Cluster } from './cluster.ts';

/** The port is part of the socket's file name only. */
export const PORT = 5432;
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: String(PORT),
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The service logs failed statements itself; here they could expose personal data.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/** A server process that this service started. */
export interface Launched {
  readonly pid: number | undefined;
  /** Its last log lines, once it has ended. */
  ended?: string;
}

/** @param formerPid process of the existing postmaster.pid, known to be dead even if its PID is in use again */
export function launch(cluster: Cluster, settings: Record<string, string>, sockets: string, formerPid: number | undefined): Launched {
  const { env, ...rest } = processOptions(cluster.user);
  const log = fs.openSync(cluster.log, 'a', 0o600);
  const child = spawn(
    path.join(cluster.binaries, 'bin', 'postgres'),
    [
      '-D',
      cluster.data,
      ...Object.entries({ ...SETTINGS, ...settings, unix_socket_directories: sockets }).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
    ],
    {
      ...rest,
      // PostgreSQL then ignores this PID in a lock file (CreateLockFile in its miscinit.c).
      env: formerPid === undefined ? env : { ...env, PG_GRANDPARENT_PID: String(formerPid) },
      detached: true, // Ctrl-C in the terminal must not stop it before the service has drained
      stdio: ['ignore', log, log],
    },
  );
  fs.closeSync(log);
  child.unref();
  const launched: Launched = { pid: child.pid };
  child.once('exit', () => {
    launched.ended = endOfLog(cluster.log);
    removeIfEmpty(sockets);
  });
  child.once('error', (error) => {
    launched.ended = error.message;
  });
  return launched;
}

/** @returns the contents of postmaster.pid (line 1 the PID, 5 the socket folder, 8 the state), and whether that server runs */
export function readPostmaster(data: string): { pid: number; sockets: string; ready: boolean; alive: boolean } | undefined {
  try {
    const lines = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return { pid, sockets: lines[4] ?? '', ready: lines[7]?.trim() === 'ready', alive: isPostmasterOf(pid, data) };
  } catch {
    return undefined;
  }
}

/** The PID is not enough: after a crash it may belong to another program. */
export function isPostmasterOf(pid: number, data: string): boolean {
  try {
    if (process.platform === 'linux') return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${data}\0`);
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8', stdio: 'pipe' }).includes(` -D ${data} `);
  } catch {
    return false;
  }
}

/** @returns the former socket folder if possible, so that its services find the server; otherwise a new one */
export function socketFolder(user: SystemUser, former: string | undefined): string {
  const home = temporaryFolderFor(user);
  const prefix = path.join(home, 'gatehouse-');
  const owner = user.uid ?? process.getuid?.();
  if (former !== undefined && path.dirname(former) === home && former.startsWith(prefix)) {
    const stat = fs.lstatSync(former, { throwIfNoEntry: false });
    if (stat?.isDirectory() && stat.uid === owner && (stat.mode & 0o077) === 0) return former;
    if (stat === undefined) {
      fs.mkdirSync(former, { mode: 0o700 });
      chownAll([former], user);
      return former;
    }
  }
  const folder = fs.mkdtempSync(prefix);
  chownAll([folder], user);
  return folder;
}

export function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // Deleted, or it contains a server's socket.
  }
}

/** @returns the end of the server's log in one line */
export function endOfLog(log: string): string {
  try {
    const lines = fs.readFileSync(log, 'utf8').trimEnd().split('\n');
    return `${lines.slice(-3).join(' | ')} (${log})`;
  } catch {
    return `there is no ${log}`;
  }
}
