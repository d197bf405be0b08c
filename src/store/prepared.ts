/**
 * Statements that come again and again are prepared: knex names none, and PostgreSQL parses and plans an unnamed one each time, which costs more than
 * to carry it out. Only the frequent ones, and only so many, for a prepared statement takes memory in every connection.
 */
import { LRUCache } from 'lru-cache';
import pg from 'pg';

/** A statement is prepared when it was asked so often, while it was not forgotten among this many others. */
const OFTEN = 20;
const REMEMBERED = 1000;
const MOST_PREPARED = 150;

/** What a later migration may change under a prepared statement: what comes out of it must be spelled out (PostgreSQL manual, "PREPARE"). */
const SPELLED_OUT = /^(?!.*(\breturning\s+\*|\bselect\s+\*|\.\*))/is;

const asked = new LRUCache<string, number>({ max: REMEMBERED });
const names = new Map<string, string>();

/** @returns the name that a statement is prepared under; undefined: it is not frequent enough */
function nameOf(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size === MOST_PREPARED) return name;
  const times = (asked.get(text) ?? 0) + 1;
  asked.set(text, times);
  if (times < OFTEN || !SPELLED_OUT.test(text)) return undefined;
  asked.delete(text);
  names.set(text, `frequent-${names.size}`);
  return names.get(text);
}

/** A connection that prepares what is frequent. Without values a statement may be several, or one that cannot be prepared. */
export class PreparingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads, handed on as they come
  override query(...[config, ...rest]: any[]): any {
    const isUnnamed = typeof config?.text === 'string' && config.name === undefined && config.values?.length > 0;
    const name = isUnnamed ? nameOf(config.text) : undefined;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (super.query as any)(name === undefined ? config : { ...config, name }, ...rest);
  }
}
