/**
 * Writes that several requests can share: new rows, and for each request at most one use of a code or refresh token that its rows depend
 * on. They are one statement and one commit; each request gets its own result. protocol-writes.store.ts contains the other writes.
 */
import type pg from 'pg';
import { batch } from '../../platform/database/batch.ts';
import { MODELS, type StoredKey, type StoredModel } from './protocol-state.store.ts';

/** One use of a code or refresh token. Nothing of the request is written unless it succeeds. */
export interface SingleUse extends StoredKey {
  /** Seconds after the first use in which a further use replaces its result (refresh-leeway.store.ts); 0: exactly one succeeds. */
  readonly leeway: number;
}

export interface SharedWrite {
  readonly inserts: readonly StoredModel[];
  /** Without a use, the rows are always inserted. */
  readonly use: SingleUse | undefined;
  /** Epoch seconds. */
  readonly now: number;
}

/** Maximum requests in one statement; each number is a prepared statement of its own. */
const MOST = 16;

/** The hour in which expired rows are deleted: coarse, so that an update seldom changes the index. */
export const hour = (epochSeconds: number): number => Math.ceil(epochSeconds / 3600);

const COLUMNS = 'id, model, server_key, payload, account_id, client_id, grant_id, uid';
/** Inserts the rows of a JSON parameter. @param condition of a row */
export const inserting = (rows: string, condition: string): string =>
  `INSERT INTO oidc_payload (${COLUMNS}, expires_at, exp_hour) SELECT ${COLUMNS}, to_timestamp(expires), exp_hour
    FROM jsonb_to_recordset(${rows}::jsonb) AS row (request integer, id text, model smallint, server_key integer, payload jsonb, account_id text,
      client_id text, grant_id text, uid text, expires float8, exp_hour integer) WHERE ${condition}
    ON CONFLICT (id, model, server_key) DO UPDATE SET payload = excluded.payload, account_id = excluded.account_id,
      expires_at = excluded.expires_at, exp_hour = excluded.exp_hour`;

/** A row for `inserting`. @param request the number of the use that it depends on, from 1 */
export const valueList = (row: StoredModel, request?: number): object => ({
  id: row.id,
  request,
  model: MODELS[row.model],
  server_key: row.serverKey,
  payload: row.payload,
  account_id: row.accountId,
  client_id: row.clientId,
  grant_id: row.grantId,
  uid: row.uid,
  expires: row.expiresAt,
  exp_hour: hour(row.expiresAt),
});

/** @param now placeholder */
export const isUnused = (now: string): string => `consumed_at IS NULL AND expires_at > to_timestamp(${now})`;

/**
 * Each use is an update by the primary key.
 * @param waits for rows that another transaction has locked; otherwise such a use fails as if the row were gone
 */
function using(uses: number, waits: boolean): { readonly name: string; readonly text: string } {
  const numbers = Array.from({ length: uses }, (_, index) => index + 1);
  const updates = numbers.map((number) => {
    const [id, model, server] = [0, 1, 2].map((field) => `$${3 * number + field}`);
    const key = `id = ${id}::text AND model = ${model}::smallint AND server_key = ${server}::integer`;
    const free = waits ? '' : `AND EXISTS (SELECT FROM oidc_payload WHERE ${key} FOR UPDATE SKIP LOCKED)`;
    return `used${number} AS (UPDATE oidc_payload SET consumed_at = to_timestamp($2::float8)
      WHERE ${key} AND ${isUnused('$2::float8')} ${free}
      RETURNING ${number} AS request)`;
  });
  const used = numbers.map((number) => `SELECT request FROM used${number}`).join(' UNION ALL ');
  return {
    name: `use-models-${uses}${waits ? '-waiting' : ''}`,
    text: `WITH ${updates.join(',\n')}, used AS (${used}),
      inserted AS (${inserting('$1', 'request IS NULL OR request IN (SELECT request FROM used)')}) SELECT request FROM used`,
  };
}

const INSERT = { name: 'insert-models', text: inserting('$1', 'true') };
/** By number of uses. */
const SHARED = [INSERT, ...Array.from({ length: MOST }, (_, index) => using(index + 1, false))];
const WAITING = using(1, true);

async function send(pool: pg.Pool, requests: readonly SharedWrite[], waits = false): Promise<boolean[]> {
  const uses = requests.flatMap(({ use }) => use ?? []);
  const rows = requests.flatMap(({ inserts, use }) => inserts.map((row) => valueList(row, use && uses.indexOf(use) + 1)));
  const [now] = requests.map((request) => request.now);
  const values = uses.flatMap(({ id, model, serverKey }) => [id, MODELS[model], serverKey]);
  const { rows: met } = await pool.query<{ readonly request: number }>({
    values: [JSON.stringify(rows), ...(uses.length === 0 ? [] : [now, ...values])],
    ...(waits ? WAITING : (SHARED[uses.length] ?? INSERT)),
  });
  const succeeded = new Set(met.map(({ request }) => request));
  return requests.map(({ use }) => use === undefined || succeeded.has(uses.indexOf(use) + 1));
}

const sendTogether = batch((pool, requests: readonly SharedWrite[]) => send(pool, requests), MOST);
const sendWaiting = batch((pool, requests: readonly SharedWrite[]) => send(pool, requests, true), 1);

/**
 * Shared writes do not wait for locked rows: that would delay other requests, and bulk deletions lock in a different order. A use that
 * failed or whose row is locked is retried alone.
 * @returns whether the use succeeded, and the rows with it; without a use, true
 */
export async function writeShared(pool: pg.Pool, request: SharedWrite): Promise<boolean> {
  return (await sendTogether(pool, request)) || sendWaiting(pool, request);
}
