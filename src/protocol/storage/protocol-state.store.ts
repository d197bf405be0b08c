/**
 * The hot path's reads and deletions of oidc-provider's state (sessions, codes, tokens, interactions), one row each, under a digest of its
 * ID. Reads include the account. Named prepared statements through pg, not knex; expiry is compared with the caller's clock.
 * protocol-writes.store.ts contains the writes.
 */
import type pg from 'pg';
import { endOfGrant, type OrganizationPolicy } from '../../features/organization-policy/organization-policy.policy.ts';
import { batch } from '../../platform/database/batch.ts';
import { isBrokenConnection } from '../../platform/database/database-failures.ts';

/** Numbers in the column `model`. Never reuse one. */
export const MODELS = {
  Session: 1,
  AuthorizationCode: 2,
  AccessToken: 3,
  RefreshToken: 4,
  ClientCredentials: 5,
  Interaction: 6,
  ReplayDetection: 7,
  SessionToken: 8,
  PushedAuthorizationRequest: 9,
  DeviceCode: 20,
  BackchannelAuthenticationRequest: 21,
} as const;
export type ModelName = keyof typeof MODELS;

/** `server_key` of data that all authorization servers share. */
export const ALL_SERVERS = 0;

export interface StoredKey {
  readonly model: ModelName;
  /** SHA-256 of the value, base64url, preceded by the minute of issue if the value contains it (protocol/storage/row-keys.ts). */
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

/** User data for a token or session. */
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
  /** For refresh: policy of the user's organization; null: no policy, or no organization. */
  readonly organizationPolicy: OrganizationPolicy | null;
}

export interface FoundSession {
  readonly payload: Record<string, unknown>;
  readonly expiresAt: number;
  readonly account: Account | undefined;
  /** Authorizations of the session at the server, by client_id. */
  readonly clients: Record<string, Record<string, unknown>>;
}

/** Model names by number. */
export const MODEL_NAMES: ReadonlyMap<number, ModelName> = new Map<number, ModelName>(
  Object.entries(MODELS).map(([name, number]) => [number, name as ModelName]),
);
const ACCOUNT = 'u.id, u.login, u.email, u.email_verified, u.status, u.profile, u.last_updated';
/**
 * Forces the primary key regardless of statistics: with few users, PostgreSQL would read all of them for one row. The collation must match
 * that index: `account_id` has collation "C" here, `users.id` the database's.
 */
const withAccount = (row: string): string =>
  `LEFT JOIN LATERAL (SELECT id, login, email, email_verified, status, profile, last_updated FROM users WHERE id = ${row}.account_id COLLATE "default" LIMIT 1) u ON true`;

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

/**
 * Concurrent lookups in one statement. With an unknown limit, PostgreSQL estimates one row and keeps its plan; planning each time would take three
 * times as long as the lookup.
 */
const asking = (value: string): string =>
  `(SELECT * FROM unnest($1::text[], $2::integer[], $3::float8[]) WITH ORDINALITY AS each (${value}, server_key, moment, place) LIMIT $4::integer) asked`;

/** Models that yield refresh tokens. */
const OF_GRANTS = [MODELS.AuthorizationCode, MODELS.RefreshToken, MODELS.DeviceCode, MODELS.BackchannelAuthenticationRequest].join(', ');

/** In one statement: separate subqueries, so that each uses the primary key. */
/** @param more further columns */
export const findModelsText = (more = ''): string => `SELECT ${more} asked.place::integer, found.*
    FROM ${asking('id')}
    CROSS JOIN LATERAL (
      SELECT p.model, p.payload, extract(epoch FROM p.consumed_at)::float8 AS consumed, extract(epoch FROM p.expires_at)::float8 AS expires, ${ACCOUNT},
          CASE WHEN p.model IN (${OF_GRANTS}) AND p.payload->>'orgId' IS NOT NULL
            THEN (SELECT policy FROM organizations o WHERE o.id = p.payload->>'orgId') END AS policy
        FROM oidc_payload p ${withAccount('p')}
        WHERE p.id = asked.id AND p.server_key = asked.server_key AND p.expires_at > to_timestamp(asked.moment) LIMIT 1) AS found`;
const FIND = { name: 'find-models', text: findModelsText() };

