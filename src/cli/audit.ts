/**
 * The command that verifies the audit log: `npm run audit -- verify [--seal <number>:<hash>]`, with the service's own configuration, beside a running
 * service or without one. Ends with 0 when all is as it was sealed, 1 at a mistake, 2 when it could not do its work.
 */
import { parseArgs } from 'node:util';
import { type AuditVerification, type NotedSeal, verifyAuditLog } from '../features/audit/audit-verification.service.ts';
import { command, onDatabase, print, runAsProgram } from './command.ts';
import { StartFailure } from './lifecycle.ts';

const USAGE = 'Usage: npm run audit -- verify [--seal <number>:<hash>]';

export const audit = command(2, async (terminal) => {
  const noted = readArguments(terminal.args);
  return onDatabase(
    terminal,
    async (ground) => {
      const verification = await verifyAuditLog(ground, noted);
      for (const line of linesOf(verification)) print(terminal.stdout, line);
      return verification.mistake === undefined ? 0 : 1;
    },
    true,
  );
});

/** @returns the seal that must be in the chain @throws {StartFailure} */
function readArguments(args: readonly string[]): NotedSeal | undefined {
  try {
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: { seal: { type: 'string' } } });
    const noted = /^(\d{1,15}):([\w-]{43})$/.exec(values.seal ?? '');
    if (positionals.join() === 'verify' && (values.seal === undefined || noted !== null)) {
      return noted === null ? undefined : { n: Number(noted[1]), hash: noted[2] ?? '' };
    }
  } catch {
    // An option that there is not.
  }
  throw new StartFailure(USAGE);
}

function* linesOf({ events, batches, unsealed, pseudonymised, head, removed, mistake }: AuditVerification): Generator<string> {
  yield `${events} events in ${batches} batches verified${head === undefined ? '' : `, sealed until ${head.sealed.toISOString()}`}.`;
  if (unsealed > 0) yield `${unsealed} events are not sealed yet.`;
  if (pseudonymised > 0) yield `${pseudonymised} events are pseudonymised: their users were deleted.`;
  if (removed !== undefined) yield `The batches up to ${removed.last}, with ${removed.events} events, were removed by settings/audit.`;
  if (head !== undefined && mistake === undefined) yield `The last seal, to be noted elsewhere: ${head.n}:${head.hash}`;
  yield mistake === undefined ? 'The audit log is as it was sealed.' : `MISTAKE: ${mistake}`;
}

runAsProgram(import.meta.url, audit);
