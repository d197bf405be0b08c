/**
 * Prepares frequent statements: knex names none, and PostgreSQL parses and plans unnamed statements each time, which costs more than executing them.
 * Only a limited number, because prepared statements use memory in every connection.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { WritableClient } from './writable-server.ts';

/** Uses before a statement is prepared, and the number of candidates that are remembered. */
const OFTEN = 20;
const REMEMBERED = 1000;
const MOST_PREPARED = 150;
/** Characters of a statement at most: a longer one lists many values, each time another number of them. */
const LONGEST = 4000;

/**
 * Statements that must not be prepared (PostgreSQL manual, "PREPARE"): those that return `*`, because a migration may add columns; pattern searches,
 * whose best plan depends on the pattern; and batch locks, whose best plan depends on the number of rows.
 */
const UNFIT = /\bskip\s+locked\b|\blimit\s+\$\d+\s+for\s+update\b|\breturning\s+\*|(\bselect|\bdistinct|,)\s*\*|\.\*|\bi?like\b/i;

const asked = new LRUCache<string, number>({ max: REMEMBERED });
const names = new Map<string, string>();

/** @returns the name that a statement is prepared under; undefined: it is not frequent enough */
function nameOf(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const name = names.get(text);
  if (name !== undefined || names.size === MOST_PREPARED) return name;
  const times = (asked.get(text) ?? 0) + 1;
  asked.set(text, times);
  if (times < OFTEN || UNFIT.test(text)) return undefined;
  asked.delete(text);
  names.set(text, `frequent-${names.size}`);
  return names.get(text);
}

/** Answers whether the server knows it by the name that it was given here. */
const SELF_KNOWLEDGE = 'SELECT 1 FROM pg_prepared_statements WHERE name = $1';

/** A connection that prepares what is frequent. Without values a statement may be several, or one that cannot be prepared. */
export class PreparingClient extends WritableClient {
  #prepares = true;

  /**
   * Behind a pooler that hands each transaction to another connection a name leads nowhere, or to another one's statement, unless the pooler keeps
   * account of them. One that does gives them names of its own on the server: that is how it is known (PgBouncer from 1.21 on, `max_prepared_statements`).
   */
  async prepareOnlyWhereNamesLast(): Promise<void> {
    const name = `asked-${randomUUID()}`;
    this.#prepares = (await super.query({ name, text: SELF_KNOWLEDGE, values: [name] })).rowCount === 0;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads, handed on as they come
  override query(...[config, ...rest]: any[]): any {
    // A cursor or stream is an object of its own kind.
    const isPlain = typeof config?.text === 'string' && config.submit === undefined;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    if (!this.#prepares) return (super.query as any)(isPlain ? Object.assign({}, config, { name: undefined }) : config, ...rest);
    const isUnnamed = isPlain && config.name === undefined && config.values?.length > 0;
    const name = isUnnamed ? nameOf(config.text) : undefined;
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (super.query as any)(name === undefined ? config : Object.assign({}, config, { name }), ...rest);
  }
}