/** One lookup of a hashed value. */
export interface ModelLookup {
  readonly value: string;
  readonly serverKey: number;
  readonly now: number;
}

const MOST_TOGETHER = 100;
export const lookupColumns = (looks: readonly ModelLookup[]) => [
  looks.map(({ value }) => value),
  looks.map(({ serverKey }) => serverKey),
  looks.map(({ now }) => now),
  looks.length,
];

/** A lookup changes nothing, so it is repeated once if only its connection broke, which can affect many at once. */
async function ask<Row extends pg.QueryResultRow>(pool: pg.Pool, query: pg.QueryConfig): Promise<readonly Row[]> {
  try {
    return (await pool.query<Row>(query)).rows;
  } catch (error) {
    if (!isBrokenConnection(error)) throw error;
    return (await pool.query<Row>(query)).rows;
  }
}

export type FoundRow = ModelRow & { readonly place: number; readonly policy: OrganizationPolicy | null };

/** @returns undefined for a model that this version does not support, and for one that an organization's policy has ended */
export function modelIn(row: FoundRow, looks: readonly ModelLookup[]): FoundModel | undefined {
  const model = MODEL_NAMES.get(row.model);
  if (model === undefined) return undefined;
  const { payload, consumed, policy } = row;
  const expiresAt = model === 'RefreshToken' ? Math.min(row.expires, endOfGrant(policy ?? undefined, signedInAt(payload))) : row.expires;
  if (expiresAt <= (looks[row.place - 1]?.now ?? 0)) return undefined;
  return { model, payload, consumedAt: consumed ?? undefined, expiresAt, account: accountOf(row), organizationPolicy: policy };
}

const findModels = batch(async (pool, looks: readonly ModelLookup[]) => {
  const rows = await ask<FoundRow>(pool, { values: lookupColumns(looks), ...FIND });
  const found: (FoundModel | undefined)[] = looks.map(() => undefined);
  for (const row of rows) found[row.place - 1] = modelIn(row, looks);
  return found;
}, MOST_TOGETHER);

/** @returns epoch seconds; for a token without the time, when the first of its family was issued */
const signedInAt = ({ authTime, iiat }: Readonly<Record<string, unknown>>): number | undefined =>
  typeof authTime === 'number' ? authTime : typeof iiat === 'number' ? iiat : undefined;

/** Looks up a value of any model: the row shows whether it is an access or refresh token. */
export const findModel = (pool: pg.Pool, id: string, serverKey: number, now: number): Promise<FoundModel | undefined> =>
  findModels(pool, { value: id, serverKey, now });

const findSessionsBy = (column: 'id' | 'uid') => {
  const text = `SELECT asked.place::integer, found.*
    FROM ${asking('value')}
    CROSS JOIN LATERAL (
      SELECT s.payload, extract(epoch FROM s.expires_at)::float8 AS expires, ${ACCOUNT},
          (SELECT jsonb_object_agg(c.client_id, c.authorization_state) FROM browser_session_clients c
            WHERE c.session_uid = s.uid AND c.server_key = asked.server_key) AS clients
        FROM oidc_payload s ${withAccount('s')}
        WHERE s.${column} = asked.value AND s.model = ${MODELS.Session} AND s.server_key = ${ALL_SERVERS}
          AND s.expires_at > to_timestamp(asked.moment) LIMIT 1) AS found`;
  return batch(async (pool, looks: readonly ModelLookup[]) => {
    const query = { name: `find-sessions-by-${column}`, text, values: lookupColumns(looks) };
    const rows = await ask<ModelRow & { readonly place: number; readonly clients: FoundSession['clients'] | null }>(pool, query);
    const found: (FoundSession | undefined)[] = looks.map(() => undefined);
    for (const row of rows)
      found[row.place - 1] = { payload: row.payload, expiresAt: row.expires, account: accountOf(row), clients: row.clients ?? {} };
    return found;
  }, MOST_TOGETHER);
};
const findSessionsById = findSessionsBy('id');
const findSessionsByUid = findSessionsBy('uid');

