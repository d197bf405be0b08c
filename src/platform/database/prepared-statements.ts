/**
 * Prepares frequent statements: knex does not name any, and PostgreSQL parses and plans unnamed statements each time, which costs more than
 * executing them. The number is limited, because prepared statements use memory in every connection.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { WritableClient } from './writable-server.ts';

/** Number of uses before a statement is prepared, and of remembered candidates. */
const OFTEN = 20;
const REMEMBERED = 1000;
const MOST_PREPARED = 150;
/** Maximum characters of a prepared statement: longer ones list a varying number of values. */
const LONGEST = 4000;

/**
 * Statements that must not be prepared (PostgreSQL manual, "PREPARE"): those that return `*`, because a migration may add columns; pattern searches,
 * whose best plan depends on the pattern; and batch locks, whose best plan depends on the number of rows.
 */
const UNFIT = /\bskip\s+locked\b|\blimit\s+\$\d+\s+for\s+update\b|\breturning\s+\*|(\bselect|\bdistinct|,)\s*\*|\.\*|\bi?like\b/i;

const executions = new LRUCache<string, number>({ max: REMEMBERED });
const names = new Map<string, string>();

/** @returns the name of the prepared statement; undefined: not frequent enough */
function nameOf(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const name = names.get(text);
  if (name !== undefined || names.size === MOST_PREPARED) return name;
  const times = (executions.get(text) ?? 0) + 1;
  executions.set(text, times);
  if (times < OFTEN || UNFIT.test(text)) return undefined;
  executions.delete(text);
  names.set(text, `frequent-${names.size}`);
  return names.get(text);
}

/** Checks whether the server has the statement under the name that was set here. */
const SELF_KNOWLEDGE = 'SELECT 1 FROM pg_prepared_statements WHERE name = $1';

/** A connection that prepares frequent statements. A text without values may contain several statements, or one that cannot be prepared. */
export class PreparingClient extends WritableClient {
  #prepares = true;

  /**
   * Behind a pooler in transaction mode, a name may be unknown or belong to another statement, unless the pooler tracks prepared statements
   * (PgBouncer from 1.21, `max_prepared_statements`). Such a pooler uses names of its own on the server, which this check detects.
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
