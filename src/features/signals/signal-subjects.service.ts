/** The users of a stream: all except those that its receiver has removed (SSF 1.0 section 8.1.3). */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, notFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findUser } from '../users/users.service.ts';
import { removeSignalSetsAbout } from './signal-sets.store.ts';
import type { SignalStream } from './signal-streams.resource.ts';
import { changeSignalStream, streamEvent } from './signal-streams.service.ts';
import { countRemovedSubjects, deleteRemovedSubject, insertRemovedSubject, updateSignalStreamRow } from './signal-streams.store.ts';

/** Limit per stream. */
const MOST_REMOVED_SUBJECTS = 10_000;

/** Change of a user by a receiver. */
export interface SubjectChange {
  readonly streamId: string;
  readonly applicationId: string;
  /** undefined: no user has this subject. */
  readonly userId: string | undefined;
}

/** Events about the user are sent again. Without a change nothing is recorded. @throws {ApiError} not found: the stream, or the user */
export async function addSignalSubject(services: Services, change: SubjectChange, request: RequestContext): Promise<void> {
  const userId = await requireUser(services, change);
  await changeSignalStream(services, change.streamId, change.applicationId, async (trx, stream) => {
    if (!(await deleteRemovedSubject(trx, stream.id, userId))) return;
    await updateSignalStreamRow(trx, stream.id, { removedAtMost: Math.max(0, stream.removedAtMost - 1) });
    const event = streamEvent('system.signal_stream.add_subject', 'Add subject to signal stream', stream, request);
    await recordEvent(trx, { ...event, targets: [...event.targets, { id: userId, type: 'User', displayName: userId }] });
  });
}

/**
 * Events about the user are no longer sent, including waiting ones.
 * @throws {ApiError} not found: the stream, or the user; conflict: too many were removed
 */
export async function removeSignalSubject(services: Services, change: SubjectChange, request: RequestContext): Promise<void> {
  const userId = await requireUser(services, change);
  await changeSignalStream(services, change.streamId, change.applicationId, async (trx, stream) => {
    if (!(await insertRemovedSubject(trx, stream.id, userId, present()))) return;
    await updateSignalStreamRow(trx, stream.id, { removedAtMost: await removedWithOneMore(trx, stream) });
    await removeSignalSetsAbout(trx, stream.id, userId);
    const event = streamEvent('system.signal_stream.remove_subject', 'Remove subject from signal stream', stream, request);
    await recordEvent(trx, { ...event, targets: [...event.targets, { id: userId, type: 'User', displayName: userId }] });
  });
}

/** @returns the new `removedAtMost`: counted only if it reaches the limit @throws {ApiError} conflict: too many were removed */
async function removedWithOneMore(trx: Executor, { id, removedAtMost }: SignalStream): Promise<number> {
  if (removedAtMost < MOST_REMOVED_SUBJECTS) return removedAtMost + 1;
  const removed = await countRemovedSubjects(trx, id);
  if (removed <= MOST_REMOVED_SUBJECTS) return removed;
  throw conflict({
    field: 'subject',
    message: `cannot be removed: the stream already has ${MOST_REMOVED_SUBJECTS} removed users. Add one of them back first`,
  });
}

/** Number of users that the receiver has removed. */
export const removedSubjectsOf = ({ database }: Services, { id }: SignalStream): Promise<number> => countRemovedSubjects(database.knex, id);

async function requireUser({ database }: Services, { userId }: SubjectChange): Promise<string> {
  const user = userId === undefined ? undefined : await findUser(database, userId);
  if (user === undefined) throw notFound(userId ?? 'subject', 'User');
  return user.id;
}
