/** Bulk jobs and their rows. The only SQL on those tables. */
import type { Knex } from 'knex';
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { BulkJob, BulkRow, RowCounts, WaitingRow } from './bulk.resource.ts';

const JOB: Columns<BulkJob> = {
  id: 'id',
  action: 'action',
  parameters: 'parameters',
  state: 'state',
  createdBy: 'created_by',
  request: 'request',
  total: 'total',
  created: 'created',
  started: 'started',
  finished: 'finished',
  expiresAt: 'expires_at',
};

export async function insertJob(trx: Executor, job: BulkJob): Promise<void> {
  const { parameters, request, ...rest } = job;
  await trx('bulk_jobs').insert({ ...toRow(JOB, rest), parameters: JSON.stringify(parameters), request: JSON.stringify(request) });
}

/** @param first line number of the first row */
export async function insertRows(
  trx: Executor,
  jobId: string,
  first: number,
  rows: readonly { readonly name: string; readonly item: unknown }[],
): Promise<void> {
  await trx.raw(
    `INSERT INTO bulk_job_rows (job_id, line, name, item)
     SELECT ?, ? + place - 1, value->>'name', value->'item' FROM jsonb_array_elements(?::jsonb) WITH ORDINALITY AS rows (value, place)`,
    [jobId, first, JSON.stringify(rows)],
  );
}

/**
 * Adds the selected users as rows.
 * @param users query for rows of `users`, without columns
 * @param ids only these users; undefined: all
 * @param most maximum number of rows
 * @returns the number of users; if it exceeds `most`, no row is written
 */
export async function insertUserRows(
  trx: Executor,
  jobId: string,
  users: Knex.QueryBuilder,
  ids: readonly string[] | undefined,
  most: number,
): Promise<number> {
  if (ids !== undefined) users.whereIn('users.id', [...ids]);
  const counted = await users.clone().count<{ count: number }[]>({ count: '*' }).first();
  const count = counted?.count ?? 0;
  if (count > most) return count;
  const rows = users.select(
    trx.raw('?::text', [jobId]),
    trx.raw('row_number() OVER (ORDER BY users.seq)'),
    'users.login',
    trx.raw("jsonb_build_object('id', users.id)"),
  );
  const written = await trx.raw<{ rowCount: number }>('INSERT INTO bulk_job_rows (job_id, line, name, item) ?', [rows]);
  return written.rowCount;
}

export const findJob = (executor: Executor, id: string): Promise<BulkJob | undefined> =>
  executor('bulk_jobs').where({ id }).first<BulkJob | undefined>(JOB);

/** @param createdBy only this user's jobs; undefined: all */
export const readJobs = (executor: Executor, createdBy: string | undefined, window: Window): Promise<Page<BulkJob>> =>
  readPage<BulkJob>(createdBy === undefined ? executor('bulk_jobs') : executor('bulk_jobs').where({ created_by: createdBy }), JOB, window, {
    descending: true,
  });

/** Changes the state if it is the expected one. @returns whether it was */
export async function moveJob(trx: Executor, id: string, from: BulkJob['state'], changes: Partial<BulkJob>): Promise<boolean> {
  const { parameters, request, ...rest } = changes;
  const json = { ...(parameters && { parameters: JSON.stringify(parameters) }), ...(request && { request: JSON.stringify(request) }) };
  return (
    (await trx('bulk_jobs')
      .where({ id, state: from })
      .update({ ...toRow(JOB, rest), ...json })) === 1
  );
}

export async function countRows(executor: Executor, jobId: string): Promise<RowCounts> {
  const rows: { outcome: 'DONE' | 'REFUSED' | null; count: number }[] = await executor('bulk_job_rows')
    .where({ job_id: jobId })
    .groupBy('outcome')
    .select('outcome')
    .count({ count: '*' });
  const of = (outcome: string | null) => rows.find((row) => row.outcome === outcome)?.count ?? 0;
  return { done: of('DONE'), refused: of('REFUSED'), waiting: of(null) };
}

/** @param after line number before the first row */
export const readRows = (
  executor: Executor,
  jobId: string,
  { after, limit, outcome }: { readonly after: number; readonly limit: number; readonly outcome?: 'REFUSED' },
): Promise<BulkRow[]> =>
  executor('bulk_job_rows')
    .where({ job_id: jobId, ...(outcome !== undefined && { outcome }) })
    .where('line', '>', after)
    .orderBy('line')
    .limit(limit)
    .select('line', 'name', 'outcome', 'reason');

/** @returns the first rows without an outcome */
export const readWaiting = (executor: Executor, jobId: string, limit: number): Promise<WaitingRow[]> =>
  executor('bulk_job_rows').where({ job_id: jobId }).whereNull('outcome').orderBy('line').limit(limit).select('line', 'name', 'item');

/**
 * Stores the outcome of a row; of several processes, one succeeds. The row's content is deleted, because it may be personal.
 * @returns false: the row already has an outcome
 */
export async function saveOutcome(
  trx: Executor,
  jobId: string,
  line: number,
  outcome: 'DONE' | 'REFUSED',
  reason: string | null = null,
): Promise<boolean> {
  const changes = { outcome, reason, item: '{}' };
  return (await trx('bulk_job_rows').where({ job_id: jobId, line }).whereNull('outcome').update(changes)) === 1;
}

/** @returns the number of jobs deleted, at most `limit` */
export async function deleteExpiredJobs(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('bulk_jobs').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('bulk_jobs').whereIn('id', expired).delete();
}
