/** API tokens, found by their digest. The only SQL on that table; it also reads the creator and their roles. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { Role } from '../administrators/administration.policy.ts';
import { RIGHTS_OF_USER, roleOfRight, type StoredRight } from '../administrators/roles.store.ts';
import type { ApiToken, ApiTokenType } from './api-tokens.resource.ts';

/** Result of authenticating a token. */
export interface TokenBearer {
  readonly tokenId: string;
  readonly lastUsed: Date | null;
  readonly userId: string;
  readonly login: string;
  readonly roles: readonly Role[];
  /** SCIM tokens: the organization that the token is limited to; null: none. */
  readonly orgId: string | null;
}

const TOKEN: Columns<ApiToken> = columns('id', 'name', 'type', 'orgId', 'userId', 'created', 'expiresAt', 'lastUsed');

/** @returns false if a token with this value exists */
export async function insertApiToken(executor: Executor, token: ApiToken, tokenHash: string): Promise<boolean> {
  const row = { ...toRow(TOKEN, token), token_hash: tokenHash };
  return (await executor('api_tokens').insert(row).onConflict('token_hash').ignore().returning('id')).length === 1;
}

/** Oldest first. @param userId only this user's tokens; absent: the tokens of all users */
export async function selectApiTokens(executor: Executor, window: Window, userId: string | undefined): Promise<Page<ApiToken>> {
  const query = executor('api_tokens');
  if (userId !== undefined) query.where({ user_id: userId });
  return readPage<ApiToken>(query, TOKEN, window);
}

/** Tokens that expire in the period, soonest first. @param userId only this user's tokens; absent: the tokens of all users */
export async function listExpiringTokens(
  executor: Executor,
  { from, until, userId }: { readonly from: Date; readonly until: Date; readonly userId?: string | undefined },
  limit: number,
): Promise<ApiToken[]> {
  const query = executor('api_tokens').where('expires_at', '>', from).where('expires_at', '<=', until);
  if (userId !== undefined) query.where({ user_id: userId });
  return query.orderBy(['expires_at', 'id']).limit(limit).select<ApiToken[]>(TOKEN);
}

export async function hasApiTokens(executor: Executor): Promise<boolean> {
  return (await executor('api_tokens').first('id')) !== undefined;
}

export async function findApiToken(executor: Executor, id: string): Promise<ApiToken | undefined> {
  return executor('api_tokens').where({ id }).first<ApiToken | undefined>(TOKEN);
}

/** Locks the row, so that the second of two concurrent revocations finds no token. Needs a transaction. */
export async function lockApiToken(executor: Executor, id: string): Promise<ApiToken | undefined> {
  return executor('api_tokens').where({ id }).forUpdate().first<ApiToken | undefined>(TOKEN);
}

export async function deleteApiToken(executor: Executor, id: string): Promise<void> {
  await executor('api_tokens').where({ id }).delete();
}

const FIND_BEARER = `
  SELECT t.id, t.last_used, t.user_id, t.org_id AS bound_to, u.login,
    ${RIGHTS_OF_USER} AS roles
  FROM api_tokens t JOIN users u ON u.id = t.user_id
  WHERE t.token_hash = ? AND t.type = ? AND u.status = 'ACTIVE' AND (t.expires_at IS NULL OR t.expires_at > ?)`;

interface BearerRow {
  id: string;
  last_used: Date | null;
  user_id: string;
  bound_to: string | null;
  login: string;
  roles: StoredRight[];
}

/** @returns the bearer of a token that has not expired and whose creator is active and has a role */
export async function findTokenBearer(
  executor: Executor,
  { tokenHash, type }: { readonly tokenHash: string; readonly type: ApiTokenType },
  now: Date,
): Promise<TokenBearer | undefined> {
  const { rows } = await executor.raw<{ rows: BearerRow[] }>(FIND_BEARER, [tokenHash, type, now]);
  const [row] = rows;
  const roles = row?.roles.map(roleOfRight) ?? [];
  if (row === undefined || roles.length === 0) return undefined;
  return { tokenId: row.id, lastUsed: row.last_used, userId: row.user_id, login: row.login, roles, orgId: row.bound_to };
}

export async function touchApiToken(executor: Executor, id: string, lastUsed: Date): Promise<void> {
  await executor('api_tokens').where({ id }).update({ last_used: lastUsed });
}
