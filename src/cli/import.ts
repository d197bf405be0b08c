/**
 * The command that imports users: `gatehouse import [format] <file>`, with the service's configuration, with or without the service running. Exit
 * code 0 if every user was imported or existed before, 1 if some were refused, 2 on failure.
 */

import type { WriteStream } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { MultiBar } from 'cli-progress';
import { SYSTEM } from '../features/audit/audit-event.policy.ts';
import { IMPORT_FORMATS, type ImportFormat } from '../features/import/formats.service.ts';
import { UnreadableSource } from '../features/import/import-source.service.ts';
import { type ImportCounts, importItems } from '../features/import/imports.service.ts';
import type { ImportRefusal } from '../features/import/user-batches.service.ts';
import { isFirstStartDone } from '../features/settings/settings.store.ts';
import { loadConfig } from '../platform/config/config.ts';
import type { Services } from '../platform/database/dependencies.ts';
import { type CommandContext, command, onDatabase } from './command.ts';
import { OpenResources, StartFailure } from './lifecycle.ts';
import { listenForChanges } from './startup.ts';
import { type Output, print } from './terminal.ts';

// Progress of an import: a bar on a terminal, otherwise a line every few seconds. Written to standard error, apart from the result.

export interface ProgressBar {
  /** @param bytes of the file that have been read */
  update(counts: Pick<ImportCounts, 'imported' | 'refused'>, bytes: number): void;
  /** Prints a line without disturbing the progress bar. */
  say(line: string): void;
  stop(): void;
}

const EVERY = 5000;

/** @param size of the file in bytes; 0 if unknown, as for a pipe */
export const showProgress = (output: Output, size: number): ProgressBar =>
  output.isTTY === true ? onTerminal(output as NodeJS.WriteStream, size) : inLines(output, size);

function onTerminal(stream: NodeJS.WriteStream, size: number): ProgressBar {
  const bars = new MultiBar({
    stream,
    format: '{bar} {percentage} % | {imported} imported, {refused} refused | {duration_formatted}, {eta_formatted} to go',
    gracefulExit: false,
    hideCursor: true,
  });
  const bar = bars.create(size, 0, { imported: 0, refused: 0 });
  return {
    update: ({ imported, refused }, bytes) => bar.update(bytes, { imported, refused }),
    say: (line) => bars.log(`${line}\n`),
    stop() {
      // Print lines that were logged since the last redraw.
      bars.update();
      bars.stop();
    },
  };
}

