/**
 * Consents of a user to an application at one authorization server, with one row per scope and per authorization detail. They outlive sessions and
 * tokens.
 */

import { type Columns, columns } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';
import type { ApplicationSettings } from '../applications/application-settings.policy.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import { type Consent, type ConsentKey, keyOfDetail } from './consents.resource.ts';

const CONSENT: Columns<Consent> = columns('id', 'userId', 'applicationId', 'serverId', 'scope', 'detail', 'created');

const row = ({ userId, applicationId, serverId }: ConsentKey) => ({ user_id: userId, application_id: applicationId, server_id: serverId });

/** @returns the scopes that were allowed before, and the keys of authorization details */
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

/** Maximum authorization details remembered for each user, application and server, because many are allowed only once. */
const MOST_DETAILS = 50;

/** Details that are already stored keep their place; the oldest are dropped. */
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

/** The scope, or the type of the authorization detail. */
const SCOPE = "coalesce(detail->>'type', scope)";
const APPLICATION = '(SELECT label FROM applications a WHERE a.id = consents.application_id)';
const SERVER = '(SELECT name FROM authorization_servers s WHERE s.id = consents.server_id)';

/** Consents of a user, oldest first. They can be sorted by `application` and `server`, and are found by words of each and of the scope. */
export const listConsents = (executor: Executor, userId: string, window: Window): Promise<Page<Consent>> =>
  readPage(executor('consents').where({ user_id: userId }), CONSENT, window, {
    orders: { scope: executor.raw(SCOPE), application: executor.raw(APPLICATION), server: executor.raw(SERVER) },
    search: (consents, typed) => applyWords(consents, [SCOPE, APPLICATION, 'application_id', SERVER], typed),
  });

export async function findConsent(executor: Executor, userId: string, id: string): Promise<Consent | undefined> {
  return executor('consents').where({ user_id: userId, id }).first<Consent | undefined>(CONSENT);
}

/** @param id undefined: all consents of the user @returns the deleted ones */
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

// Reads the permissions of applications for a user: consents, and tokens of trusted applications. Reads only.

/** One scope, or one authorization detail, of an application at one authorization server. */
export interface PermittedScope {
  readonly applicationId: string;
  readonly label: string;
  readonly settings: ApplicationSettings;
  readonly serverId: string;
  readonly serverName: string;
  readonly scope: string;
  /** null: it is a scope. */
  readonly detail: AuthorizationDetail | null;
  /** Empty if the server no longer has the scope. */
  readonly displayName: string;
  readonly description: string;
  readonly translations: Scope['translations'] | null;
  /** Time of the consent; null: none was needed. */
  readonly consented: Date | null;
}

const PERMITTED = `WITH held AS (
    SELECT DISTINCT p.client_id, v.id AS server_id, granted.scope
    FROM oidc_payload p JOIN authorization_servers v ON v.key = p.server_key,
      LATERAL regexp_split_to_table(coalesce(p.payload->>'scope', ''), ' ') AS granted (scope)
    WHERE p.account_id = :userId AND p.model IN (${MODELS.AccessToken}, ${MODELS.RefreshToken}) AND p.expires_at > :now AND granted.scope <> ''),
  held_details AS (
    SELECT DISTINCT p.client_id, v.id AS server_id, granted.detail
    FROM oidc_payload p JOIN authorization_servers v ON v.key = p.server_key,
      LATERAL jsonb_array_elements(CASE jsonb_typeof(p.payload->'rar') WHEN 'array' THEN p.payload->'rar' ELSE '[]' END) AS granted (detail)
    WHERE p.account_id = :userId AND p.model IN (${MODELS.AccessToken}, ${MODELS.RefreshToken}) AND p.expires_at > :now),
  permitted AS (
    SELECT coalesce(c.application_id, h.client_id) AS application_id, coalesce(c.server_id, h.server_id) AS server_id,
      coalesce(c.scope, h.scope) AS scope, c.detail, c.created
    FROM (SELECT * FROM consents WHERE user_id = :userId) c
      FULL JOIN held h ON h.client_id = c.application_id AND h.server_id = c.server_id AND h.scope = c.scope
    UNION ALL
    SELECT h.client_id, h.server_id, '', h.detail, NULL FROM held_details h
    WHERE NOT EXISTS (SELECT 1 FROM consents c
      WHERE c.user_id = :userId AND c.application_id = h.client_id AND c.server_id = h.server_id AND c.detail = h.detail))
  SELECT a.id AS "applicationId", a.label, a.settings, v.id AS "serverId", v.name AS "serverName", p.scope, p.detail, p.created AS consented,
    coalesce(s.display_name, '') AS "displayName", coalesce(s.description, '') AS description, s.translations
  FROM permitted p
    JOIN applications a ON a.id = p.application_id AND NOT a.system
    JOIN authorization_servers v ON v.id = p.server_id
    LEFT JOIN scopes s ON s.server_id = v.id AND s.name = p.scope
  ORDER BY a.label, a.id, v.name, s.seq, p.scope`;

/** Ordered by application and server. @param now excludes tokens that have expired by then */
export async function listPermittedScopes(executor: Executor, userId: string, now: Date): Promise<PermittedScope[]> {
  return (await executor.raw<{ rows: PermittedScope[] }>(PERMITTED, { userId, now })).rows;
}
