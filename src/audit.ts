/**
 * The command that verifies the audit log: `npm run audit -- verify [--seal <number>:<hash>]`, with the service's own configuration, beside a running
 * service or without one. Ends with 0 when all is as it was sealed, 1 at a mistake, 2 when it could not do its work.
 */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { loadConfig } from './config.ts';
import { bringUpToDate, connect, findDatabase, openKeyring } from './foundation.ts';
import { explain, OpenThings, StartFailure } from './lifecycle.ts';
import { createLog } from './log.ts';
import { type NotedSeal, type Verification, verifyAuditLog } from './services/audit-verification.ts';

const USAGE = 'Usage: npm run audit -- verify [--seal <number>:<hash>]';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const noted = readArguments();
  const config = loadConfig(process.env);
  const log = createLog({ level: config.logLevel }, pino.destination(2));
  const open = new OpenThings();
  try {
    const foundation = await findDatabase(config, log, open, say);
    await bringUpToDate(foundation);
    const database = await connect(foundation.pooled, log, true);
    open.add(() => database.close());
    const verification = await verifyAuditLog({ database, keyring: await openKeyring(config) }, noted);
    tellOf(verification);
    return verification.mistake === undefined ? 0 : 1;
  } finally {
    await open.close();
  }
}

/** @returns the seal that must be in the chain @throws {StartFailure} */
function readArguments(): NotedSeal | undefined {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { seal: { type: 'string' } } });
    const noted = /^(\d{1,15}):([\w-]{43})$/.exec(values.seal ?? '');
    if (positionals.join() === 'verify' && (values.seal === undefined || noted !== null)) {
      return noted === null ? undefined : { n: Number(noted[1]), hash: noted[2] ?? '' };
    }
  } catch {
    // An option that there is not.
  }
  throw new StartFailure(USAGE);
}

function tellOf({ events, batches, unsealed, pseudonymised, head, removed, mistake }: Verification): void {
  tell(`${events} events in ${batches} batches verified${head === undefined ? '' : `, sealed until ${head.sealed.toISOString()}`}.`);
  if (unsealed > 0) tell(`${unsealed} events are not sealed yet.`);
  if (pseudonymised > 0) tell(`${pseudonymised} events are pseudonymised: their users were deleted.`);
  if (removed !== undefined) tell(`The batches up to ${removed.last}, with ${removed.events} events, were removed by settings/audit.`);
  if (head !== undefined && mistake === undefined) tell(`The last seal, to be noted elsewhere: ${head.n}:${head.hash}`);
  tell(mistake === undefined ? 'The audit log is as it was sealed.' : `MISTAKE: ${mistake}`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(explain(error));
    process.exit(2);
  },
);