/** @param by the hashed ID of the cookie's value, or the session's uid */
export async function findSession(
  pool: pg.Pool,
  by: { readonly id: string } | { readonly uid: string },
  serverKey: number,
  now: number,
): Promise<FoundSession | undefined> {
  return 'id' in by ? findSessionsById(pool, { value: by.id, serverKey, now }) : findSessionsByUid(pool, { value: by.uid, serverKey, now });
}

/**
 * Revokes a family of tokens: everything from one authorization (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2). Repeats until nothing is
 * left, because a successor written concurrently is visible only to the next statement.
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

/** `outbox.kind` of logout notifications (OpenID Connect Back-Channel Logout 1.0). */
export const BACKCHANNEL_LOGOUT = 'backchannel-logout';

/**
 * Locks browser sessions before the statement that ends them: concurrent writes are finished and visible, and no new ones start. Sessions
 * are locked before their clients, as in all other statements.
 * @param condition SQL condition of the sessions
 */
export const lockingSessions = (condition: string): string =>
  `SELECT uid FROM oidc_payload WHERE server_key = ${ALL_SERVERS} AND model = ${MODELS.Session} AND ${condition} ORDER BY uid FOR UPDATE`;

/**
 * Ends browser sessions on all servers, and records in the same statement which applications to notify: those with back-channel logout that were part
 * of the session. Of concurrent ends, only one records it. The sessions must be locked in the same transaction.
 * @param condition SQL condition of the sessions
 * @param now placeholder of the current time
 */
export const endingSessions = (condition: string, now: string): string => `WITH
  sessions AS (SELECT uid, account_id FROM oidc_payload WHERE server_key = ${ALL_SERVERS} AND model = ${MODELS.Session} AND ${condition}),
  clients AS (DELETE FROM browser_session_clients WHERE session_uid IN (SELECT uid FROM sessions)
    RETURNING session_uid, server_key, client_id, authorization_state->>'sid' AS sid),
  ended AS (DELETE FROM oidc_payload WHERE server_key = ${ALL_SERVERS} AND uid IN (SELECT uid FROM sessions)),
  present AS (SELECT ${now}::timestamptz AS moment)
  INSERT INTO outbox (kind, ordering_key, payload, created, due)
    SELECT '${BACKCHANNEL_LOGOUT}', c.client_id,
      jsonb_build_object('serverId', v.id, 'clientId', c.client_id, 'userId', s.account_id, 'sid', c.sid), moment, moment
    FROM present, clients c
      JOIN sessions s ON s.uid = c.session_uid
      JOIN authorization_servers v ON v.key = c.server_key
      JOIN applications a ON a.id = c.client_id COLLATE "default"
    WHERE a.settings->>'backchannel_logout_uri' IS NOT NULL AND s.account_id IS NOT NULL AND c.sid IS NOT NULL`;

const ANSWER = {
  name: 'answer-interaction',
  text: `UPDATE oidc_payload SET payload = $3::jsonb, account_id = coalesce($4::text, account_id)
    WHERE id = $1 AND server_key = $2 AND model = ${MODELS.Interaction} AND expires_at > to_timestamp($5::float8)`,
};

/** Stores the result of an interaction; its expiry is unchanged. @returns false if it has ended */
export async function answerInteraction(
  pool: pg.Pool,
  { id, serverKey, payload, accountId }: Pick<StoredModel, 'id' | 'serverKey' | 'payload' | 'accountId'>,
  now: number,
): Promise<boolean> {
  return (await pool.query({ values: [id, serverKey, JSON.stringify(payload), accountId ?? null, now], ...ANSWER })).rowCount === 1;
}

/**
 * Deletes expired rows, oldest first, in one limited batch.
 * @returns the number of deleted rows; fewer than `limit` if nothing older is left
 */
export async function deleteExpired(pool: pg.Pool, now: number, limit: number): Promise<number> {
  // Planned on each run (see prepared-statements.ts).
  const batch = (table: string, key: string) => ({
    text: `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE exp_hour < $1 ORDER BY exp_hour LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    values: [Math.floor(now / 3600), limit],
  });
  const models = await pool.query(batch('oidc_payload', 'id, model, server_key'));
  const clients = await pool.query(batch('browser_session_clients', 'session_uid, server_key, client_id'));
  return Math.max(models.rowCount ?? 0, clients.rowCount ?? 0);
}
