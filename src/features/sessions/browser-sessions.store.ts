/**
 * Reads the browser sessions of one user, for the user and administrators. protocol-state.store.ts and account-state.store.ts start, use and end
 * sessions.
 */
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';
import { ALL_SERVERS, MODELS } from '../../protocol/storage/protocol-state.store.ts';

export interface BrowserSession {
  readonly uid: string;
  /** null: nobody has signed in with it yet. */
  readonly signedIn: Date | null;
  readonly expires: Date;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** Client IDs of the applications in the session. */
  readonly applications: readonly string[];
  /** User-Agent at the last visit; null: not recorded yet. */
  readonly userAgent: string | null;
  readonly ipAddress: string | null;
  readonly lastSeen: Date | null;
}

const SESSIONS = `SELECT s.uid, to_timestamp((s.payload->>'loginTs')::float8) AS "signedIn", s.expires_at AS expires,
    ARRAY(SELECT jsonb_array_elements_text(CASE jsonb_typeof(s.payload->'amr') WHEN 'array' THEN s.payload->'amr' ELSE '[]' END)) AS amr,
    ARRAY(SELECT DISTINCT c.client_id::text FROM browser_session_clients c WHERE c.session_uid = s.uid ORDER BY 1) AS applications,
    s.payload->'device'->>'userAgent' AS "userAgent", s.payload->'device'->>'ipAddress' AS "ipAddress",
    to_timestamp((s.payload->'device'->>'seen')::float8) AS "lastSeen"
  FROM oidc_payload s WHERE s.account_id = :userId AND s.model = ${MODELS.Session} AND s.expires_at > :now ORDER BY 2 DESC NULLS LAST, 1`;

/** Newest first. @param now sessions that have ended by then are omitted */
export async function listBrowserSessions(executor: Executor, userId: string, now: Date): Promise<BrowserSession[]> {
  return (await executor.raw<{ rows: BrowserSession[] }>(SESSIONS, { userId, now })).rows;
}

// One-time session tokens: a sign-in over the API that waits for its browser. Stored under the SHA-256 of the value with the data of
// oidc-provider, so that whatever ends a user's tokens ends them too.

export interface SessionToken {
  readonly userId: string;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** Epoch seconds. */
  readonly authenticatedAt: number;
}

/** @param id SHA-256 of the value @param expiresAt epoch seconds */
export async function insertSessionToken(executor: Executor, id: string, token: SessionToken, expiresAt: number): Promise<void> {
  await executor('oidc_payload').insert({
    id,
    model: MODELS.SessionToken,
    server_key: ALL_SERVERS,
    payload: { amr: token.amr, authenticatedAt: token.authenticatedAt },
    account_id: token.userId,
    expires_at: new Date(expiresAt * 1000),
    exp_hour: Math.ceil(expiresAt / 3600),
  });
}

const TAKE = {
  name: 'take-session-token',
  text: `DELETE FROM oidc_payload p USING users u
    WHERE p.id = $1 AND p.model = ${MODELS.SessionToken} AND p.server_key = ${ALL_SERVERS} AND p.expires_at > to_timestamp($2)
      AND u.id = p.account_id COLLATE "default" AND u.status = 'ACTIVE'
    RETURNING p.account_id, p.payload`,
};

/** Uses a token: of concurrent uses one succeeds. @returns undefined if it is unknown, used or expired, or its user is inactive */
export async function consumeSessionToken(pool: pg.Pool, id: string, now: number): Promise<SessionToken | undefined> {
  const { rows } = await pool.query<{ account_id: string; payload: { amr: string[]; authenticatedAt: number } }>({
    ...TAKE,
    values: [id, now],
  });
  const [row] = rows;
  return row && { userId: row.account_id, amr: row.payload.amr, authenticatedAt: row.payload.authenticatedAt };
}
