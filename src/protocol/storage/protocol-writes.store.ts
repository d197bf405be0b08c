/**
 * The hot path's writes: everything that one request writes is one statement, one round trip and one commit. Named prepared statements
 * through pg, not knex; expiry is compared with the caller's clock.
 */
import type pg from 'pg';
import { eventRow, writingEvent } from '../../features/audit/audit.store.ts';
import type { AuditEvent } from '../../features/audit/events.resource.ts';
import { BACKCHANNEL_PING } from '../../features/backchannel-requests/ping.policy.ts';
import { isProvisioned } from '../../features/provisioning/provisioning-queue.store.ts';
import { repeatUndone } from '../../platform/database/repetition.ts';
import { ALL_SERVERS, MODELS, type StoredKey, type StoredModel } from './protocol-state.store.ts';
import { endSuccessor } from './refresh-leeway.store.ts';
import { hour, inserting, isUnused, type SingleUse, valueList, writeShared } from './shared-writes.store.ts';

/** Extends a token that is used repeatedly (rotation STATIC); fails like a use if the token is gone. */
export interface Extension extends StoredKey {
  readonly expiresAt: number;
}

/** The user's answer to a device request; the first one counts. */
export interface Answer extends StoredModel {
  event?: AuditEvent;
}

/** A notification or task for the outbox. */
export interface Note {
  readonly kind: string;
  readonly orderingKey: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A session that was found and is saved again, perhaps under a new ID. */
export interface SessionSave extends StoredModel {
  /** The hashed ID that it was found under. */
  readonly foundId: string;
}

export interface SessionClient {
  readonly sessionUid: string;
  readonly serverKey: number;
  readonly clientId: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
  /** Had the session no authorization of the application when it was read? */
  readonly isFirst: boolean;
  /** The event of the application's first authorization in this session; absent: not the first. */
  event?: AuditEvent;
}

/** Everything that one request writes. */
export interface WriteSet {
  readonly inserts: readonly StoredModel[];
  /** Updates only: ended sessions and replaced IDs are not restored. */
  readonly sessions: readonly SessionSave[];
  readonly uses: readonly SingleUse[];
  readonly extensions: readonly Extension[];
  readonly answers: readonly Answer[];
  readonly deletes: readonly StoredKey[];
  readonly notes: readonly Note[];
  readonly sessionClients: readonly SessionClient[];
  /** Events of the request. */
  readonly events: readonly AuditEvent[];
  /** Does the response depend on the session that is saved? Then nothing is written if that session has ended. */
  readonly bySession: boolean;
}

/** A code or refresh token was used before, has expired or was deleted, or a device request was answered before: nothing was written. */
export class AlreadyUsed extends Error {
  override readonly name = 'AlreadyUsed';
}

/** The session that the response depends on has ended: nothing was written. */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded';
}

/**
 * Writes everything of a request as one statement, one round trip and one commit. The statement and its prepared name depend on how many
 * rows of each kind there are.
 * @throws {AlreadyUsed} a use, extension or answer found no matching row; nothing was written
 * @throws {SessionEnded} the session that the response depends on has ended; nothing was written
 */
export async function write(pool: pg.Pool, set: WriteSet, now: number): Promise<void> {
  try {
    const { inserts, uses } = set;
    if (!isShareable(set)) await writeAlone(pool, set, now);
    else if (!(await writeShared(pool, { inserts, use: uses[0], now }))) throw new AlreadyUsed();
  } catch (error) {
    const again = set.uses.find(({ leeway }) => leeway > 0);
    if (!(error instanceof AlreadyUsed) || again === undefined) throw error;
    await repeatUndone(() => writeAgain(pool, set, again, now));
  }
}

/** Writes the result of a further use within the leeway, replacing that of the first use. @throws {AlreadyUsed} */
async function writeAgain(pool: pg.Pool, set: WriteSet, again: SingleUse, now: number): Promise<void> {
  const client = await pool.connect();
  let broken: unknown;
  try {
    await client.query('BEGIN');
    if (!(await endSuccessor(client, again, now))) throw new AlreadyUsed();
    await writeAlone(client, { ...set, uses: set.uses.filter((use) => use !== again) }, now);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken !== undefined);
  }
}

async function writeAlone(connection: Pick<pg.Pool, 'query'>, set: WriteSet, now: number): Promise<void> {
  const statement = compose(set, now);
  if (statement === undefined) return;
  const { rows } = await connection.query<{ conditions: number; held: number }>(statement);
  if (set.bySession && rows[0]?.held !== set.sessions.length) throw new SessionEnded();
  if (rows[0]?.conditions !== set.uses.length + set.extensions.length + set.answers.length) throw new AlreadyUsed();
}

