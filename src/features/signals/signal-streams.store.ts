/** Signal streams. The only SQL on that table but for the statement that writes an event (signal-sets.store.ts). Authorization headers are stored sealed. */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { SIGNAL } from './signal-sets.store.ts';
import type { SignalStream } from './signal-streams.resource.ts';

const STREAM: Columns<SignalStream> = {
  id: 'id',
  applicationId: 'application_id',
  description: 'description',
  status: 'status',
  statusReason: 'status_reason',
  method: 'method',
  endpointUrl: 'endpoint_url',
  authorization: 'authorization_sealed',
  eventsRequested: 'events_requested',
  events: 'events',
  sources: 'sources',
  removedAtMost: 'removed_at_most',
  lastVerification: 'last_verification',
  lastDelivered: 'last_delivered',
  lastFailed: 'last_failed',
  lastError: 'last_error',
  created: 'created',
  lastUpdated: 'last_updated',
};

export async function insertSignalStream(trx: Executor, stream: SignalStream): Promise<void> {
  await trx('signal_streams').insert(toRow(STREAM, stream));
}

export async function updateSignalStreamRow(executor: Executor, id: string, changes: Partial<SignalStream>): Promise<void> {
  await executor('signal_streams').where({ id }).update(toRow<SignalStream>(STREAM, changes));
}

export async function deleteSignalStreamRow(trx: Executor, id: string): Promise<void> {
  await trx('signal_streams').where({ id }).delete();
}

export async function findSignalStream(executor: Executor, id: string): Promise<SignalStream | undefined> {
  return executor('signal_streams').where({ id }).first<SignalStream | undefined>(STREAM);
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockSignalStream(trx: Executor, id: string): Promise<SignalStream | undefined> {
  return trx('signal_streams').where({ id }).forUpdate().first<SignalStream | undefined>(STREAM);
}

const APPLICATION = '(SELECT label FROM applications a WHERE a.id = signal_streams.application_id)';
const SEARCHED = ['description', APPLICATION, 'application_id', 'endpoint_url'];

/** Oldest first. Streams can be sorted by `application`, and are found by words, also of the application. @param applicationId absent: all */
export function selectSignalStreams(executor: Executor, window: Window, applicationId?: string): Promise<Page<SignalStream>> {
  const query = executor('signal_streams');
  if (applicationId !== undefined) query.where({ application_id: applicationId });
  return readPage<SignalStream>(query, STREAM, window, {
    orders: { application: executor.raw(APPLICATION) },
    search: (streams, typed) => applyWords(streams, SEARCHED, typed, 'id'),
  });
}

/** Locks the application's row until the end of the transaction, so that concurrent additions of streams count each other. */
export async function countSignalStreams(trx: Executor, applicationId: string): Promise<number> {
  await trx('applications').where({ id: applicationId }).forUpdate().select('id');
  const [row] = await trx('signal_streams').where({ application_id: applicationId }).count<{ count: string }[]>({ count: 'id' });
  return Number(row?.count ?? 0);
}

/**
 * Are events stored for this stream? Locks it, so that the result is valid until the end of the transaction.
 * @param evenDisabled also for a disabled stream?
 */
export async function isPolled(trx: Executor, id: string, evenDisabled: boolean): Promise<boolean> {
  const query = trx('signal_streams').where({ id, method: 'POLL' });
  if (!evenDisabled) query.whereNot({ status: 'DISABLED' });
  return (await query.forShare().first('id')) !== undefined;
}

// The users that receivers removed from their streams. All SQL for this table is here.

const TABLE = 'removed_signal_subjects';

/** @returns whether it changed anything */
export async function insertRemovedSubject(trx: Executor, streamId: string, userId: string, removed: Date): Promise<boolean> {
  const rows = await trx(TABLE).insert({ stream_id: streamId, user_id: userId, removed }).onConflict().ignore().returning('user_id');
  return rows.length > 0;
}

/** @returns whether it changed anything */
export async function deleteRemovedSubject(trx: Executor, streamId: string, userId: string): Promise<boolean> {
  return (await trx(TABLE).where({ stream_id: streamId, user_id: userId }).delete()) > 0;
}

export async function countRemovedSubjects(executor: Executor, streamId: string): Promise<number> {
  const [row] = await executor(TABLE).where({ stream_id: streamId }).count<{ count: string }[]>({ count: 'user_id' });
  return Number(row?.count ?? 0);
}

/** @returns the given users that the receiver has removed */
export async function findRemovedSubjects(executor: Executor, streamId: string, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await executor(TABLE)
    .where({ stream_id: streamId })
    .whereRaw('user_id = ANY(?)', [[...userIds]])
    .select<{ user_id: string }[]>('user_id');
  return new Set(rows.map(({ user_id }) => user_id));
}

// While an event about the user waits, the row is needed so that the event is not sent.
const GONE = `DELETE FROM ${TABLE} WHERE (stream_id, user_id) IN (
    SELECT stream_id, user_id FROM ${TABLE} r WHERE NOT EXISTS (SELECT FROM users WHERE id = r.user_id)
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = '${SIGNAL}' AND o.ordering_key = r.stream_id AND o.object_key = r.user_id)
    LIMIT :limit FOR UPDATE SKIP LOCKED)`;

/** Deletes entries of deleted users. @returns their number */
export async function deleteOrphanedSubjects(executor: Executor, limit: number): Promise<number> {
  return (await executor.raw<{ rowCount: number }>(GONE, { limit })).rowCount;
}
