/** Scopes of an authorization server. The only SQL that writes that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { columnsOf } from '../../platform/validation/resource.ts';
import { SCOPE_SETTINGS, type Scope } from './scopes.resource.ts';

const SCOPE: Columns<Scope> = { id: 'id', system: 'system', ...columnsOf(SCOPE_SETTINGS) };

/** @returns false if the server already has a scope of this name */
export async function insertScope(trx: Executor, serverId: string, scope: Scope): Promise<boolean> {
  const row = { server_id: serverId, ...toRow<Scope>(SCOPE, scope) };
  return (await trx('scopes').insert(row).onConflict(['server_id', 'name']).ignore().returning('id')).length === 1;
}

/** All scopes of a server, oldest first. */
export const listScopes = (executor: Executor, serverId: string): Promise<Scope[]> =>
  executor('scopes').where({ server_id: serverId }).select<Scope[]>(SCOPE).orderBy('seq');

/** Oldest first. @param words in the name, or in the name on the consent page */
export function readScopes(executor: Executor, serverId: string, words: string | undefined, window: Window): Promise<Page<Scope>> {
  const query = executor('scopes').where({ server_id: serverId });
  if (words !== undefined) applyWords(query, ['name', 'display_name'], words, 'part');
  return readPage(query, SCOPE, window);
}

export const findScope = (executor: Executor, serverId: string, id: string): Promise<Scope | undefined> =>
  executor('scopes').where({ server_id: serverId, id }).first<Scope | undefined>(SCOPE);

/** @returns false if another scope of the server has the name; the transaction can then only be rolled back */
export const updateScope = (trx: Executor, id: string, changes: Partial<Omit<Scope, 'id' | 'system'>>): Promise<boolean> =>
  unlessRefused(trx('scopes').where({ id }).update(toRow<Scope>(SCOPE, changes)));

export async function deleteScope(trx: Executor, id: string): Promise<void> {
  await trx('scopes').where({ id }).delete();
}

/** @returns the names of the claims and of the access rules, in force or not, whose conditions name a scope of the server */
export async function findScopeUses(trx: Executor, serverId: string, name: string): Promise<{ claims: string[]; rules: string[] }> {
  const claims: string[] = await trx('claims').where({ server_id: serverId }).whereRaw('? = ANY (scopes)', [name]).pluck('name');
  const rules: string[] = await trx('policy_rules')
    .join('policies', 'policies.id', 'policy_rules.policy_id')
    .where('policies.server_id', serverId)
    .whereRaw('policy_rules.conditions @> ?::jsonb', [JSON.stringify({ scopes: { include: [name] } })])
    .pluck('policy_rules.name');
  return { claims, rules };
}
