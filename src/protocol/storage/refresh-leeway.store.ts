/**
 * Leeway for refresh tokens: a used one can be used again for a moment if the first response was lost (RFC 9700 section 4.14.2). Its former successor
 * is then revoked, so that one chain of tokens remains. Use or revocation of the successor proves that the first response arrived.
 */
import type pg from 'pg';
import { MODELS, type StoredKey } from './protocol-state.store.ts';
import type { SingleUse } from './shared-writes.store.ts';

/** Seconds by which the use of a replaced successor is dated back: longer than any leeway. */
const LONG_AGO = 3600;

const KEY = 'id = $1::text AND model = $2::smallint AND server_key = $3::integer';
const keyOf = ({ id, model, serverKey }: StoredKey): readonly unknown[] => [id, MODELS[model], serverKey];
/** Found by the index on `grant_id`; the payload contains the predecessor. */
const UNUSED_SUCCESSOR = `grant_id = $4::text AND model = $2::smallint AND server_key = $3::integer AND payload->>'predecessor' = $1::text
  AND consumed_at IS NULL AND expires_at > to_timestamp($5::float8)`;

/** Does a used token have a successor that was neither used nor revoked? @param now epoch seconds */
export async function hasUnusedSuccessor(pool: pg.Pool, token: StoredKey, grantId: string, now: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'unused-successor',
    text: `SELECT FROM oidc_payload WHERE ${UNUSED_SUCCESSOR} LIMIT 1`,
    values: [...keyOf(token), grantId, now],
  });
  return rowCount === 1;
}

/**
 * Revokes the successor of a token that is used again within its leeway. A separate statement locks the token, so that the next one sees
 * the writes of a concurrent use.
 * @param client in a transaction, in which the new successor is written next
 * @param now epoch seconds
 * @returns false if the token cannot be used again: its leeway is over, or its successor was used or revoked
 */
export async function endSuccessor(client: pg.PoolClient, use: SingleUse, now: number): Promise<boolean> {
  const { rows } = await client.query<{ grant_id: string }>({
    name: 'lock-used-token',
    text: `SELECT grant_id FROM oidc_payload WHERE ${KEY} AND expires_at > to_timestamp($4::float8) AND consumed_at > to_timestamp($4::float8 - $5::integer)
      FOR UPDATE`,
    values: [...keyOf(use), now, use.leeway],
  });
  const [token] = rows;
  if (token === undefined) return false;
  const { rowCount } = await client.query({
    name: 'end-successor',
    text: `UPDATE oidc_payload SET consumed_at = to_timestamp($5::float8 - ${LONG_AGO}) WHERE ${UNUSED_SUCCESSOR}`,
    values: [...keyOf(use), token.grant_id, now],
  });
  return rowCount === 1;
}
