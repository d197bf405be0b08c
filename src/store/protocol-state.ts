/**
 * The hot path's SQL: what oidc-provider keeps (sessions, codes, tokens, interactions), one row each, under the SHA-256 of its id.
 * Reads bring the account along; the writes of a request become one statement and so one commit. Named prepared
 * statements through pg, never knex. Expiry is compared with the caller's clock.
 */
import type pg from 'pg';

/** Numbers in the column `model`. Never reuse one. */
export const MODELS = {
  Session: 1,
  AuthorizationCode: 2,
  AccessToken: 3,
  RefreshToken: 4,
  ClientCredentials: 5,
  Interaction: 6,
  ReplayDetection: 7,
} as const;
export type ModelName = keyof typeof MODELS;

/** `server_key` of what all authorization servers share. */
export const ALL_SERVERS = 0;

export interface StoredKey {
  readonly model: ModelName;
  /** SHA-256 of the value, base64url. */
  readonly id: string;
  readonly serverKey: number;
}

export interface StoredModel extends StoredKey {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly accountId: string | undefined;
  readonly clientId: string | undefined;
  readonly grantId: string | undefined;
  readonly uid: string | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** What a token or a session needs to know of its user. */
export interface Account {
  readonly id: string;
  readonly login: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly status: string;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly lastUpdated: Date;
}

export interface FoundModel {
  readonly model: ModelName;
  readonly payload: Record<string, unknown>;
  /** Epoch seconds of the first use. */
  readonly consumedAt: number | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
  readonly account: Account | undefined;
}

export interface FoundSession {
  readonly payload: Record<string, unknown>;
  readonly expiresAt: number;
  readonly account: Account | undefined;
  /** What the session authorized at the one server, by client_id. */
  readonly clients: Record<string, Record<string, unknown>>;
}

/** One use of a code or refresh token: nothing of the request is written unless it succeeds. */
export interface Use extends StoredKey {
  /** Seconds after the first use during which a further one still succeeds; 0: exactly one succeeds. */
  readonly leeway: number;
}

/** A new life for a token that is used again and again (rotation STATIC): fails like a use when the token is gone. */
export interface Extension extends StoredKey {
  readonly expiresAt: number;
}

export interface SessionClient {
  readonly sessionUid: string;
  readonly serverKey: number;
  readonly clientId: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
}

/** All that one request writes. */
export interface WriteSet {
  readonly inserts: readonly StoredModel[];
  /** Re-saves of sessions, found by their uid for their id may be a new one: a session that was ended meanwhile is not brought back. */
  readonly sessions: readonly StoredModel[];
  readonly uses: readonly Use[];
  readonly extensions: readonly Extension[];
  readonly deletes: readonly StoredKey[];
  readonly sessionClients: readonly SessionClient[];
}

const NAME_OF = new Map<number, ModelName>(Object.entries(MODELS).map(([name, number]) => [number, name as ModelName]));
const ACCOUNT = 'u.id, u.login, u.email, u.email_verified, u.status, u.profile, u.last_updated';
const hour = (epochSeconds: number): number => Math.ceil(epochSeconds / 3600);

interface ModelRow {
  readonly model: number;
  readonly payload: Record<string, unknown>;
  readonly consumed: number | null;
  readonly expires: number;
  readonly id: string | null;
  readonly login: string;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly status: string;
  readonly profile: Record<string, unknown>;
  readonly last_updated: Date;
}

function accountOf(row: ModelRow): Account | undefined {
  if (row.id === null) return undefined;
  const { id, login, email, status, profile } = row;
  return { id, login, email, emailVerified: row.email_verified, status, profile, lastUpdated: row.last_updated };
}

const FIND = {
  name: 'find-model',
  text: `SELECT p.model, p.payload, extract(epoch FROM p.consumed_at)::float8 AS consumed, extract(epoch FROM p.expires_at)::float8 AS expires, ${ACCOUNT}
    FROM oidc_payload p LEFT JOIN users u ON u.id = p.account_id
    WHERE p.id = $1 AND p.server_key = $2 AND p.expires_at > to_timestamp($3)`,
};

/** Looks a value up whatever its model is: an access token and a refresh token are told apart by the row, not by asking twice. */
export async function findModel(pool: pg.Pool, id: string, serverKey: number, now: number): Promise<FoundModel | undefined> {
  const { rows } = await pool.query<ModelRow>({ ...FIND, values: [id, serverKey, now] });
  const [row] = rows;
  const model = row && NAME_OF.get(row.model);
  if (row === undefined || model === undefined) return undefined;
  return { model, payload: row.payload, consumedAt: row.consumed ?? undefined, expiresAt: row.expires, account: accountOf(row) };
}

const findSessionBy = (name: string, condition: string) => ({
  name,
  text: `SELECT s.payload, extract(epoch FROM s.expires_at)::float8 AS expires, ${ACCOUNT},
      (SELECT jsonb_object_agg(c.client_id, c.authorization_state) FROM browser_session_clients c
        WHERE c.session_uid = s.uid AND c.server_key = $2) AS clients
    FROM oidc_payload s LEFT JOIN users u ON u.id = s.account_id
    WHERE ${condition} AND s.model = ${MODELS.Session} AND s.server_key = ${ALL_SERVERS} AND s.expires_at > to_timestamp($3)`,
});
const FIND_SESSION = findSessionBy('find-session', 's.id = $1');
const FIND_SESSION_BY_UID = findSessionBy('find-session-by-uid', 's.uid = $1');

/** @param by the hashed id of the cookie's value, or the session's uid */
export async function findSession(
  pool: pg.Pool,
  by: { readonly id: string } | { readonly uid: string },
  serverKey: number,
  now: number,
): Promise<FoundSession | undefined> {
  const [statement, value] = 'id' in by ? [FIND_SESSION, by.id] : [FIND_SESSION_BY_UID, by.uid];
  const { rows } = await pool.query<ModelRow & { clients: FoundSession['clients'] | null }>({
    ...statement,
    values: [value, serverKey, now],
  });
  const [row] = rows;
  return row && { payload: row.payload, expiresAt: row.expires, account: accountOf(row), clients: row.clients ?? {} };
}

/** A code or refresh token was used before, has expired or is gone: nothing was written. */
export class AlreadyUsed extends Error {
  override readonly name = 'AlreadyUsed';
}

/**
 * Carries out everything a request writes as one statement, one round trip and one commit. The statement's shape depends on how many
 * of each there are, and so does its prepared name.
 * @throws {AlreadyUsed} when a use or an extension found nothing to use; then nothing was written
 */
export async function write(pool: pg.Pool, set: WriteSet, now: number): Promise<void> {
  const statement = compose(set, now);
  if (statement === undefined) return;
  const { rows } = await pool.query<{ conditions: number }>(statement);
  if (rows[0]?.conditions !== set.uses.length + set.extensions.length) throw new AlreadyUsed();
}

const COLUMNS = 'id, model, server_key, payload, account_id, client_id, grant_id, uid, expires_at, exp_hour';

function compose(set: WriteSet, now: number): pg.QueryConfig | undefined {
  const values: unknown[] = [];
  const parts: string[] = [];
  const put = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const time = (epoch: number): string => `to_timestamp(${put(epoch, 'float8')})`;
  const where = (key: StoredKey): string =>
    `id = ${put(key.id, 'text')} AND model = ${put(MODELS[key.model], 'smallint')} AND server_key = ${put(key.serverKey, 'integer')}`;

  const conditions: string[] = [];
  for (const use of set.uses) {
    const name = `condition${conditions.push('use')}`;
    parts.push(
      `${name} AS (UPDATE oidc_payload SET consumed_at = coalesce(consumed_at, ${time(now)}) WHERE ${where(use)} AND expires_at > ${time(now)}
        AND (consumed_at IS NULL OR consumed_at > ${time(now - use.leeway)}) RETURNING 1)`,
    );
  }
  for (const extension of set.extensions) {
    const name = `condition${conditions.push('extension')}`;
    parts.push(
      `${name} AS (UPDATE oidc_payload SET expires_at = ${time(extension.expiresAt)}, exp_hour = ${put(hour(extension.expiresAt), 'integer')}
        WHERE ${where(extension)} AND expires_at > ${time(now)} RETURNING 1)`,
    );
  }
  const met = conditions.length === 0 ? '0' : conditions.map((_, index) => `(SELECT count(*) FROM condition${index + 1})`).join(' + ');
  const gate = conditions.length === 0 ? '' : ` WHERE ${met} = ${conditions.length}`;

  if (set.inserts.length > 0) {
    const rows = set.inserts.map(
      (row) =>
        `(${put(row.id, 'text')}, ${put(MODELS[row.model], 'smallint')}, ${put(row.serverKey, 'integer')}, ${put(JSON.stringify(row.payload), 'jsonb')},
          ${put(row.accountId ?? null, 'text')}, ${put(row.clientId ?? null, 'text')}, ${put(row.grantId ?? null, 'text')}, ${put(row.uid ?? null, 'text')},
          ${time(row.expiresAt)}, ${put(hour(row.expiresAt), 'integer')})`,
    );
    parts.push(
      `inserted AS (INSERT INTO oidc_payload (${COLUMNS}) SELECT * FROM (VALUES ${rows.join(', ')}) AS v${gate}
        ON CONFLICT (id, model, server_key) DO UPDATE SET payload = excluded.payload, account_id = excluded.account_id,
          expires_at = excluded.expires_at, exp_hour = excluded.exp_hour)`,
    );
  }
  set.sessions.forEach((row, index) => {
    parts.push(
      `session${index} AS (UPDATE oidc_payload SET id = ${put(row.id, 'text')}, payload = ${put(JSON.stringify(row.payload), 'jsonb')},
        account_id = ${put(row.accountId ?? null, 'text')}, expires_at = ${time(row.expiresAt)}, exp_hour = ${put(hour(row.expiresAt), 'integer')}
        WHERE server_key = ${ALL_SERVERS} AND uid = ${put(row.uid ?? null, 'text')})`,
    );
  });
  set.deletes.forEach((key, index) => {
    parts.push(`deleted${index} AS (DELETE FROM oidc_payload WHERE ${where(key)})`);
  });
  set.sessionClients.forEach((client, index) => {
    parts.push(
      `client${index} AS (INSERT INTO browser_session_clients (session_uid, server_key, client_id, authorization_state, exp_hour)
        VALUES (${put(client.sessionUid, 'text')}, ${put(client.serverKey, 'integer')}, ${put(client.clientId, 'text')},
          ${put(JSON.stringify(client.state), 'jsonb')}, ${put(hour(client.expiresAt), 'integer')})
        ON CONFLICT (session_uid, server_key, client_id) DO UPDATE SET authorization_state = excluded.authorization_state, exp_hour = excluded.exp_hour)`,
    );
  });
  if (parts.length === 0) return undefined;
  const counts = [set.inserts, set.sessions, set.uses, set.extensions, set.deletes, set.sessionClients].map((list) => list.length);
  return { name: `write-${counts.join('-')}`, text: `WITH ${parts.join(',\n')} SELECT (${met})::integer AS conditions`, values };
}

/**
 * Ends a family of tokens: everything that came from one authorization (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2). Repeats until
 * nothing is left, for a successor that was being written meanwhile becomes visible only to the next statement.
 */
export async function deleteGrant(pool: pg.Pool, grantId: string): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query({
      name: 'delete-grant',
      text: 'DELETE FROM oidc_payload WHERE grant_id = $1',
      values: [grantId],
    });
    if (rowCount === 0) return;
  }
}

/** Ends a browser session on all servers; its tokens live on. */
export async function deleteSession(pool: pg.Pool, uid: string): Promise<void> {
  await pool.query({
    name: 'delete-session',
    text: `WITH clients AS (DELETE FROM browser_session_clients WHERE session_uid = $1)
      DELETE FROM oidc_payload WHERE server_key = ${ALL_SERVERS} AND uid = $1`,
    values: [uid],
  });
}

/**
 * Removes what expired, the oldest first, in one bounded batch.
 * @returns the number of rows removed; less than `limit` when nothing older is left
 */
export async function deleteExpired(pool: pg.Pool, now: number, limit: number): Promise<number> {
  const batch = (table: string, key: string, name: string) => ({
    name,
    text: `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE exp_hour < $1 ORDER BY exp_hour LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    values: [Math.floor(now / 3600), limit],
  });
  const models = await pool.query(batch('oidc_payload', 'id, model, server_key', 'delete-expired-models'));
  const clients = await pool.query(batch('browser_session_clients', 'session_uid, server_key, client_id', 'delete-expired-clients'));
  return Math.max(models.rowCount ?? 0, clients.rowCount ?? 0);
}
