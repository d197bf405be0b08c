/**
 * The command that imports users: `npm run import -- users.ndjson [--refused refused.ndjson]`, with the service's own configuration, beside a
 * running service or without one. Ends with 0 when all lines were imported, 1 when some were not, 2 when it could not do its work.
 */
import type { WriteStream } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type Logger, pino } from 'pino';
import { type Config, loadConfig } from './config.ts';
import { bringUpToDate, connect, type Foundation, findDatabase, openKeyring } from './foundation.ts';
import { showProgress } from './import/progress.ts';
import { explain, OpenThings, StartFailure } from './lifecycle.ts';
import { createLog } from './log.ts';
import { SYSTEM } from './services/audit.ts';
import type { Services } from './services/dependencies.ts';
import { type ImportCounts, importUsers } from './services/user-import.ts';
import { isFirstStartDone } from './store/first-start.ts';
import { openNotifications } from './store/notifications.ts';

/** As many as the pool's connections allow, with some left over. */
const AT_A_TIME = 8;
const USAGE = 'Usage: npm run import -- <file.ndjson> [--refused <file.ndjson>]';

/** What came from the file must not steer the terminal. */
const printable = (reasons: string): string => reasons.replace(/\p{Cc}/gu, '\u{fffd}');

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const { file, refused } = readArguments();
  const config = loadConfig(process.env);
  const log = createLog({ level: config.logLevel }, pino.destination(2));
  const interrupted = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => interrupted.abort());

  const open = new OpenThings();
  try {
    const input = await openInput(file, open);
    const refusals = refused === undefined ? undefined : await openRefusals(refused, open, interrupted);
    const services = await openServices(config, log, open);
    const counts = await run(services, input, refusals, interrupted.signal);
    return counts.refused > 0 || interrupted.signal.aborted ? 1 : 0;
  } finally {
    await open.close();
  }
}

/** @throws {StartFailure} */
function readArguments(): { readonly file: string; readonly refused: string | undefined } {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { refused: { type: 'string' } } });
    const [file, ...others] = positionals;
    if (file !== undefined && others.length === 0) return { file, refused: values.refused };
  } catch {
    // An option that there is not.
  }
  throw new StartFailure(USAGE);
}

/** @throws {StartFailure} */
async function openInput(file: string, open: OpenThings): Promise<FileHandle> {
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
async function openRefusals(file: string, open: OpenThings, interrupted: AbortController): Promise<WriteStream> {
  const handle = await openFile(file, 'wx').catch((error: unknown) => cannotOpen(file, error));
  const stream = handle.createWriteStream();
  stream.on('error', () => interrupted.abort());
  open.add(() => finished(stream.end()));
  return stream;
}

function cannotOpen(file: string, error: unknown): never {
  throw new StartFailure(`${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
}

async function openServices(config: Config, log: Logger, open: OpenThings): Promise<Services> {
  const foundation: Foundation = await findDatabase(config, log, open, say);
  await bringUpToDate(foundation);
  const database = await connect(foundation.pooled, log);
  open.add(() => database.close());
  // It would take the login of the first administrator for its own.
  if (!(await isFirstStartDone(database.knex))) throw new StartFailure('Start the service once before importing users.');
  const notifications = await openNotifications(foundation.direct, log);
  open.add(() => notifications.close());
  return { config, log, database, notifications, keyring: await openKeyring(config) };
}

async function run(services: Services, input: FileHandle, refusals: WriteStream | undefined, signal: AbortSignal): Promise<ImportCounts> {
  const { size } = await input.stat();
  const progress = showProgress(process.stderr, size);
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
    tell(counts, (performance.now() - begun) / 1000, signal.aborted);
  }
}

function tell({ imported, refused, lastLine }: ImportCounts, seconds: number, stopped: boolean): void {
  if (stopped) process.stdout.write(`Stopped after line ${lastLine}; what follows it was not imported.\n`);
  const pace = Math.round(imported / Math.max(seconds, 0.001));
  process.stdout.write(`${imported} imported, ${refused} refused in ${seconds.toFixed(1)} s (${pace} users a second).\n`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(explain(error));
    process.exit(2);
  },
);
