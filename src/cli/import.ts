/**
 * The command that imports users: `gatehouse import users.ndjson [--refused refused.ndjson]`, with the service's own configuration, beside a
 * running service or without one. Ends with 0 when all lines were imported, 1 when some were not, 2 when it could not do its work.
 */
import type { WriteStream } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { finished } from 'node:stream/promises';
import { SYSTEM } from '../features/audit/audit-event.policy.ts';
import { type ImportCounts, importUsers } from '../features/import/user-import.service.ts';
import { isFirstStartDone } from '../features/settings/first-start.store.ts';
import { loadConfig } from '../platform/config/config.ts';
import type { Services } from '../platform/database/dependencies.ts';
import { type CommandContext, command, type Output, onDatabase, print } from './command.ts';
import { OpenResources, StartFailure } from './lifecycle.ts';
import { showProgress } from './progress.ts';
import { hearChanges } from './startup.ts';

/** As many as the pool's connections allow, with some left over. */
const AT_A_TIME = 8;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** What came from the file must not steer the terminal. */
const printable = (reasons: string): string => reasons.replace(/\p{Cc}/gu, '\u{fffd}');

export const importCommand = command(2, async (terminal, { file, refused }: { readonly file: string; readonly refused?: string }) => {
  // What is wrong with the environment is told before a file is made.
  loadConfig(terminal.env);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of SIGNALS) process.on(signal, interrupt);

  const files = new OpenResources();
  try {
    const input = await openInput(file, files);
    const refusals = refused === undefined ? undefined : await openRefusals(refused, files, interrupted);
    return await onDatabase(terminal, async (ground) => {
      const counts = await run(await servicesOn(ground), { input, refusals, signal: interrupted.signal, ...terminal });
      return counts.refused > 0 || interrupted.signal.aborted ? 1 : 0;
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    await files.close();
  }
});

/** @throws {StartFailure} */
async function openInput(file: string, open: OpenResources): Promise<FileHandle> {
  const input = await openFile(file).catch((error: unknown) => cannotOpen(file, error));
  open.add(() => input.close());
  if ((await input.stat()).isDirectory()) throw new StartFailure(`${file} is a directory.`);
  return input;
}

/**
 * Holds neither passwords nor their hashes: lines are told by their numbers. A file that there is already is left as it is.
 * @param interrupted ends the import when nothing can be written any more
 * @throws {StartFailure}
 */
async function openRefusals(file: string, open: OpenResources, interrupted: AbortController): Promise<WriteStream> {
  const handle = await openFile(file, 'wx').catch((error: unknown) => cannotOpen(file, error));
  const stream = handle.createWriteStream();
  stream.on('error', () => interrupted.abort());
  open.add(() => finished(stream.end()));
  return stream;
}

function cannotOpen(file: string, error: unknown): never {
  throw new StartFailure(`${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
}

async function servicesOn(ground: CommandContext): Promise<Services> {
  // It would take the login of the first administrator for its own.
  if (!(await isFirstStartDone(ground.database.knex))) throw new StartFailure('Start the service once before importing users.');
  const notifications = await hearChanges(ground, ground.database);
  ground.open.add(() => notifications.close());
  return { ...ground, notifications };
}

interface Import {
  readonly input: FileHandle;
  readonly refusals: WriteStream | undefined;
  readonly signal: AbortSignal;
  readonly stdout: Output;
  readonly stderr: Output;
}

async function run(services: Services, { input, refusals, signal, stdout, stderr }: Import): Promise<ImportCounts> {
  const { size } = await input.stat();
  const progress = showProgress(stderr, size);
  const begun = performance.now();
  const lines = createInterface({ input: input.createReadStream({ autoClose: false }), crlfDelay: Number.POSITIVE_INFINITY, signal });
  let counts: ImportCounts = { imported: 0, refused: 0, lastLine: 0 };
  let done = 0;
  try {
    counts = await importUsers(services, lines, SYSTEM, {
      concurrency: AT_A_TIME,
      signal,
      onRefused(refused) {
        if (refusals === undefined) progress.say(`Line ${refused.line} is refused: ${printable(refused.reasons.join('; '))}`);
        else refusals.write(`${JSON.stringify(refused)}\n`);
      },
      onLine(latest, bytes) {
        counts = { ...latest };
        done += bytes;
        progress.update(counts, done);
      },
    });
    return counts;
  } finally {
    progress.stop();
    for (const line of linesOf(counts, (performance.now() - begun) / 1000, signal.aborted)) print(stdout, line);
  }
}

function* linesOf({ imported, refused, lastLine }: ImportCounts, seconds: number, stopped: boolean): Generator<string> {
  if (stopped) yield `Stopped after line ${lastLine}; what follows it was not imported.`;
  const pace = Math.round(imported / Math.max(seconds, 0.001));
  yield `${imported} imported, ${refused} refused in ${seconds.toFixed(1)} s (${pace} users a second).`;
}
