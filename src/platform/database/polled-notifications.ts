/**
 * Notifications without LISTEN, for a database behind a pooler in transaction mode (`NOTIFICATIONS=poll`): a change is a row, and each
 * process polls for new rows. A row may become visible late, with the commit of a long transaction, so the last minute is read each time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { present } from '../clock/clock.ts';
import { timings } from '../clock/timings.ts';
import type { Database, Executor } from './database.ts';
import { type Change, type Notifications, readChange } from './notifications.ts';

const WINDOW = "interval '1 minute'";
/** Milliseconds without polling after which rows may have been missed, because the process was suspended. */
const LONG_AGO = 30_000;
/** Maximum number of changes that are reported individually. */
const MOST = 500;
/** Milliseconds before a row is deleted. Longer than the window, so that no process misses one. */
const KEPT = 600_000;

interface Notice {
  readonly id: string;
  readonly change: unknown;
}

const RECENT = {
  name: 'recent-change-notices',
  text: `SELECT id, change FROM change_notices WHERE created > clock_timestamp() - ${WINDOW} ORDER BY created DESC LIMIT ${MOST + 1}`,
};

/**
 * Polls every `timings.noticePause` milliseconds.
 * @param database may be behind a pooler
 * @throws if the first poll fails
 */
export async function pollNotifications({ pool }: Database, log: Logger): Promise<Notifications> {
  const listeners: ((change: Change | 'everything') => void)[] = [];
  const closed = new AbortController();
  const notify = (news: Change | 'everything'): void => {
    for (const listener of listeners) listener(news);
  };
  const look = async (): Promise<readonly Notice[]> => (await pool.query<Notice>(RECENT)).rows;

  let seen = new Set((await look()).map(({ id }) => id));
  let lookedAt = present().getTime();
  let missed = false;

  function hear(notices: readonly Notice[]): void {
    const before = seen;
    seen = new Set(notices.map(({ id }) => id));
    if (missed || notices.length > MOST) {
      notify('everything');
      return;
    }
    for (const { id, change } of [...notices].reverse()) {
      if (before.has(id)) continue;
      const news = readChange(change);
      if (news === undefined) log.warn('ignored a database notification with an unknown format');
      else notify(news);
    }
  }

  async function keepLooking(): Promise<void> {
    for (;;) {
      await delay(timings.noticePause, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
      if (closed.signal.aborted) return;
      missed ||= present().getTime() - lookedAt > LONG_AGO;
      try {
        hear(await look());
        [missed, lookedAt] = [false, present().getTime()];
      } catch (error) {
        if (closed.signal.aborted) return;
        // The outage may last longer than the window of stored changes.
        missed = true;
        log.warn({ err: error }, 'could not poll for changes; trying again');
      }
    }
  }
  const looking = keepLooking();

  return {
    subscribe: (listener) => void listeners.push(listener),
    async publish(trx, news) {
      await trx('change_notices').insert({ change: JSON.stringify(news) });
    },
    announce: notify,
    async close() {
      closed.abort();
      await looking;
    },
  };
}

/** @returns the number of deleted notices, at most `limit`: those that every process has seen */
export async function deleteOldNotices(executor: Executor, limit: number): Promise<number> {
  const old = executor('change_notices')
    .where('created', '<', new Date(present().getTime() - KEPT))
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .select('id');
  return executor('change_notices').whereIn('id', old).delete();
}