/** New rows and at most one use: these can share a statement and a commit with other requests. */
const isShareable = ({ inserts, sessions, uses, extensions, answers, deletes, notes, sessionClients, events }: WriteSet): boolean =>
  inserts.length + uses.length > 0 &&
  uses.length < 2 &&
  [sessions, extensions, answers, deletes, notes, sessionClients, events].every((list) => list.length === 0);

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
      `${name} AS (UPDATE oidc_payload SET consumed_at = ${time(now)} WHERE ${where(use)} AND ${isUnused(put(now, 'float8'))} RETURNING 1)`,
    );
  }
  for (const extension of set.extensions) {
    const name = `condition${conditions.push('extension')}`;
    parts.push(
      `${name} AS (UPDATE oidc_payload SET expires_at = ${time(extension.expiresAt)}, exp_hour = ${put(hour(extension.expiresAt), 'integer')}
        WHERE ${where(extension)} AND expires_at > ${time(now)} RETURNING 1)`,
    );
  }
  // A session is locked before other writes about it, as by a logout: either the logout sees these writes, or they see its end.
  set.sessions.forEach(({ uid }, index) => {
    parts.push(
      `held${index} AS MATERIALIZED (SELECT 1 FROM oidc_payload WHERE server_key = ${ALL_SERVERS} AND uid = ${put(uid ?? null, 'text')} FOR UPDATE)`,
    );
  });
  const held = countOf('held', set.sessions.length);
  const whileHeld = set.sessions.length === 0 ? [] : [`${held} = ${set.sessions.length}`];
  const whileAnswering = set.bySession ? whileHeld : [];
  const events: string[] = [];
  const eventTypes: string[] = [];
  const writeEvent = (event: AuditEvent, onlyFrom: string) => {
    eventTypes.push(event.eventType);
    events.push(`SELECT ${put(eventRow(event), 'text')} AS event${onlyFrom}`);
  };
  const pings: string[] = [];
  for (const answer of set.answers) {
    const name = `condition${conditions.push('answer')}`;
    const unanswered = [
      where(answer),
      `to_timestamp((payload->>'until')::float8) > ${time(now)}`,
      "NOT payload ?| ARRAY['accountId', 'error']",
      ...whileAnswering,
    ];
    parts.push(
      `${name} AS (UPDATE oidc_payload SET payload = payload || ${put(JSON.stringify(answer.payload), 'jsonb')},
        account_id = coalesce(${put(answer.accountId ?? null, 'text')}, account_id), grant_id = ${put(answer.grantId ?? null, 'text')}
        WHERE ${unanswered.join(' AND ')} RETURNING id, client_id, payload)`,
    );
    if (answer.model === 'BackchannelAuthenticationRequest')
      pings.push(`SELECT '${BACKCHANNEL_PING}', client_id, jsonb_build_object('id', id, 'kind', '${BACKCHANNEL_PING}', 'clientId', client_id, 'sealed', payload->'notify', 'until', payload->'until'),
        ${time(now)}, ${time(now)} FROM ${name} WHERE payload ? 'notify'`);
    if (answer.event !== undefined) writeEvent(answer.event, ` FROM ${name}`);
  }
  const met = countOf('condition', conditions.length, 1);
  const whileMet = conditions.length === 0 ? [] : [`${met} = ${conditions.length}`];
  for (const event of set.events) writeEvent(event, onlyIf(whileMet));

  if (set.inserts.length > 0) {
    const rows = put(JSON.stringify(set.inserts.map((row) => valueList(row))), 'text');
    parts.push(`inserted AS (${inserting(rows, [...whileMet, ...whileAnswering].join(' AND ') || 'true')})`);
  }
  set.sessions.forEach((row, index) => {
    parts.push(
      `session${index} AS (UPDATE oidc_payload SET id = ${put(row.id, 'text')}, payload = ${put(JSON.stringify(row.payload), 'jsonb')},
        account_id = ${put(row.accountId ?? null, 'text')}, expires_at = ${time(row.expiresAt)}, exp_hour = ${put(hour(row.expiresAt), 'integer')}
        WHERE server_key = ${ALL_SERVERS} AND uid = ${put(row.uid ?? null, 'text')} AND (id = ${put(row.foundId, 'text')} OR ${put(row.id !== row.foundId, 'boolean')})${and(whileMet)})`,
    );
  });
  set.deletes.forEach((key, index) => {
    parts.push(`deleted${index} AS (DELETE FROM oidc_payload WHERE ${[where(key), ...whileMet, ...whileAnswering].join(' AND ')})`);
  });
  const joining = set.sessionClients.find(({ event }) => event !== undefined);
  set.sessionClients.forEach((client, index) => {
    parts.push(
      `client${index} AS (INSERT INTO browser_session_clients (session_uid, server_key, client_id, authorization_state, exp_hour)
        SELECT ${put(client.sessionUid, 'text')}, ${put(client.serverKey, 'integer')}, ${put(client.clientId, 'text')},
          ${put(JSON.stringify(client.state), 'jsonb')}, ${put(hour(client.expiresAt), 'integer')}${onlyIf([...whileMet, ...whileHeld])}
        ON CONFLICT (session_uid, server_key, client_id) DO UPDATE SET authorization_state = excluded.authorization_state, exp_hour = excluded.exp_hour
        RETURNING (xmax = 0) AS is_new)`,
    );
    // Of two concurrent first authorizations, only one is the first.
    if (client.event !== undefined && client === joining) writeEvent(client.event, ` FROM client${index} WHERE is_new`);
  });
  if (set.notes.length > 0) {
    const notes = put(JSON.stringify(set.notes.map(({ kind, orderingKey, payload }) => ({ kind, lane: orderingKey, payload }))), 'jsonb');
    const read = `jsonb_to_recordset(${notes}) AS note (kind text, lane text, payload jsonb)`;
    parts.push(
      `noted AS (INSERT INTO outbox (kind, ordering_key, payload, created, due) SELECT kind, lane, payload, ${time(now)}, ${time(now)} FROM ${read}${onlyIf([...whileMet, ...whileAnswering])})`,
    );
  }
  if (pings.length > 0)
    parts.push(`pinged AS (INSERT INTO outbox (kind, ordering_key, payload, created, due) ${pings.join(' UNION ALL ')})`);
  if (events.length > 0) parts.push(`events AS (${events.join(' UNION ALL ')})`, writingEvent('events.event', 'events', eventTypes));
  if (parts.length === 0) return undefined;
  const counts = [
    set.inserts.slice(0, 1),
    set.sessions,
    set.uses,
    set.extensions,
    set.answers,
    set.deletes,
    set.sessionClients,
    set.notes.slice(0, 1),
    pings,
    set.events,
  ].map((list) => list.length);
  const text = `WITH ${parts.join(',\n')} SELECT (${met})::integer AS conditions, (${held})::integer AS held`;
  const provisions = eventTypes.some(isProvisioned) ? '-provisioning' : '';
  const variant = `${set.bySession ? '-by-session' : ''}${joining === undefined ? '' : '-joining'}-${events.length}${provisions}`;
  return { name: `write-${counts.join('-')}${variant}`, text, values };
}

