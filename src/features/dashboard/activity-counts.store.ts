/** Sign-ins and active users by hour and day, counted from the audit log. The only SQL on these tables. Hours and days are in UTC. */
import type { Executor } from '../../platform/database/database.ts';

/** HOUR rows are kept for three days, DAY rows for twice the longest range of the dashboard and a month. */
export type Span = 'HOUR' | 'DAY';

/** Position up to which the audit log is counted. */
export interface Progress {
  /** Every event before it is counted; null: none is. */
  readonly until: Date | null;
}

/**
 * Locks the single row, so that one process counts at a time. Needs a transaction.
 * @param rest milliseconds since the last count, by the database's clock, which all processes share
 * @returns undefined if another process is counting or has just counted
 */
export async function lockProgress(trx: Executor, rest: number): Promise<Progress | undefined> {
  return trx('activity_rollup')
    .whereRaw("coalesce(counted_at, '-infinity') <= clock_timestamp() - ? * interval '1 millisecond'", [rest])
    .forUpdate()
    .skipLocked()
    .first<Progress | undefined>({ until: 'counted_until' });
}

export async function updateProgress(trx: Executor, { until }: Progress): Promise<void> {
  await trx('activity_rollup').update({ counted_until: until, counted_at: trx.raw('clock_timestamp()') });
}

/** Time of the first event at or after a time. @returns undefined if there is none */
export async function findNextEvent(executor: Executor, since: Date): Promise<Date | undefined> {
  const found = await executor('audit_events')
    .where('published', '>=', since)
    .orderBy('published')
    .first<{ published: Date } | undefined>('published');
  return found?.published;
}

const COUNT = `WITH event AS MATERIALIZED (
    SELECT date_trunc('hour', published, 'UTC') AS hour, event_type AS type, coalesce(outcome->>'reason', '') AS reason,
      target->0->>'id' AS target, actor->>'id' AS actor
    FROM audit_events WHERE published >= :from AND published < :until
      AND event_type IN ('user.session.start', 'user.authentication.failure', 'user.authentication.sso', 'app.oauth2.as.authorize')
  ), counted AS (
    SELECT hour, 'sign-in' AS metric, '' AS key FROM event WHERE type = 'user.session.start'
    UNION ALL SELECT hour, 'failure', reason FROM event WHERE type = 'user.authentication.failure'
    UNION ALL SELECT hour, 'failure', reason FROM event WHERE type = 'app.oauth2.as.authorize' AND reason IN ('NOT_ASSIGNED', 'ACCESS_POLICY')
    UNION ALL SELECT hour, 'application', target FROM event WHERE type = 'user.authentication.sso'
  ), active AS (
    SELECT DISTINCT hour, actor FROM event JOIN users ON users.id = actor WHERE type IN ('user.session.start', 'user.authentication.sso')
  ), slots AS (
    SELECT 'HOUR' AS span, date_trunc('day', hour, 'UTC') AS start, actor, bit_or(1 << extract(hour FROM hour AT TIME ZONE 'UTC')::int) AS slots
      FROM active GROUP BY 2, 3
    UNION ALL SELECT 'DAY', date_trunc('month', hour, 'UTC'), actor, bit_or(1 << extract(day FROM hour AT TIME ZONE 'UTC')::int - 1)
      FROM active GROUP BY 2, 3
  ), written AS (
    INSERT INTO active_users AS known (span, start, user_id, slots) SELECT span, start, actor, slots FROM slots
    ON CONFLICT (span, start, user_id) DO UPDATE SET slots = known.slots | excluded.slots WHERE known.slots | excluded.slots <> known.slots
  )
  INSERT INTO activity_counts (span, start, metric, key, count) SELECT 'HOUR', hour, metric, key, count(*) FROM counted GROUP BY hour, metric, key
  ON CONFLICT (span, start, metric, key) DO UPDATE SET count = excluded.count`;

const ADD_UP = `INSERT INTO activity_counts (span, start, metric, key, count)
  SELECT 'DAY', :day, metric, key, sum(count) FROM activity_counts
    WHERE span = 'HOUR' AND start >= :day AND start < :day::timestamptz + interval '1 day' GROUP BY metric, key
  ON CONFLICT (span, start, metric, key) DO UPDATE SET count = excluded.count`;

/** Counts the events of whole hours, or of the current hour so far. Repeating it gives the same numbers. */
export async function countEvents(trx: Executor, from: Date, until: Date): Promise<void> {
  await trx.raw(COUNT, { from, until });
}

/** Adds up the hours of a day. @param day its start */
export async function addUpDay(trx: Executor, day: Date): Promise<void> {
  await trx.raw(ADD_UP, { day });
}

