/**
 * Search by words: each typed word must be a prefix of a word in a row's names. Case, accents and punctuation are ignored. Two functions in
 * the database (migrations/025-search-words.ts) fold rows and typed words in the same way.
 */
import type { Knex } from 'knex';
import { containing } from './filter.ts';

/**
 * Adds the search to a query. Words of punctuation only match nothing.
 * @param names SQL expressions; for large tables, exactly those of the index
 * @param or also matches the row with the typed ID, or rows with the typed text anywhere in a name. No index supports parts: for small tables
 */
export function applyWords(query: Knex.QueryBuilder, names: readonly string[], typed: string, or?: 'id' | 'part'): void {
  query.where((either) => {
    either.whereRaw(`search_words(${names.join(', ')}) @@ search_query(?)`, [typed]);
    if (or === 'id') either.orWhere('id', typed.trim());
    if (or === 'part') for (const name of names) either.orWhereRaw(`lower(${name}) LIKE lower(?)`, [containing(typed)]);
  });
}

/**
 * An expression that sorts a text without regard to case and accents, the same on every server (migrations/093-sorted-names.ts).
 * @param sql text expression
 */
export const inAlphabet = (sql: string): string => `sort_text(${sql}) COLLATE "C"`;

/** The same search for rows in memory. */
export function matchesWords(names: readonly string[], typed: string): boolean {
  const [wanted, there] = [folded(typed), folded(names.join(' '))];
  return wanted.length > 0 && wanted.every((word) => there.some((one) => one.startsWith(word)));
}

/** Letters that Unicode does not decompose, as the database writes them. */
const SPELLED_OUT = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' } as const;

const folded = (text: string): readonly string[] =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036F]/g, '')
    .toLowerCase()
    .replace(/[ßæœøłđı]/g, (letter) => SPELLED_OUT[letter as keyof typeof SPELLED_OUT])
    .split(/[\s!-/:-@[-`{-~]+/)
    .filter(Boolean);
