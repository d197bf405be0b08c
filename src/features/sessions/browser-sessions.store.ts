/** The browser sessions of one user, read for them and for those who look after them. How a session begins, is used and ends is in protocol-state.ts and account-state.ts. */
import type { Executor } from '../../platform/database/database.ts';
import { MODELS } from '../../protocol/storage/protocol-state.store.ts';

export interface BrowserSession {
  readonly uid: string;
  /** null: nobody has signed in with it yet. */
  readonly signedIn: Date | null;
  readonly expires: Date;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** The client_ids of the applications that had a part in it. */
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

/** The newest first. @param now those that have ended by then are left out */
export async function listBrowserSessions(executor: Executor, userId: string, now: Date): Promise<BrowserSession[]> {
  return (await executor.raw<{ rows: BrowserSession[] }>(SESSIONS, { userId, now })).rows;
}
