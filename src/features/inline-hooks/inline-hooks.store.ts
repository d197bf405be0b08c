/** Inline hooks. The only SQL on that table. Header values and secrets are stored sealed. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { InlineHook, InlineHookType } from './inline-hooks.resource.ts';

const HOOK: Columns<InlineHook> = {
  id: 'id',
  name: 'name',
  type: 'type',
  failure: 'failure',
  status: 'status',
  channel: 'channel',
  signingSecret: 'signing_secret_sealed',
  previousSecret: 'previous_secret_sealed',
  previousSecretUntil: 'previous_secret_until',
  createdBy: 'created_by',
  created: 'created',
  lastUpdated: 'last_updated',
};

/** @returns false if another hook has the name */
export async function insertInlineHook(executor: Executor, hook: InlineHook): Promise<boolean> {
  const inserted = await executor('inline_hooks').insert(toRow(HOOK, hook)).onConflict('name').ignore().returning('id');
  return inserted.length === 1;
}

/** @returns false if another hook has the name; the transaction can then only be rolled back */
export const updateInlineHookRow = (
  trx: Executor,
  id: string,
  changes: Partial<Omit<InlineHook, 'id' | 'type' | 'createdBy' | 'created'>>,
): Promise<boolean> => unlessRefused(trx('inline_hooks').where({ id }).update(toRow<InlineHook>(HOOK, changes)), 'inline_hooks_name_key');

export async function deleteInlineHookRow(executor: Executor, id: string): Promise<void> {
  await executor('inline_hooks').where({ id }).delete();
}

export async function findInlineHook(executor: Executor, id: string): Promise<InlineHook | undefined> {
  return executor('inline_hooks').where({ id }).first<InlineHook | undefined>(HOOK);
}

/** The oldest active hook of a type. */
export async function findActiveHookOf(executor: Executor, type: InlineHookType): Promise<InlineHook | undefined> {
  return executor('inline_hooks').where({ type, status: 'ACTIVE' }).orderBy('seq').first<InlineHook | undefined>(HOOK);
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockInlineHook(trx: Executor, id: string): Promise<InlineHook | undefined> {
  return trx('inline_hooks').where({ id }).forUpdate().first<InlineHook | undefined>(HOOK);
}

/** Prevents the deletion of a hook until the transaction ends. @returns undefined if there is none */
export async function shareLockInlineHook(trx: Executor, id: string): Promise<Pick<InlineHook, 'id' | 'type'> | undefined> {
  return trx('inline_hooks').where({ id }).forKeyShare().first<Pick<InlineHook, 'id' | 'type'> | undefined>({ id: 'id', type: 'type' });
}

/** Oldest first. */
export const selectInlineHooks = (executor: Executor, window: Window): Promise<Page<InlineHook>> =>
  readPage(executor('inline_hooks'), HOOK, window);
