/** When a request that waits for its user was last polled: kept in its row, so that all processes count together. */
import type pg from 'pg';
import { MODELS, type StoredKey } from './protocol-state.store.ts';

/** One statement: of two polls at once the second finds the time of the first. */
const POLL = {
  name: 'note-poll',
  text: `UPDATE oidc_payload SET payload = jsonb_set(payload, '{polled}', to_jsonb($4::float8))
    WHERE id = $1 AND model = $2 AND server_key = $3 AND NOT payload ?| ARRAY['accountId', 'error']
      AND coalesce((payload->>'polled')::float8 + $5::float8, 0) <= $4::float8`,
};

/**
 * @param now epoch seconds
 * @param apart seconds since the last poll that was counted
 * @returns false when that was less ago; then nothing is written
 */
export async function notePoll(pool: pg.Pool, { id, model, serverKey }: StoredKey, now: number, apart: number): Promise<boolean> {
  const { rowCount } = await pool.query({ ...POLL, values: [id, MODELS[model], serverKey, now, apart] });
  return rowCount === 1;
}
