/** Operations on bulk jobs: draft one from a list or a file, confirm, read and cancel. bulk-runner.service.ts executes the rows. */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { forbidden, notFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { insertEntry } from '../outbox/outbox.store.ts';
import { matchingUsers, type UserQuery } from '../users/user-lists.service.ts';
import {
  type BulkActionName,
  type BulkItem,
  type BulkJob,
  type BulkParameters,
  type BulkRow,
  MOST_ROWS,
  type RowCounts,
} from './bulk.resource.ts';
import { ACTIONS } from './bulk-actions.service.ts';
import { countRows, findJob, insertJob, insertRows, insertUserRows, moveJob, readJobs, readRows, readWaiting } from './bulk-jobs.store.ts';

/** `outbox.kind` of running jobs. */
export const BULK_JOB = 'bulk-job';

const KEPT_MS = 7 * 24 * 3600 * 1000;
/** Maximum rows per statement. */
const BATCH = 1000;

const TOO_MANY = `A bulk action takes at most ${MOST_ROWS.toLocaleString('en')} rows. Narrow the list or split the file.`;

/** Can the caller start this action? Each row is checked again. */
export const mayStart = (action: BulkActionName, { roles = [] }: RequestContext): boolean =>
  mayCall(roles, ACTIONS[action].access, 'write');

async function insertDraft(trx: Executor, action: BulkActionName, request: RequestContext): Promise<BulkJob> {
  if (!mayStart(action, request)) throw forbidden();
  const { actor, ipAddress, userAgent, requestId, isForwarded = false } = request;
  const created = present();
  const job: BulkJob = {
    id: newId('job'),
    action,
    parameters: {},
    state: 'DRAFT',
    createdBy: actor.id,
    request: { actor, ...(ipAddress && { ipAddress }), ...(userAgent && { userAgent }), ...(requestId && { requestId }), isForwarded },
    total: 0,
    created,
    started: null,
    finished: null,
    expiresAt: new Date(created.getTime() + KEPT_MS),
  };
  await insertJob(trx, job);
  return job;
}

async function setTotal(trx: Executor, id: string, total: number): Promise<void> {
  if (total === 0) throw validation([{ field: 'chosen', message: 'Select at least one row.' }]);
  if (total > MOST_ROWS) throw validation([{ field: 'chosen', message: TOO_MANY }]);
  await moveJob(trx, id, 'DRAFT', { total });
}

/**
 * Drafts an action on users: on the selected users of a list, or on the whole list. Nothing is changed before `startJob`.
 * @param ids undefined: all users of the list
 * @throws {ApiError} validation: no users, or too many; forbidden
 */
export const draftForUsers = (
  services: Services,
  action: BulkActionName,
  { query, ids }: { readonly query: UserQuery; readonly ids: readonly string[] | undefined },
  request: RequestContext,
): Promise<BulkJob> =>
  services.database.transaction(async (trx) => {
    const job = await insertDraft(trx, action, request);
    const { users } = await matchingUsers(services, trx, query, request);
    await setTotal(trx, job.id, await insertUserRows(trx, job.id, users, ids, MOST_ROWS));
    return job;
  });

interface NewRow {
  readonly name: string;
  readonly item: unknown;
}

/** Drafts an action on rows that can be read only once. @throws {ApiError} as `draftForUsers`; errors of reading the rows */
export const draftForRows = (
  { database }: Services,
  action: BulkActionName,
  rows: AsyncIterable<NewRow> | Iterable<NewRow>,
  request: RequestContext,
): Promise<BulkJob> =>
  database.transaction(
    async (trx) => {
      const job = await insertDraft(trx, action, request);
      let total = 0;
      let batch: NewRow[] = [];
      const write = async () => {
        await insertRows(trx, job.id, total + 1, batch);
        total += batch.length;
        batch = [];
      };
      for await (const row of rows) {
        batch.push(row);
        if (total + batch.length > MOST_ROWS) break;
        if (batch.length === BATCH) await write();
      }
      const all = total + batch.length;
      if (all <= MOST_ROWS) await write();
      await setTotal(trx, job.id, all);
      return job;
      // The transaction is not repeated, because the rows can be read only once.
    },
    { repeatable: false },
  );

/** The caller's jobs; administrators who can read the whole service see all jobs. Newest first. */
export const listJobs = ({ database }: Services, window: Window, request: RequestContext): Promise<Page<BulkJob>> =>
  readJobs(database.knex, seesAll(request) ? undefined : request.actor.id, window);

const seesAll = ({ roles = [] }: RequestContext): boolean => mayCall(roles, 'service', 'read');

async function requireJob(executor: Executor, id: string, request: RequestContext): Promise<BulkJob> {
  const job = await findJob(executor, id);
  if (job === undefined || (job.createdBy !== request.actor.id && !seesAll(request))) throw notFound(id, 'Bulk action');
  return job;
}

/** @throws {ApiError} not found */
export async function getJob({ database }: Services, id: string, request: RequestContext): Promise<BulkJob & { readonly rows: RowCounts }> {
  const job = await requireJob(database.knex, id, request);
  return { ...job, rows: await countRows(database.knex, id) };
}

/** The rows of a job, in batches. @param outcome REFUSED: only refused rows; undefined: all @throws {ApiError} not found */
export async function* jobRows(
  { database }: Services,
  id: string,
  outcome: 'REFUSED' | undefined,
  request: RequestContext,
): AsyncGenerator<readonly BulkRow[]> {
  await requireJob(database.knex, id, request);
  for (let after = 0; ; ) {
    const rows = await readRows(database.knex, id, { after, limit: BATCH, ...(outcome && { outcome }) });
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.line ?? after;
  }
}

/** The first unprocessed rows of a job. */
export const firstItems = async ({ database }: Services, { id }: BulkJob, most: number): Promise<readonly BulkItem[]> =>
  (await readWaiting(database.knex, id, most)).map(({ item }) => item as BulkItem);

const target = ({ id, action }: BulkJob) => ({ id, type: 'BulkAction', displayName: action });

/** Confirms a draft. Only its creator can do so. @throws {ApiError} not found, forbidden; wrong state: it was confirmed before */
export async function startJob({ database }: Services, id: string, parameters: BulkParameters, request: RequestContext): Promise<void> {
  await database.transaction(async (trx) => {
    const job = await requireJob(trx, id, request);
    if (job.createdBy !== request.actor.id || !mayStart(job.action, request)) throw forbidden();
    const started = present();
    if (!(await moveJob(trx, id, 'DRAFT', { state: 'RUNNING', started, parameters })))
      throw wrongState('this bulk action was already started');
    await insertEntry(trx, entryOf(id, started));
    await recordEvent(trx, {
      eventType: 'system.bulk_action.start',
      displayMessage: 'Start bulk action',
      request,
      targets: [target(job)],
      after: { action: job.action, total: job.total, parameters },
    });
  });
}

/** Outbox entry that continues a job. */
export const entryOf = (jobId: string, created: Date) => ({
  kind: BULK_JOB,
  orderingKey: jobId,
  objectKey: jobId,
  payload: { jobId },
  created,
});

/**
 * Stops a job; completed rows are not undone. Requires the permission to start it.
 * @throws {ApiError} not found, forbidden; wrong state: it is not running
 */
export async function cancelJob({ database }: Services, id: string, request: RequestContext): Promise<void> {
  await database.transaction(async (trx) => {
    const job = await requireJob(trx, id, request);
    if (!mayStart(job.action, request)) throw forbidden();
    if (!(await moveJob(trx, id, 'RUNNING', { state: 'CANCELLED', finished: present() })))
      throw wrongState('this bulk action is not running');
    await endJob(trx, job, request, 'CANCELLED');
  });
}

/** Records the end of a job with the number of rows by outcome. @param failure reason for an early end */
export async function endJob(trx: Executor, job: BulkJob, request: RequestContext, failure?: string): Promise<void> {
  await recordEvent(trx, {
    eventType: 'system.bulk_action.end',
    displayMessage: 'End bulk action',
    request,
    targets: [target(job)],
    after: { action: job.action, ...(await countRows(trx, job.id)) },
    ...(failure !== undefined && { failure }),
  });
}
