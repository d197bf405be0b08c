/**
 * Counts the audit log by hour and day, once a minute in one of the processes. Each hour is counted again until five minutes after its end, so that
 * events committed late are included. After an upgrade, the last 180 days are counted in pieces.
 */
import type { Logger } from 'pino';
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { repeat } from '../../platform/concurrency/repeat.ts';
import type { Database } from '../../platform/database/database.ts';
import { addUpDay, countEvents, deleteCountsBefore, findNextEvent, lockProgress, updateProgress } from './activity-counts.store.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The longest range and the period before it, which is compared. */
const LOOK_BACK_MS = 180 * DAY_MS;
/** Backlog older than two days is counted in larger pieces. */
const PIECE_MS = 6 * HOUR_MS;
/** Maximum time between an event and its commit. */
const LATE_MS = 5 * 60_000;
/** The last 24 hours and the previous 24 start on the day before yesterday. */
const HOURS_KEPT_MS = 2 * DAY_MS;
/** Months whose last days are within the period may start up to a month before it. */
const DAYS_KEPT_MS = LOOK_BACK_MS + 31 * DAY_MS;

/** The start of a time's hour or day. @param unit HOUR_MS or DAY_MS */
export const beginningOf = (moment: Date, unit: number): Date => new Date(Math.floor(moment.getTime() / unit) * unit);

/**
 * Counts an hour, the current one partially; old periods in pieces of six hours.
 * @param since start; absent: where the last run ended
 * @returns the next start; undefined: done, or another process is counting
 */
async function countPiece(database: Database, now: Date, since: Date | undefined): Promise<Date | undefined> {
  return database.transaction(async (trx) => {
    const progress = await lockProgress(trx, since === undefined ? timings.rollUpPause / 2 : 0);
    if (progress === undefined) return undefined;
    const { until } = progress;
    const oldest = new Date(now.getTime() - LOOK_BACK_MS);
    // null before the first run and after an upgrade: then counting starts with the oldest day that is kept.
    const due = await findNextEvent(trx, until === null ? oldest : (since ?? (until > oldest ? until : oldest)));
    if (due === undefined) return undefined;
    const piece = now.getTime() - due.getTime() > 2 * DAY_MS ? PIECE_MS : HOUR_MS;
    const from = beginningOf(due, piece);
    const end = new Date(from.getTime() + piece);
    await countEvents(trx, from, end);
    await addUpDay(trx, beginningOf(from, DAY_MS));
    const isOver = now.getTime() - end.getTime() >= LATE_MS;
    await updateProgress(trx, { until: isOver ? end : (until ?? from) });
    await deleteCountsBefore(trx, 'HOUR', new Date(beginningOf(from, DAY_MS).getTime() - HOURS_KEPT_MS));
    await deleteCountsBefore(trx, 'DAY', new Date(now.getTime() - DAYS_KEPT_MS));
    return end <= now ? end : undefined;
  });
}

/** Counts everything since the last run, unless another process does. */
async function rollUp(database: Database, isStopped: () => boolean = () => false): Promise<void> {
  const now = present();
  let since: Date | undefined;
  do since = await countPiece(database, now, since);
  while (since !== undefined && !isStopped());
}

/** Starts counting. @returns a function that stops it */
export function rollUpInTime(database: Database, log: Logger): { stop(): Promise<void> } {
  let isStopped = false;
  const work = () =>
    rollUp(database, () => isStopped).catch((error: unknown) => log.warn({ err: error }, 'could not count sign-ins; trying again'));
  const worker = repeat('count activity', work, () => timings.rollUpPause);
  return {
    stop() {
      isStopped = true;
      return worker.stop();
    },
  };
}
