/**
 * The order of names in lists: without regard to case and accents, with the letters that Unicode does not take apart spelled out as in the search
 * (025-search-words.ts). PostgreSQL writes the body into the statement, so plain ASCII costs what lower() costs. The indexes are made concurrently, so that the
 * service keeps running; therefore outside a transaction.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

const FUNCTION = `CREATE OR REPLACE FUNCTION sort_text(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length($1) = length($1) THEN lower($1) ELSE
    translate(replace(replace(replace(lower(regexp_replace(normalize($1, NFKD), U&'[\\0300-\\036F]', '', 'g')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
      U&'\\00D8\\00F8\\0141\\0142\\0110\\0111\\0131', 'oollddi') END`;

const INDEXES = {
  users_by_sorted_login: 'users ((sort_text(login) COLLATE "C"))',
  users_by_sorted_name: `users ((sort_text(coalesce(profile->>'lastName', profile->>'displayName', login)) COLLATE "C"))`,
};

export async function up(knex: Knex): Promise<void> {
  await knex.raw(FUNCTION);
  for (const [name, place] of Object.entries(INDEXES)) {
    // An index whose creation was interrupted is never used.
    await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await knex.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${place}`);
  }
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
