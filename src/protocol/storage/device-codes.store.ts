/**
 * Requests of devices (RFC 8628) and sign-in requests of applications (CIBA), found by their user's code, and the time of the last poll,
 * which all processes share.
 */

import type pg from 'pg';
import { MODEL_NAMES, MODELS, type ModelName, type StoredKey } from './protocol-state.store.ts';

const FIND = {
  name: 'find-device-code',
  text: `SELECT p.id AS key, p.model, p.account_id, s.id AS server_id, p.payload, extract(epoch FROM p.expires_at)::float8 AS expires
    FROM authorization_servers s JOIN oidc_payload p ON p.server_key = s.key
    WHERE p.uid = ANY ($1::text[]) AND p.model IN (${MODELS.DeviceCode}, ${MODELS.BackchannelAuthenticationRequest}) AND p.expires_at > to_timestamp($2::float8) AND s.key = coalesce($3, s.key) LIMIT 1`,
};

interface FoundDeviceCode {
  /** The hashed ID of the row. */
  readonly key: string;
  readonly model: ModelName;
  /** User who must answer the sign-in request. */
  readonly accountId: string | undefined;
  readonly serverId: string;
  readonly payload: Record<string, unknown>;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

interface DeviceCodeRow {
  readonly key: string;
  readonly model: number;
  readonly account_id: string | null;
  readonly server_id: string;
  readonly payload: Record<string, unknown>;
  readonly expires: number;
}

/**
 * Finds a device request or an application's sign-in request by the digests of its code, one for each key.
 * @param serverKey absent: at any server, with one index probe each
 */
export async function findDeviceCode(
  pool: pg.Pool,
  uids: readonly string[],
  now: number,
  serverKey?: number,
): Promise<FoundDeviceCode | undefined> {
  const { rows } = await pool.query<DeviceCodeRow>({
    values: [uids, now, serverKey ?? null],
    ...FIND,
  });
  const [row] = rows;
  const model = row && MODEL_NAMES.get(row.model);
  if (row === undefined || model === undefined) return undefined;
  return {
    key: row.key,
    model,
    accountId: row.account_id ?? undefined,
    serverId: row.server_id,
    payload: row.payload,
    expiresAt: row.expires,
  };
}

/** One statement: of two concurrent polls, the second sees the time of the first. */
const POLL = {
  name: 'note-poll',
  text: `UPDATE oidc_payload SET payload = jsonb_set(payload, '{polled}', to_jsonb($4::float8))
    WHERE id = $1 AND model = $2 AND server_key = $3 AND NOT payload ?| ARRAY['accountId', 'error']
      AND coalesce((payload->>'polled')::float8 + $5::float8, 0) <= $4::float8`,
};

/**
 * @param now epoch seconds
 * @param apart minimum seconds since the last counted poll
 * @returns false if less time has passed; then nothing is written
 */
export async function notePoll(pool: pg.Pool, { id, model, serverKey }: StoredKey, now: number, apart: number): Promise<boolean> {
  const { rowCount } = await pool.query({ ...POLL, values: [id, MODELS[model], serverKey, now, apart] });
  return rowCount === 1;
}
