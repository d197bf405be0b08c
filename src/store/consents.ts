/** Consents: what a user allowed an application at one authorization server, a row per scope. They outlive sessions and tokens. */
import type { Executor } from './database.ts';

export interface ConsentKey {
  readonly userId: string;
  readonly applicationId: string;
  readonly serverId: string;
}

const row = ({ userId, applicationId, serverId }: ConsentKey) => ({ user_id: userId, application_id: applicationId, server_id: serverId });

/** @returns the scopes allowed before */
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
