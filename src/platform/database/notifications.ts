/**
 * Notifications between processes through PostgreSQL's LISTEN and NOTIFY about changes of cached data. A lost connection can miss messages, so
 * 'everything' follows it; caches also have a short time limit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Executor } from './database.ts';
import { type Connection, WritableClient } from './writable-server.ts';

const change = z.object({ kind: z.enum(['server', 'application', 'settings', 'identity-provider']), id: z.string() });

export type Change = Readonly<z.infer<typeof change>>;
type Listener = (change: Change | 'everything') => void;

export interface Notifications {
  /** @param listener also gets 'everything' after a lost connection is restored */
  subscribe(listener: Listener): void;
  /** Delivered to every process, including this one, at commit. */
  publish(trx: Executor, change: Change): Promise<void>;
  /** Delivers to this process immediately. Call right after the commit. */
  announce(change: Change): void;
  close(): Promise<void>;
}

const CHANNEL = 'gatehouse';
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;

/** @returns undefined for a message of a newer version */
export const readChange = (message: unknown): Change | undefined => change.safeParse(message).data;

/**
 * Listens on its own connection, and restores it if it is lost.
 * @param connection direct: a transaction-mode pooler loses LISTEN
 * @throws if the first connection fails
 */
export async function openNotifications(connection: Connection, log: Logger): Promise<Notifications> {
  const listeners: Listener[] = [];
  const closed = new AbortController();
  const notify = (news: Change | 'everything') => {
    for (const listener of listeners) listener(news);
  };

  const listen = async (): Promise<pg.Client> => {
    const client = new WritableClient({
      ...connection,
      application_name: 'gatehouse notifications',
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client.on('error', (error) => log.warn({ err: error }, 'lost the database connection for notifications; reconnecting'));
    client.on('notification', ({ payload }) => {
      const news = parse(payload);
      if (news === undefined) log.warn('ignored a database notification with an unknown format');
      else notify(news);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    return client;
  };

  const regain = async (): Promise<pg.Client | undefined> => {
    for (let wait = FIRST_WAIT_MS; !closed.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      // All processes lose the database at the same moment and must not all reconnect at once.
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal: closed.signal }).catch(() => {});
      if (closed.signal.aborted) break;
      try {
        const client = await listen();
        log.info('restored the database connection for notifications');
        return client;
      } catch (error) {
        log.warn({ err: error }, 'could not restore the database connection for notifications; trying again');
      }
    }
    return undefined;
  };

  /** The current or pending connection; undefined once closed. */
  let current: Promise<pg.Client | undefined>;
  const hold = (client: pg.Client) => {
    client.once('end', () => {
      if (closed.signal.aborted) return;
      current = regain().then((regained) => {
        if (regained === undefined) return undefined;
        hold(regained);
        notify('everything');
        return regained;
      });
    });
  };
  const first = await listen();
  hold(first);
  current = Promise.resolve(first);

  return {
    subscribe: (listener) => void listeners.push(listener),
    async publish(trx, news) {
      await trx.raw('SELECT pg_notify(?, ?)', [CHANNEL, JSON.stringify(news)]);
    },
    announce: notify,
    async close() {
      closed.abort();
      await (await current)?.end();
    },
  };
}

function parse(payload: string | undefined): Change | undefined {
  try {
    return readChange(JSON.parse(payload ?? ''));
  } catch {
    return undefined;
  }
}
