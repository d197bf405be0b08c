/**
 * The files of the embedded PostgreSQL: location, owner and creation of a cluster. A cluster gets its name only when it is complete, so a
 * start can be killed at any time, and any number can run concurrently. Does not run a server.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { randomToken } from '../crypto/secrets.ts';
import {
  canEnter,
  chownAll,
  clusterOwner,
  EmbeddedPostgresError,
  locateBinaries,
  processOptions,
  runsAsRoot,
  type SystemUser,
} from './binaries.ts';

/** The name contains the major version, because files of different versions are incompatible. */
export const CLUSTER = 'pg18';
/** Alternative folder if the server's user cannot access DATA_DIR. */
const FALLBACK_FOLDER = '/var/lib/gatehouse';
/** The file in DATA_DIR with the path of the alternative folder. */
const RECORD = 'postgres-directory';
const SUPERUSER = 'postgres';
const TRAVERSABLE = runsAsRoot() ? 0o711 : 0o700;

export interface Cluster {
  /** Contains data/, password and server.log. */
  readonly directory: string;
  /** PostgreSQL's own data directory, without symbolic links. */
  readonly data: string;
  readonly log: string;
  readonly superuser: string;
  readonly password: string;
  /** System user of the server. */
  readonly user: SystemUser;
  readonly binaries: string;
}

/**
 * Finds or creates the cluster of a DATA_DIR.
 * @param say gets a line if the files are elsewhere
 * @throws {EmbeddedPostgresError} in one line
 */
export async function openCluster(dataDir: string, say: (line: string) => void): Promise<Cluster> {
  const { directory, user } = findPlace(dataDir, say);
  const binaries = locateBinaries(user);
  if (!fs.existsSync(directory)) await createCluster(directory, binaries, user);
  removeRemains(directory);
  return {
    directory,
    data: path.join(directory, 'data'),
    log: path.join(directory, 'server.log'),
    superuser: SUPERUSER,
    password: fs.readFileSync(path.join(directory, 'password'), 'utf8').trim(),
    user,
    binaries,
  };
}

/** Folder and owner of the database files of a DATA_DIR. */
function findPlace(dataDir: string, say: (line: string) => void): { readonly directory: string; readonly user: SystemUser } {
  makeFolder(dataDir);
  const recorded = readRecord(dataDir);
  const usual = path.join(dataDir, 'postgres');
  const user = ownerOf(path.join(recorded ?? usual, CLUSTER, 'data')) ?? clusterOwner();
  const home = recorded ?? (canEnter(dataDir, user) ? usual : useFallbackFolder(dataDir, usual));
  if (home !== usual) say(`the embedded PostgreSQL stores its data in ${home}, because the user that it runs as cannot access ${dataDir}`);
  makeFolder(home);
  return { directory: path.join(fs.realpathSync(home), CLUSTER), user };
}

/** @returns whether a DATA_DIR has a database, without creating one */
export const hasCluster = (dataDir: string): boolean =>
  fs.existsSync(path.join(dataDir, RECORD)) || fs.existsSync(path.join(dataDir, 'postgres', CLUSTER));

/** Is this a folder that `copyCluster` created? */
export const isClusterCopy = (folder: string): boolean => fs.existsSync(path.join(folder, CLUSTER, 'data', 'PG_VERSION'));

/**
 * Creates the cluster of a DATA_DIR without one from a copy. At its start, PostgreSQL makes it consistent, after syncing it to disk
 * (recovery_init_sync_method).
 * @param copy see `isClusterCopy`
 * @throws {EmbeddedPostgresError} in one line
 */
export function restoreCluster(dataDir: string, copy: string, say: (line: string) => void): void {
  const from = path.join(copy, CLUSTER);
  const { directory, user } = findPlace(dataDir, say);
  const draft = fs.mkdtempSync(`${directory}.new-`);
  try {
    fs.cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    fs.chmodSync(draft, TRAVERSABLE);
    const data = path.join(draft, 'data');
    fs.chmodSync(data, 0o700);
    chownAll([data, ...fs.readdirSync(data, { recursive: true, encoding: 'utf8' }).map((name) => path.join(data, name))], user);
    fs.renameSync(draft, directory);
    persistNames(path.dirname(directory));
  } catch (error) {
    discard(draft);
    throw error;
  }
}

