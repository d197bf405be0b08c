/** Event hooks. The only SQL on that table but for the statement that writes an event (audit.ts). Values of headers and secrets are stored sealed. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { EventHook } from './event-hooks.resource.ts';

const HOOK: Columns<EventHook> = {
  id: 'id',
  name: 'name',
  description: 'description',
  status: 'status',
  verificationStatus: 'verification_status',
  eventTypes: 'event_types',
  channel: 'channel',
  signingSecret: 'signing_secret_sealed',
  previousSecret: 'previous_secret_sealed',
  previousSecretUntil: 'previous_secret_until',
  createdBy: 'created_by',
  created: 'created',
  lastUpdated: 'last_updated',
};

export async function insertEventHook(executor: Executor, hook: EventHook): Promise<void> {
  await executor('event_hooks').insert(toRow(HOOK, hook));
}

export async function updateEventHookRow(
  executor: Executor,
  id: string,
  changes: Partial<Omit<EventHook, 'id' | 'createdBy' | 'created'>>,
): Promise<void> {
  await executor('event_hooks').where({ id }).update(toRow<EventHook>(HOOK, changes));
}

export async function deleteEventHookRow(executor: Executor, id: string): Promise<void> {
  await executor('event_hooks').where({ id }).delete();
}

export async function findEventHook(executor: Executor, id: string): Promise<EventHook | undefined> {
  return executor('event_hooks').where({ id }).first<EventHook | undefined>(HOOK);
}

/** Locks the row, so that of two changes to one hook the second sees the first. Needs a transaction. */
export async function lockEventHook(trx: Executor, id: string): Promise<EventHook | undefined> {
  return trx('event_hooks').where({ id }).forUpdate().first<EventHook | undefined>(HOOK);
}

/** Oldest first. */
export const selectEventHooks = (executor: Executor, window: Window): Promise<Page<EventHook>> =>
  readPage(executor('event_hooks'), HOOK, window);
