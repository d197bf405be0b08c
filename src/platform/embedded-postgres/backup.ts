/**
 * Copies the embedded PostgreSQL while it runs (PostgreSQL manual, "Making a Base Backup Using the Low Level API"): the files as they are,
 * and the log (WAL) that makes them consistent when the copy starts for the first time. cluster.ts restores such a copy.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { CLUSTER } from './cluster.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

/** Folders whose content belongs to the running server only; they are copied empty. */
const EMPTIED = [
  'pg_wal',
  'pg_wal/archive_status',
  'pg_wal/summaries',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const LEFT_OUT = /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*)$/;
/** Copied last: it contains the position from which the log is replayed. */
const CONTROL = 'global/pg_control';

/** A missing folder of the server, or a file that was deleted during the copy. */
const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** @param folder an empty folder, the target of the copy for `restoreCluster` */
export async function copyCluster({ superuser, directory }: EmbeddedPostgres, folder: string): Promise<void> {
  const copy = path.join(folder, CLUSTER);
  await fs.mkdir(copy, { mode: 0o700 });
  await copyIfThere(path.join(directory, 'password'), path.join(copy, 'password'));
  const [from, to] = [path.join(directory, 'data'), path.join(copy, 'data')];
  // One session for all: its end also ends the backup on the server.
  const client = new pg.Client({ ...superuser, application_name: 'gatehouse backup' });
  // The connection is idle for minutes while files are copied. The next statement reports a broken connection.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query("SELECT pg_create_physical_replication_slot('gatehouse_backup_' || pg_backend_pid(), true, true)");
    const first = await segment(client, "SELECT pg_walfile_name(pg_backup_start('gatehouse', fast => true)) AS name");
    await copyFolder(from, to, '');
    await copyIfThere(path.join(from, CONTROL), path.join(to, CONTROL));
    const { rows } = await client.query<{ last: string; label: string }>(
      'SELECT pg_walfile_name(lsn) AS last, labelfile AS label FROM pg_backup_stop(wait_for_archive => false)',
    );
    const [{ last, label } = { last: '', label: '' }] = rows;
    await fs.writeFile(path.join(to, 'backup_label'), label, { mode: 0o600 });
    for (const name of await fs.readdir(path.join(from, 'pg_wal'))) {
      if (/^[0-9A-F]{24}$/.test(name) && name >= first && name <= last) {
        await copyIfThere(path.join(from, 'pg_wal', name), path.join(to, 'pg_wal', name));
      }
    }
  } finally {
    await client.end();
  }
}

async function segment(client: pg.Client, statement: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(statement);
  return rows[0]?.name ?? '';
}

async function copyFolder(from: string, to: string, inside: string): Promise<void> {
  await fs.mkdir(path.join(to, inside), { mode: 0o700 });
  for (const entry of await fs.readdir(path.join(from, inside), { withFileTypes: true })) {
    const name = path.join(inside, entry.name);
    if (LEFT_OUT.test(entry.name) || name === CONTROL) continue;
    if (entry.isDirectory()) await copyFolder(from, to, name);
    else if (!EMPTIED.includes(inside)) await copyIfThere(path.join(from, name), path.join(to, name));
  }
}

/** Synced to disk, as by pg_basebackup. */
async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await fs.copyFile(from, to);
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  const copy = await fs.open(to, 'r+');
  try {
    await copy.datasync();
  } finally {
    await copy.close();
  }
}
