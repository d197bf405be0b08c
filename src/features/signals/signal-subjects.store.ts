/** The users that receivers removed from their streams. All SQL for this table is here. */
import type { Executor } from '../../platform/database/database.ts';
import { SIGNAL } from './signal-queue.store.ts';

const TABLE = 'removed_signal_subjects';

/** @returns has it changed? */
export async function insertRemovedSubject(trx: Executor, streamId: string, userId: string, removed: Date): Promise<boolean> {
  const rows = await trx(TABLE).insert({ stream_id: streamId, user_id: userId, removed }).onConflict().ignore().returning('user_id');
  return rows.length > 0;
}

/** @returns has it changed? */
export async function deleteRemovedSubject(trx: Executor, streamId: string, userId: string): Promise<boolean> {
  return (await trx(TABLE).where({ stream_id: streamId, user_id: userId }).delete()) > 0;
}

export async function countRemovedSubjects(executor: Executor, streamId: string): Promise<number> {
  const [row] = await executor(TABLE).where({ stream_id: streamId }).count<{ count: string }[]>({ count: 'user_id' });
  return Number(row?.count ?? 0);
}

/** @returns the given users that the receiver removed */
export async function findRemovedSubjects(executor: Executor, streamId: string, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await executor(TABLE)
    .where({ stream_id: streamId })
    .whereRaw('user_id = ANY(?)', [[...userIds]])
    .select<{ user_id: string }[]>('user_id');
  return new Set(rows.map(({ user_id }) => user_id));
}

// While an event about the user waits, the row decides that it is not sent.
const GONE = `DELETE FROM ${TABLE} WHERE (stream_id, user_id) IN (
    SELECT stream_id, user_id FROM ${TABLE} r WHERE NOT EXISTS (SELECT FROM users WHERE id = r.user_id)
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = '${SIGNAL}' AND o.ordering_key = r.stream_id AND o.object_key = r.user_id)
    LIMIT :limit FOR UPDATE SKIP LOCKED)`;

/** Forgets users who have been deleted. @returns how many */
export async function deleteGoneSubjects(executor: Executor, limit: number): Promise<number> {
  return (await executor.raw<{ rowCount: number }>(GONE, { limit })).rowCount;
}
