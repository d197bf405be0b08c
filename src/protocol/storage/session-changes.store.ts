/**
 * Changes of a browser session that stays: a second step, a fresh sign-in, and where it was last used. Each is one conditional update. Also:
 * does the session in which an application takes part still exist?
 */

import type pg from 'pg';
import { ALL_SERVERS, MODELS } from './protocol-state.store.ts';

const STRENGTHEN = {
  name: 'strengthen-session',
  text: `UPDATE oidc_payload SET id = $2, payload = payload || jsonb_build_object('amr', $3::jsonb)
    WHERE id = $1 AND server_key = ${ALL_SERVERS} AND model = ${MODELS.Session}`,
};

/**
 * Notes how else the user of a session has proved themselves, and gives it another id; all else of it stays.
 * @param id the hashed id of the cookie's value, as it is @param change.id as it shall be @param change.amr RFC 8176
 * @returns false when it was ended meanwhile, or has another id by now
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

/** A sign-in made again; times in epoch seconds. */
interface Renewal {
  /** The hashed id, as it shall be. */
  readonly id: string;
  /** Replaces how, when and where the session's user signed in. */
  readonly members: object;
  readonly expiresAt: number;
  /** When it ends at the latest. */
  readonly endsAt: number;
}

/**
 * The user of a session has signed in again: it keeps its applications and is otherwise new.
 * @param id hash of the current cookie value
 * @returns false when it has ended meanwhile or has another ID
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

/** Notes where a session was last seen; one that was ended meanwhile stays ended. @param id the hashed id of the cookie's value */
export async function noteSessionDevice(pool: pg.Pool, id: string, device: object): Promise<void> {
  await pool.query({ values: [id, JSON.stringify(device)], ...NOTE_DEVICE });
}

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
