/**
 * The command that verifies the audit log: `gatehouse audit verify [--seal <number>:<hash>]`, with the service's configuration, with or without the
 * service running. Exit code 0 if the log is unchanged since it was sealed, 1 if it is not, 2 on failure.
 */
import { type AuditVerification, type ExternalSeal, verifyAuditLog } from '../features/audit/audit-verification.service.ts';
import { command, onDatabase } from './command.ts';
import { print } from './terminal.ts';

export const audit = command(2, async (terminal, { seal: noted }: { readonly seal?: ExternalSeal } = {}) => {
  return onDatabase(
    terminal,
    async (context) => {
      const verification = await verifyAuditLog(context, noted);
      for (const line of linesOf(verification)) print(terminal.stdout, line);
      return verification.mistake === undefined ? 0 : 1;
    },
    true,
  );
});

function* linesOf({ events, batches, unsealed, pseudonymised, head, removed, mistake }: AuditVerification): Generator<string> {
  yield `${events} events in ${batches} batches verified${head === undefined ? '' : `, sealed until ${head.sealed.toISOString()}`}.`;
  if (unsealed > 0) yield `${unsealed} events are not sealed yet.`;
  if (pseudonymised > 0) yield `${pseudonymised} events are pseudonymised: their users were deleted.`;
  if (removed !== undefined)
    yield `Batches 1 to ${removed.last} with ${removed.events} events were removed because their retention period (settings/audit) ended.`;
  if (head !== undefined && mistake === undefined) yield `Last seal, to keep in another place: ${head.n}:${head.hash}`;
  yield mistake === undefined ? 'The audit log is unchanged.' : `CHANGED: ${mistake}`;
}
