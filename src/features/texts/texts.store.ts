/** Texts that the operator has changed. The only SQL on that table. */
import type pg from 'pg';
import type { Executor } from '../../platform/database/database.ts';
import type { ChangedTexts, MessageKey } from '../../platform/i18n/messages.ts';

interface Row {
  readonly language: string;
  readonly key: MessageKey;
  readonly value: string;
}

const byLanguage = (rows: readonly Row[]): ChangedTexts => {
  const texts: Record<string, Partial<Record<MessageKey, string>>> = {};
  for (const { language, key, value } of rows) {
    texts[language] ??= {};
    texts[language][key] = value;
  }
  return texts;
};

export async function findTexts(executor: Executor): Promise<ChangedTexts> {
  return byLanguage(await executor('texts').select<Row[]>('language', 'key', 'value'));
}

/** Committed texts, regardless of the current transaction. */
export async function findCommittedTexts(pool: pg.Pool): Promise<ChangedTexts> {
  const { rows } = await pool.query<Row>({ name: 'find-texts', text: 'SELECT language, key, value FROM texts' });
  return byLanguage(rows);
}

/** @param values by key; undefined: restores the product's own text */
export async function updateTexts(
  executor: Executor,
  language: string,
  values: Readonly<Partial<Record<MessageKey, string | undefined>>>,
  now: Date,
): Promise<void> {
  const entries = Object.entries(values);
  const gone = entries.filter(([, value]) => value === undefined).map(([key]) => key);
  const set = entries.flatMap(([key, value]) => (value === undefined ? [] : [{ language, key, value, last_updated: now }]));
  if (gone.length > 0) await executor('texts').where({ language }).whereIn('key', gone).delete();
  if (set.length > 0) await executor('texts').insert(set).onConflict(['language', 'key']).merge();
}
