/**
 * The command that exports users: `gatehouse export users`, with the service's configuration, with or without the service running. Exit code 0 if all
 * users were written, 2 on failure.
 */
import { once } from 'node:events';
import { open as openFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { SYSTEM } from '../features/audit/audit-event.policy.ts';
import { type PortableOptions, portableUsers } from '../features/import/portable-users.service.ts';
import { isFirstStartDone } from '../features/settings/settings.store.ts';
import { command, onDatabase } from './command.ts';
import { StartFailure } from './lifecycle.ts';
import { listenForChanges } from './startup.ts';
import type { Output } from './terminal.ts';

export interface ExportArguments extends PortableOptions {
  /** Absent: standard output. */
  readonly output?: string;
}

export const exportUsersCommand = command(2, async (terminal, { output, ...options }: ExportArguments) => {
  return onDatabase(terminal, async (context) => {
    if (!(await isFirstStartDone(context.database.knex)))
      throw new StartFailure('The service has not been started yet. Start it once, then export users.');
    const notifications = await listenForChanges(context, context.database);
    context.open.add(() => notifications.close());
    const target = output === undefined ? terminal.stdout : await newFile(output);
    for await (const piece of portableUsers({ ...context, notifications }, options, SYSTEM)) await write(target, piece);
    if (output !== undefined && target instanceof Writable) await finished(target.end());
    return 0;
  });
});

/** Readable by its owner only; existing files are not overwritten. @throws {StartFailure} */
async function newFile(file: string): Promise<Writable> {
  const handle = await openFile(file, 'wx', 0o600).catch((error: unknown) => {
    throw new StartFailure(`${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
  });
  // A failed write is reported by the next write.
  return handle.createWriteStream().on('error', () => undefined);
}

/** Waits while the reader is slower. */
async function write(target: Output, text: string): Promise<void> {
  if (target instanceof Writable && target.errored) throw target.errored;
  if (target.write(text) === false && target instanceof Writable) await once(target, 'drain');
}
