/**
 * Runs bulk jobs in slices, in every process. A slice is an outbox entry: if a process dies, another one continues after the claim expires. Each row
 * is one transaction with its result, so no row runs twice.
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { findConsoleUser } from '../administrators/administrators.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import type { Carrier } from '../outbox/outbox.service.ts';
import { insertEntry } from '../outbox/outbox.store.ts';
import { countElsewhere } from '../users/names-elsewhere.service.ts';
import type { BulkJob, WaitingRow } from './bulk.resource.ts';
import { ACTIONS } from './bulk-actions.service.ts';
import { endJob, entryOf } from './bulk-jobs.service.ts';
import { findJob, moveJob, readWaiting, saveOutcome } from './bulk-jobs.store.ts';

/** Milliseconds of a slice. The remaining rows wait for the next slice, so that a process can stop in between. */
const SLICE = 3000;
/** Rows read at a time. */
const BATCH = 40;
/** Maximum concurrent rows: requests keep most connections of the pool. */
const AT_ONCE = 4;
const LONGEST_REASON = 500;

class RowTaken extends Error {}

/** Delivers slices of jobs. */
export function bulkJobs(services: Services): Carrier {
  return {
    mostAtOnce: 2,
    takenFor: 60,
    async deliver(payload) {
      const { jobId } = payload as { readonly jobId: string };
      const end = performance.now() + SLICE;
      const { knex } = services.database;
      for (;;) {
        // Read again for each batch: the job may be cancelled, and its administrator may lose the role or be deactivated.
        const job = await findJob(knex, jobId);
        if (job?.state !== 'RUNNING') return 'dropped';
        const request = await requestOf(services, job);
        if (request === undefined) return finish(services, job, 'CANCELLED', 'The administrator may not do this any more.');
        const rows = await readWaiting(knex, jobId, BATCH);
        if (rows.length === 0) return finish(services, job, 'DONE');
        await runAction(services, job, rows, request);
        if (performance.now() >= end) {
          await insertEntry(knex, entryOf(jobId, present()));
          return 'delivered';
        }
      }
    },
    givenUp: (payload) => ({
      eventType: 'system.bulk_action.end',
      displayMessage: 'End bulk action',
      targets: [{ id: (payload as { readonly jobId: string }).jobId, type: 'BulkAction', displayName: 'Bulk action' }],
    }),
    // Retried during an outage of the database. A job is deleted after seven days.
    pauseAfter: (attempts, age) => (age < 7 * 24 * 3600 ? Math.min(5 * attempts, 60) : undefined),
  };
}

/**
 * Request context of the job's creator with their current roles.
 * @returns undefined if these roles no longer suffice, or the creator is suspended or deactivated
 */
async function requestOf(services: Services, job: BulkJob): Promise<RequestContext | undefined> {
  const user = await findConsoleUser(services, job.createdBy);
  const isAllowed = user?.isActive === true && mayCall(user.roles, ACTIONS[job.action].access, 'write');
  return isAllowed ? { ...job.request, roles: user.roles } : undefined;
}

async function finish({ database }: Services, job: BulkJob, state: 'DONE' | 'CANCELLED', failure?: string): Promise<'delivered'> {
  await database.transaction(async (trx: Executor) => {
    if (!(await moveJob(trx, job.id, 'RUNNING', { state, finished: present() }))) return;
    await endJob(trx, job, failure === undefined ? { ...SYSTEM, ...job.request } : SYSTEM, failure);
  });
  return 'delivered';
}

/** @throws the database is not available: the remaining rows wait for the next attempt */
async function runAction(services: Services, job: BulkJob, rows: readonly WaitingRow[], request: RequestContext): Promise<void> {
  const waiting = rows.values();
  const work = async () => {
    for (const row of waiting) await runRow(services, job, row, request);
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function runRow(services: Services, job: BulkJob, { line, item }: WaitingRow, request: RequestContext): Promise<void> {
  try {
    await inOneTransaction(services, async (within, trx) => {
      if (!(await saveOutcome(trx, job.id, line, 'DONE'))) throw new RowTaken();
      await ACTIONS[job.action].run(within, item, job.parameters, request);
    });
  } catch (error) {
    if (error instanceof RowTaken) return;
    await countElsewhere(services, error);
    if (!(error instanceof ApiError)) {
      if (isUnavailable(error)) throw error;
      services.log.error({ err: error, job: job.id, line }, 'a row of a bulk action failed');
    }
    await saveOutcome(services.database.knex, job.id, line, 'REFUSED', reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'An unexpected error occurred. The log of the service has details.';
  return (error.causes.length > 0 ? error.causes.join('; ') : error.summary).slice(0, LONGEST_REASON);
}
