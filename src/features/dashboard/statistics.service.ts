/** Sign-in statistics for a period and the previous one, from rolled-up counts (activity-counts.service.ts). */
import { present } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { isTimeout } from '../../platform/database/database-failures.ts';
import { beginningOf, DAY_MS, HOUR_MS } from './activity-counts.service.ts';
import {
  type Adoption,
  countActiveUsers,
  countAdoption,
  listCounts,
  listReasons,
  listTopApplications,
  type Period,
  type Slots,
  type Span,
} from './activity-counts.store.ts';

/** In the order of the page. */
export const RANGES = ['24h', '7d', '30d', '90d'] as const;
export type Range = (typeof RANGES)[number];

const UNITS: Readonly<Record<Range, { readonly span: Span; readonly unit: number; readonly count: number }>> = {
  '24h': { span: 'HOUR', unit: HOUR_MS, count: 24 },
  '7d': { span: 'DAY', unit: DAY_MS, count: 7 },
  '30d': { span: 'DAY', unit: DAY_MS, count: 30 },
  '90d': { span: 'DAY', unit: DAY_MS, count: 90 },
};

const MOST_REASONS = 8;
const MOST_APPLICATIONS = 10;
/** Cache time in milliseconds: the numbers are counted once a minute. */
const FRESH_MS = 30_000;

/** A number, and its value in the previous period. */
export interface Compared {
  readonly now: number;
  readonly before: number;
}

/** An hour or a day of the range. */
export interface Slot {
  readonly start: Date;
  readonly started: number;
  readonly failed: number;
}

export interface Statistics {
  readonly range: Range;
  readonly span: Span;
  /** All hours or days of the range; the current one is last. */
  readonly slots: readonly Slot[];
  readonly signIns: Compared;
  readonly failures: Compared;
  readonly activeUsers: Compared;
  /** Most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** Most used first; without a label if it was deleted. */
  readonly applications: readonly ({ readonly id: string; readonly label: string | null } & Compared)[];
  /** Based on users who were active in the period. */
  readonly adoption: Adoption;
}

/** The hours or days of a period, grouped by day or month. */
function slotsOf(span: Span, unit: number, { from, until }: Period): readonly Slots[] {
  const found = new Map<number, number>();
  for (let at = from.getTime(); at < until.getTime(); at += unit) {
    const moment = new Date(at);
    const isHour = span === 'HOUR';
    const start = isHour ? beginningOf(moment, DAY_MS).getTime() : Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth());
    const bit = isHour ? moment.getUTCHours() : moment.getUTCDate() - 1;
    found.set(start, (found.get(start) ?? 0) | (1 << bit));
  }
  return [...found].map(([start, slots]) => ({ start: new Date(start), slots }));
}

async function read({ knex }: Database, range: Range, now: Date): Promise<Statistics> {
  const { span, unit, count } = UNITS[range];
  const until = new Date(beginningOf(now, unit).getTime() + unit);
  const from = new Date(until.getTime() - count * unit);
  const before = new Date(from.getTime() - count * unit);
  const counts = await listCounts(knex, span, { from: before, until });
  const sum = (metric: 'sign-in' | 'failure', period: Period): number =>
    counts
      .filter((one) => one.metric === metric && one.start >= period.from && one.start < period.until)
      .reduce((all, one) => all + one.count, 0);
  const compared = (metric: 'sign-in' | 'failure'): Compared => ({
    now: sum(metric, { from, until }),
    before: sum(metric, { from: before, until: from }),
  });
  const adoption = await countAdoption(knex, span, slotsOf(span, unit, { from, until }));
  const top = await listTopApplications(knex, span, { from, until }, before, MOST_APPLICATIONS);
  return {
    range,
    span,
    slots: Array.from({ length: count }, (_, at) => {
      const start = new Date(from.getTime() + at * unit);
      const period = { from: start, until: new Date(start.getTime() + unit) };
      return { start, started: sum('sign-in', period), failed: sum('failure', period) };
    }),
    signIns: compared('sign-in'),
    failures: compared('failure'),
    activeUsers: { now: adoption.users, before: await countActiveUsers(knex, span, slotsOf(span, unit, { from: before, until: from })) },
    reasons: await listReasons(knex, span, { from, until }, MOST_REASONS),
    applications: top.map(({ count: opened, previous, ...application }) => ({ ...application, now: opened, before: previous })),
    adoption,
  };
}

interface Kept {
  readonly at: number;
  readonly statistics: Promise<Statistics>;
}

const kept = new WeakMap<Database, Map<Range, Kept>>();

/** Reads at most twice a minute in each process, regardless of the number of readers. @returns undefined if it takes too long */
export async function readStatistics(database: Database, range: Range): Promise<Statistics | undefined> {
  const now = present();
  const ranges = kept.get(database) ?? new Map<Range, Kept>();
  kept.set(database, ranges);
  const last = ranges.get(range);
  const isFresh = last !== undefined && Math.abs(now.getTime() - last.at) < FRESH_MS;
  const statistics = isFresh ? last.statistics : read(database, range, now);
  if (!isFresh) ranges.set(range, { at: now.getTime(), statistics });
  try {
    return await statistics;
  } catch (error) {
    // Failures are not cached, except a timeout, so that other requests do not retry immediately.
    if (isTimeout(error)) return undefined;
    ranges.delete(range);
    throw error;
  }
}
