/** Does a user's browser session still live in which an application has a part? */
import type pg from 'pg';
import { ALL_SERVERS, MODELS } from './protocol-state.store.ts';

export interface SessionPart {
  readonly userId: string;
  readonly clientId: string;
  readonly serverKey: number;
  /** Epoch seconds. A later sign-in is another session, or a new beginning of it. */
  readonly signedInAt: number;
}

const FIND = {
  name: 'has-session-part',
  text: `SELECT 1 FROM oidc_payload s
    JOIN browser_session_clients c ON c.session_uid = s.uid AND c.server_key = $2 AND c.client_id = $3
    WHERE s.account_id = $1 AND s.model = ${MODELS.Session} AND s.server_key = ${ALL_SERVERS} AND s.expires_at > to_timestamp($4::float8)
      AND (s.payload->>'loginTs')::float8 <= $5::float8 LIMIT 1`,
};

/** @param now epoch seconds */
export async function hasSessionPart(
  pool: pg.Pool,
  { userId, serverKey, clientId, signedInAt }: SessionPart,
  now: number,
): Promise<boolean> {
  return (await pool.query({ values: [userId, serverKey, clientId, now, signedInAt], ...FIND })).rowCount === 1;
}
