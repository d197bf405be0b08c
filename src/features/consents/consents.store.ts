/** Consents: what a user allowed an application at one authorization server, a row per scope and per authorization detail. They outlive sessions and tokens. */
import type { Columns } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import { type Consent, type ConsentKey, keyOfDetail } from './consents.resource.ts';

const CONSENT: Columns<Consent> = {
  id: 'id',
  userId: 'user_id',
  applicationId: 'application_id',
  serverId: 'server_id',
  scope: 'scope',
  detail: 'detail',
  created: 'created',
};

const row = ({ userId, applicationId, serverId }: ConsentKey) => ({ user_id: userId, application_id: applicationId, server_id: serverId });

/** @returns the scopes allowed before, and of authorization details their keys */
export async function rememberedScopes(executor: Executor, key: ConsentKey): Promise<string[]> {
  const rows = await executor('consents').where(row(key)).select<{ scope: string }[]>('scope');
  return rows.map(({ scope }) => scope);
}

export async function forgetScopes(executor: Executor, key: ConsentKey, scopes: readonly string[]): Promise<void> {
  await executor('consents')
    .where(row(key))
    .whereIn('scope', [...scopes])
    .delete();
}

/** Deletes all consents for a scope of a server. */
export async function forgetScope(executor: Executor, serverId: string, scope: string): Promise<void> {
  await executor('consents').where({ server_id: serverId, scope }).delete();
}

/** Deletes all consents for an authorization details type of a server. */
export async function forgetDetailType(executor: Executor, serverId: string, type: string): Promise<void> {
  await executor('consents').where({ server_id: serverId }).whereRaw("detail->>'type' = ?", [type]).delete();
}

/** Authorization details that are remembered for each user, application and server: many are allowed once. */
const MOST_DETAILS = 50;

/** Those that are remembered already keep their place; the oldest give way. */
export async function rememberDetails(
  trx: Executor,
  key: ConsentKey,
  details: readonly AuthorizationDetail[],
  created: Date,
): Promise<void> {
  if (details.length === 0) return;
  await trx('consents')
    .insert(details.map((detail) => ({ ...row(key), scope: keyOfDetail(detail), detail: JSON.stringify(detail), created })))
    .onConflict(['user_id', 'application_id', 'server_id', 'scope'])
    .ignore();
  const kept = trx('consents').where(row(key)).whereNotNull('detail').orderBy('seq', 'desc').limit(MOST_DETAILS).select('seq');
  await trx('consents').where(row(key)).whereNotNull('detail').whereNotIn('seq', kept).delete();
}

/** @returns the scopes that were not remembered yet */
export async function rememberScopes(executor: Executor, key: ConsentKey, scopes: readonly string[], created: Date): Promise<string[]> {
  if (scopes.length === 0) return [];
  const rows = await executor('consents')
    .insert(scopes.map((scope) => ({ ...row(key), scope, created })))
    .onConflict(['user_id', 'application_id', 'server_id', 'scope'])
    .ignore()
    .returning<{ scope: string }[]>('scope');
  return rows.map(({ scope }) => scope);
}

/** Consents of a user, oldest first. */
export const listConsents = (executor: Executor, userId: string, window: Window): Promise<Page<Consent>> =>
  readPage(executor('consents').where({ user_id: userId }), CONSENT, window);

export async function findConsent(executor: Executor, userId: string, id: string): Promise<Consent | undefined> {
  return executor('consents').where({ user_id: userId, id }).first<Consent | undefined>(CONSENT);
}

/** @param id undefined: all that the user gave. @returns those that are no more */
export async function deleteConsents(executor: Executor, userId: string, id: string | undefined): Promise<Consent[]> {
  const which = { user_id: userId, ...(id !== undefined && { id }) };
  const consents = await executor('consents').where(which).orderBy(['created', 'id']).forUpdate().select<Consent[]>(CONSENT);
  await executor('consents')
    .where({ user_id: userId })
    .whereIn(
      'id',
      consents.map((consent) => consent.id),
    )
    .delete();
  return consents;
}