/** Creates a folder of the service. For root, the server's user can traverse it, but not list it. */
function makeFolder(folder: string): void {
  if (fs.mkdirSync(folder, { recursive: true }) !== undefined) fs.chmodSync(folder, TRAVERSABLE);
}

/** A cluster keeps its owner, even if the service is later started as root or a user `postgres` is added. */
function ownerOf(data: string): SystemUser | undefined {
  if (!runsAsRoot()) return undefined;
  const stat = fs.statSync(data, { throwIfNoEntry: false });
  return stat === undefined ? undefined : { uid: stat.uid, gid: stat.gid };
}

function readRecord(dataDir: string): string | undefined {
  const record = path.join(dataDir, RECORD);
  if (!fs.existsSync(record)) return undefined;
  const place = fs.readFileSync(record, 'utf8').trim();
  // A new, empty database in its place would look like the loss of all accounts.
  if (!fs.existsSync(place)) {
    throw new EmbeddedPostgresError(
      `${record} says that the database lies in ${place}, which is gone: restore it, or delete the file to start over`,
    );
  }
  return place;
}

/** Creates a folder outside DATA_DIR and records it there; the first of several concurrent starts wins. */
function useFallbackFolder(dataDir: string, usual: string): string {
  if (fs.existsSync(path.join(usual, CLUSTER))) {
    throw new EmbeddedPostgresError(
      `the user that owns the database in ${usual} cannot reach it any more: let others pass (chmod o+x) on the way there`,
    );
  }
  const wanted = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  const suffix = randomBytes(3).toString('hex');
  // With a suffix, so that a user who deletes DATA_DIR to start over does not get the old database again.
  const place = path.join(FALLBACK_FOLDER, `${wanted}-${suffix}`);
  makeFolder(FALLBACK_FOLDER);
  makeFolder(place);
  const draft = path.join(dataDir, `${RECORD}.${suffix}`);
  fs.writeFileSync(draft, `${place}\n`);
  try {
    fs.linkSync(draft, path.join(dataDir, RECORD));
    return place;
  } catch {
    fs.rmdirSync(place);
    return readRecord(dataDir) ?? place;
  } finally {
    fs.rmSync(draft);
  }
}

async function createCluster(directory: string, binaries: string, user: SystemUser): Promise<void> {
  const draft = fs.mkdtempSync(`${directory}.new-`);
  const [data, password] = [path.join(draft, 'data'), path.join(draft, 'password')];
  try {
    fs.chmodSync(draft, TRAVERSABLE);
    fs.mkdirSync(data, { mode: 0o700 });
    fs.writeFileSync(password, `${randomToken()}\n`, { mode: 0o600 });
    chownAll([data, password], user);
    await promisify(execFile)(
      path.join(binaries, 'bin', 'initdb'),
      // The built-in locale sorts and folds in the same way on every platform and does not change with the system's libraries.
      [
        ...['--pgdata', data, '--username', SUPERUSER, '--pwfile', password, '--auth', 'scram-sha-256'],
        ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
        ...['--data-checksums', '--no-instructions'],
      ],
      processOptions(user),
    );
    chownAll([password], { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
    fs.renameSync(draft, directory);
    persistNames(path.dirname(directory));
  } catch (error) {
    discard(draft);
    if (fs.existsSync(directory)) return; // another start was faster
    const detail = error instanceof Error && 'stderr' in error && String(error.stderr).trim() !== '' ? String(error.stderr) : String(error);
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL cannot create its data in ${directory}: ${detail.trim().replaceAll(/\s*\n\s*/g, ' | ')}`,
    );
  }
}

/** A file name is durable only after its folder was synced (fsync(2), "Notes"). */
function persistNames(folder: string): void {
  const handle = fs.openSync(folder, 'r');
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

/** Removes files of starts that were killed, or were not the first, while creating a cluster. */
function removeRemains(directory: string): void {
  for (const name of fs.readdirSync(path.dirname(directory))) {
    if (name.startsWith(`${CLUSTER}.new-`)) discard(path.join(path.dirname(directory), name));
  }
}

function discard(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true });
  } catch {
    // Another process is writing or removing there: the next start cleans up.
  }
}
