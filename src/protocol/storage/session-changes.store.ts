/**
 * Changes of a continuing browser session: a second factor, a new sign-in, and its last use. Each is one conditional update. Also checks
 * whether an application's entry in a session still exists.
 */

import type pg from 'pg';
import { ALL_SERVERS, MODELS } from './protocol-state.store.ts';

const STRENGTHEN = {
  name: 'strengthen-session',
  text: `UPDATE oidc_payload SET id = $2, payload = payload || jsonb_build_object('amr', $3::jsonb)
    WHERE id = $1 AND server_key = ${ALL_SERVERS} AND model = ${MODELS.Session}`,
};

/**
 * Adds an authentication method to a session and changes its ID; everything else is unchanged.
 * @param id hash of the current cookie value
 * @param change.id the new hash
 * @param change.amr RFC 8176
 * @returns false if it has ended or has another ID
 */
export async function strengthenSession(
  pool: pg.Pool,
  id: string,
  change: { readonly id: string; readonly amr: readonly string[] },
): Promise<boolean> {
  return (await pool.query({ values: [id, change.id, JSON.stringify(change.amr)], ...STRENGTHEN })).rowCount === 1;
}

const RENEW = {
  name: 'renew-session',
  text: `WITH renewed AS (
      UPDATE oidc_payload SET id = $2, payload = (payload - 'idp') || $3::jsonb, expires_at = to_timestamp($4::float8), exp_hour = $5
      WHERE id = $1 AND server_key = ${ALL_SERVERS} AND model = ${MODELS.Session} RETURNING uid),
    clients AS (UPDATE browser_session_clients SET exp_hour = $6 WHERE session_uid IN (SELECT uid FROM renewed))
    SELECT uid FROM renewed`,
};

/** A repeated sign-in; times in epoch seconds. */
interface Renewal {
  /** The new hashed ID. */
  readonly id: string;
  /** Replaces how, when and where the session's user signed in. */
  readonly members: object;
  readonly expiresAt: number;
  /** The latest end of the session. */
  readonly endsAt: number;
}

/**
 * The user of a session has signed in again: it keeps its applications and is otherwise new.
 * @param id hash of the current cookie value
 * @returns false if it has ended or has another ID
 */
export async function renewSession(pool: pg.Pool, id: string, { id: newId, members, expiresAt, endsAt }: Renewal): Promise<boolean> {
  const values = [id, newId, JSON.stringify(members), expiresAt, Math.ceil(expiresAt / 3600), Math.ceil(endsAt / 3600)];
  return (await pool.query({ values, ...RENEW })).rowCount === 1;
}

const NOTE_DEVICE = {
  name: 'note-session-device',
  text: `UPDATE oidc_payload SET payload = payload || jsonb_build_object('device', $2::jsonb)
    WHERE id = $1 AND server_key = ${ALL_SERVERS} AND model = ${MODELS.Session}`,
};

/** Records the last use of a session; ended sessions are not restored. @param id hash of the cookie value */
export async function noteSessionDevice(pool: pg.Pool, id: string, device: object): Promise<void> {
  await pool.query({ values: [id, JSON.stringify(device)], ...NOTE_DEVICE });
}

export interface SessionPart {
  readonly userId: string;
  readonly clientId: string;
  readonly serverKey: number;
  /** Epoch seconds. A later sign-in is another session, or a renewal of this one. */
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