function inLines(output: Output, size: number): ProgressBar {
  let latest = '';
  const say = (line: string) => print(output, line);
  const timer = setInterval(() => latest !== '' && say(latest), EVERY);
  return {
    update({ imported, refused }, bytes) {
      const share = size === 0 ? '' : ` (${Math.floor((100 * bytes) / size)} %)`;
      latest = `${imported} imported, ${refused} refused${share}`;
    },
    say,
    stop: () => clearInterval(timer),
  };
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Data from the file must not contain terminal control characters. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\u{fffd}');

export interface ImportArguments {
  /** One of IMPORT_FORMATS. */
  readonly format: string;
  readonly file: string;
  readonly refused?: string;
  readonly dryRun?: boolean;
  /** The file with the passwords of an export from Auth0. */
  readonly passwords?: string;
}

export const importCommand = command(2, async (terminal, { format: name, file, refused, dryRun = false, passwords }: ImportArguments) => {
  // Report configuration errors before any file is created.
  loadConfig(terminal.env);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of SIGNALS) process.on(signal, interrupt);

  const files = new OpenResources();
  try {
    const format = formatNamed(name);
    if (passwords !== undefined && format.takesPasswords !== true) throw new StartFailure('--passwords works only with the format auth0.');
    const input = await openInput(file, files);
    const secrets = passwords === undefined ? undefined : await openInput(passwords, files);
    const refusals = refused === undefined ? undefined : await openRefusals(refused, files, interrupted);
    return await onDatabase(terminal, async (context) => {
      const work = { format, input, secrets, refusals, dryRun, signal: interrupted.signal };
      const counts = await run(await servicesOn(context), { ...work, ...terminal });
      return counts.refused > 0 || interrupted.signal.aborted ? 1 : 0;
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    await files.close();
  }
});

/** @throws {StartFailure} */
function formatNamed(name: string): ImportFormat {
  const format = IMPORT_FORMATS[name];
  if (format === undefined) throw new StartFailure(`Unknown format ${name}. Use one of ${Object.keys(IMPORT_FORMATS).join(', ')}.`);
  return format;
}

/** @throws {StartFailure} */
async function openInput(file: string, open: OpenResources): Promise<FileHandle> {
  const input = await openFile(file).catch((error: unknown) => cannotOpen(file, error));
  open.add(() => input.close());
  if ((await input.stat()).isDirectory()) throw new StartFailure(`${file} is a directory. Name a file.`);
  return input;
}

/**
 * Contains neither passwords nor hashes: records are identified by line number. Never overwrites an existing file.
 * @param interrupted ends the import when writing fails
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

async function servicesOn(context: CommandContext): Promise<Services> {
  // It would take the user name of the first administrator.
  if (!(await isFirstStartDone(context.database.knex)))
    throw new StartFailure('The service has not been started yet. Start it once, then import users.');
  const notifications = await listenForChanges(context, context.database);
  context.open.add(() => notifications.close());
  return { ...context, notifications };
}

interface Import {
  readonly format: ImportFormat;
  readonly input: FileHandle;
  readonly secrets: FileHandle | undefined;
  readonly refusals: WriteStream | undefined;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly stdout: Output;
  readonly stderr: Output;
}

async function run(
  services: Services,
  { format, input, secrets, refusals, dryRun, signal, stdout, stderr }: Import,
): Promise<ImportCounts> {
  const { size } = await input.stat();
  const progress = showProgress(stderr, size);
  const begun = performance.now();
  let counts: ImportCounts | undefined;
  let read = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of input.createReadStream({ autoClose: false })) {
      read += chunk.length;
      yield chunk;
    }
  }
  try {
    const context = { services, passwords: secrets?.createReadStream({ autoClose: false }) };
    counts = await importItems(services, format.read(chunks(), context), SYSTEM, {
      isDryRun: dryRun,
      isComplete: format.isComplete,
      signal,
      onRefused: (refusal) => reportRefusal(refusal, progress, refusals),
      onObject: (kind, state, name) => {
        if (dryRun) print(stdout, `${state === 'created' ? 'create' : 'leave '} ${NOUNS[kind]} ${printable(name)}`);
      },
      onNote: (message) => progress.say(printable(message)),
      onProgress(latest) {
        counts = { ...latest };
        progress.update(latest, read);
      },
    });
    return counts;
  } catch (error) {
    throw error instanceof UnreadableSource ? new StartFailure(error.message) : error;
  } finally {
    progress.stop();
    if (counts !== undefined)
      for (const line of linesOf(counts, { dryRun, seconds: (performance.now() - begun) / 1000, stopped: signal.aborted }))
        print(stdout, line);
  }
}

function reportRefusal({ place, reasons }: ImportRefusal, progress: ProgressBar, refusals: WriteStream | undefined): void {
  if (refusals !== undefined) refusals.write(`${JSON.stringify({ ...place, reasons })}\n`);
  else progress.say(printable(`${'line' in place ? `Line ${place.line}` : place.entry} is refused: ${reasons.join('; ')}`));
}

const NOUNS = { organization: 'organization', group: 'group', application: 'application', provider: 'identity provider' } as const;

interface Ending {
  readonly dryRun: boolean;
  readonly seconds: number;
  readonly stopped: boolean;
}

function* linesOf(
  { imported, refused, existing, lastLine, left, things }: ImportCounts,
  { dryRun, seconds, stopped }: Ending,
): Generator<string> {
  if (stopped) yield `Stopped after line ${lastLine}. The lines after it were not imported.`;
  const made = Object.entries(things).filter(([, { created, existing: there }]) => created + there > 0);
  if (made.length > 0) {
    const counted = made.map(([kind, counts]) => `${counts.created} ${NOUNS[kind as keyof typeof NOUNS]}s`).join(', ');
    yield `${counted} ${dryRun ? 'would be created' : 'created'}; ${made.reduce((sum, [, one]) => sum + one.existing, 0)} existed already.`;
  }
  const there = existing === 0 ? '' : `, ${existing} existed already`;
  if (dryRun) yield `${imported} users would be imported, ${refused} refused${there}. Nothing was written.`;
  else {
    const pace = Math.round(imported / Math.max(seconds, 0.001));
    yield `${imported} imported, ${refused} refused${there} in ${seconds.toFixed(1)} s (${pace} users a second).`;
    const isNothingNew = imported === 0 && refused === 0 && existing > 0 && made.every(([, { created }]) => created === 0);
    if (isNothingNew) yield 'Nothing changed: everything existed already.';
  }
  if (left.size > 0) yield 'Not imported:';
  for (const [what, { count, instead }] of left) yield `- ${what}: ${count}. ${instead}.`;
}