/** Deletes counts of periods that started before the time. */
export async function deleteCountsBefore(trx: Executor, span: Span, before: Date): Promise<void> {
  for (const table of ['activity_counts', 'active_users']) await trx(table).where({ span }).where('start', '<', before).delete();
}

/** A period of time, without its end. */
export interface Period {
  readonly from: Date;
  readonly until: Date;
}

/** Successful and failed sign-ins of each hour or day that has any. */
export async function listCounts(
  executor: Executor,
  span: Span,
  { from, until }: Period,
): Promise<readonly { readonly start: Date; readonly metric: 'sign-in' | 'failure'; readonly count: number }[]> {
  return executor('activity_counts')
    .where({ span })
    .where('start', '>=', from)
    .where('start', '<', until)
    .whereIn('metric', ['sign-in', 'failure'])
    .groupBy('start', 'metric')
    .select('start', 'metric', executor.raw('sum(count)::float8 AS count'));
}

/** Reasons of failed sign-ins, most frequent first. */
export async function listReasons(
  executor: Executor,
  span: Span,
  { from, until }: Period,
  limit: number,
): Promise<readonly { readonly reason: string; readonly count: number }[]> {
  return executor('activity_counts')
    .where({ span, metric: 'failure' })
    .where('start', '>=', from)
    .where('start', '<', until)
    .groupBy('key')
    .orderBy([{ column: 'count', order: 'desc' }, 'reason'])
    .limit(limit)
    .select({ reason: 'key' }, executor.raw('sum(count)::float8 AS count'));
}

/** The most used applications, with their counts in the period and in the previous one. */
export async function listTopApplications(
  executor: Executor,
  span: Span,
  { from, until }: Period,
  before: Date,
  limit: number,
): Promise<readonly { readonly id: string; readonly label: string | null; readonly count: number; readonly previous: number }[]> {
  const { rows } = await executor.raw<{ rows: { id: string; label: string | null; count: number; previous: number }[] }>(
    `SELECT c.key AS id, a.label, c.count::float8, c.previous::float8 FROM (
        SELECT key, sum(count) FILTER (WHERE start >= :from) AS count, coalesce(sum(count) FILTER (WHERE start < :from), 0) AS previous
        FROM activity_counts WHERE span = :span AND start >= :before AND start < :until AND metric = 'application' GROUP BY key
      ) c LEFT JOIN applications a ON a.id = c.key WHERE c.count > 0 ORDER BY c.count DESC, c.key LIMIT :limit`,
    { span, from, until, before, limit },
  );
  return rows;
}

/** Hours of a day or days of a month as a bit mask, as in `active_users`. */
export interface Slots {
  /** The start of the day or month. */
  readonly start: Date;
  readonly slots: number;
}

const ACTIVE = `SELECT DISTINCT a.user_id FROM jsonb_to_recordset(:slots::jsonb) AS wanted (start timestamptz, slots integer)
  JOIN active_users a ON a.span = :span AND a.start = wanted.start AND a.slots & wanted.slots <> 0`;

/** Counts users who were active in any of the slots. */
export async function countActiveUsers(executor: Executor, span: Span, slots: readonly Slots[]): Promise<number> {
  const { rows } = await executor.raw<{ rows: [{ count: number }] }>(`SELECT count(*)::int AS count FROM (${ACTIVE}) active`, {
    span,
    slots: JSON.stringify(slots),
  });
  return rows[0].count;
}

export interface Adoption {
  readonly users: number;
  /** Users with a second factor of any kind. */
  readonly any: number;
  readonly passkey: number;
  readonly totp: number;
}

/** Counts users who were active in any of the slots, and how many of them have a second factor today. */
export async function countAdoption(executor: Executor, span: Span, slots: readonly Slots[]): Promise<Adoption> {
  const { rows } = await executor.raw<{ rows: [Adoption] }>(
    `SELECT count(*)::int AS users, count(*) FILTER (WHERE coalesce(p.user_id, f.user_id, m.user_id) IS NOT NULL)::int AS any,
        count(p.user_id)::int AS passkey, count(f.user_id)::int AS totp
      FROM (${ACTIVE}) active LEFT JOIN (SELECT DISTINCT user_id FROM passkeys) p USING (user_id)
      LEFT JOIN (SELECT DISTINCT user_id FROM user_factors) f USING (user_id)
      LEFT JOIN (SELECT DISTINCT user_id FROM message_factors WHERE activated IS NOT NULL) m USING (user_id)`,
    { span, slots: JSON.stringify(slots) },
  );
  return rows[0];
}
