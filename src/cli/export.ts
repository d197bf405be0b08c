/**
 * The command that exports users: `gatehouse export users`, with the service's own configuration, beside a running service or without one. Ends with 0 when
 * all users are written, 2 when it could not do its work.
 */
import { once } from 'node:events';
import { open as openFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { SYSTEM } from '../features/audit/audit-event.policy.ts';
import { type PortableOptions, portableUsers } from '../features/import/portable-users.service.ts';
import { isFirstStartDone } from '../features/settings/settings.store.ts';
import { command, type Output, onDatabase } from './command.ts';
import { StartFailure } from './lifecycle.ts';
import { listenForChanges } from './startup.ts';

export interface ExportArguments extends PortableOptions {
  /** Absent: standard output. */
  readonly output?: string;
}

export const exportUsersCommand = command(2, async (terminal, { output, ...options }: ExportArguments) => {
  return onDatabase(terminal, async (ground) => {
    if (!(await isFirstStartDone(ground.database.knex)))
      throw new StartFailure('The service has not been started yet. Start it once, then export users.');
    const notifications = await listenForChanges(ground, ground.database);
    ground.open.add(() => notifications.close());
    const target = output === undefined ? terminal.stdout : await newFile(output);
    for await (const piece of portableUsers({ ...ground, notifications }, options, SYSTEM)) await write(target, piece);
    if (output !== undefined && target instanceof Writable) await finished(target.end());
    return 0;
  });
});

/** Readable by its owner only; existing files are not overwritten. @throws {StartFailure} */
async function newFile(file: string): Promise<Writable> {
  const handle = await openFile(file, 'wx', 0o600).catch((error: unknown) => {
    throw new StartFailure(`${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
  });
  // A failed write is reported with the next piece.
  return handle.createWriteStream().on('error', () => undefined);
}

/** Waits while the reader is slower. */
async function write(target: Output, text: string): Promise<void> {
  if (target instanceof Writable && target.errored) throw target.errored;
  if (target.write(text) === false && target instanceof Writable) await once(target, 'drain');
}
