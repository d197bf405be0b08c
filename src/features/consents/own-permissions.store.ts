/** Reads the permissions of applications for a user: consents, and tokens of trusted applications. Reads only. */

import type { Executor } from '../../platform/database/database.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';
import type { ApplicationSettings } from '../applications/application-settings.policy.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import type { Scope } from '../scopes/scopes.resource.ts';

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
  /** Empty where the scope is none of the server's any more. */
  readonly displayName: string;
  readonly description: string;
  readonly translations: Scope['translations'] | null;
  /** Time of the consent; null: not asked. */
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

/** By application and server. @param now tokens that have expired by then are left out */
export async function listPermittedScopes(executor: Executor, userId: string, now: Date): Promise<PermittedScope[]> {
  return (await executor.raw<{ rows: PermittedScope[] }>(PERMITTED, { userId, now })).rows;
}