/** SQL for the number of rows that the parts of this name found. @param first number of the first part */
const countOf = (name: string, parts: number, first = 0): string =>
  parts === 0 ? '0' : Array.from({ length: parts }, (_, index) => `(SELECT count(*) FROM ${name}${index + first})`).join(' + ');

const and = (conditions: readonly string[]): string => conditions.map((condition) => ` AND ${condition}`).join('');

const onlyIf = (conditions: readonly string[]): string => (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`);

/** For values that could not be used: still stored, so used before and not revoked? */
export async function wasUsed(pool: pg.Pool, uses: readonly SingleUse[]): Promise<boolean> {
  for (const { id, model, serverKey } of uses) {
    const { rowCount } = await pool.query({
      name: 'was-used',
      text: 'SELECT 1 FROM oidc_payload WHERE id = $1 AND model = $2 AND server_key = $3 AND consumed_at IS NOT NULL',
      values: [id, MODELS[model], serverKey],
    });
    if (rowCount === 1) return true;
  }
  return false;
}

/**
 * Stores a value that may be used once, without waiting for locks: of many concurrent calls one succeeds (RFC 7523 section 3, `jti`).
 * @returns false if it was stored before and has not expired
 */
export async function insertOnce(pool: pg.Pool, row: StoredModel, now: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'insert-once',
    text: `INSERT INTO oidc_payload (id, model, server_key, payload, expires_at, exp_hour) VALUES ($1, $2, $3, $4, to_timestamp($5), $6)
      ON CONFLICT (id, model, server_key) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at, exp_hour = excluded.exp_hour
        WHERE oidc_payload.expires_at <= to_timestamp($7)`,
    values: [row.id, MODELS[row.model], row.serverKey, JSON.stringify(row.payload), row.expiresAt, hour(row.expiresAt), now],
  });
  return rowCount === 1;
}
