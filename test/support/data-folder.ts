/**
 * Where the data of a PostgreSQL lies that is thrown away with the tests: in memory where there is room, for each test has a database of its own,
 * three hundred files which a disk takes several times as long to make and to remove.
 */
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** statfs(2). */
const TMPFS_MAGIC = 0x01021994;
/** Bytes, of that file system and of memory: many times what the databases of one run take at once. */
const ROOM = 4 * 2 ** 30;

function hasRoomInMemory(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(IN_MEMORY);
    return type === TMPFS_MAGIC && Math.min(bavail * bsize, process.availableMemory()) >= ROOM;
  } catch {
    return false;
  }
}

/** @returns a new folder, which the server's user may pass even where the tests run as root */
export function makeDataFolder(): string {
  const folder = mkdtempSync(path.join(hasRoomInMemory() ? IN_MEMORY : os.tmpdir(), 'gatehouse-test-'));
  chmodSync(folder, 0o711);
  return folder;
}
