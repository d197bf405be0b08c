/**
 * Search by words: two functions, and an index of the names of users, groups and applications. The indexes are made concurrently, so that the service keeps
 * running; therefore outside a transaction. The former version goes on with the indexes that it knows.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

/** ASCII only: letters of other scripts are never separators, whatever the locale of the database. */
const PUNCTUATION = `!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~`;

/**
 * The words of a text, without case, accents and punctuation, at most 64 characters each. Letters that Unicode does not take apart are spelled out. The
 * bodies are bound when they are created, so a restricted search_path, as in pg_restore and VACUUM, does not matter.
 */
const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION search_folded(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN ARRAY(SELECT DISTINCT left(word, 64) FROM unnest(string_to_array(translate(replace(replace(replace(
     lower(regexp_replace(normalize($1, NFKD), U&'[\\0300-\\036F]', '', 'g')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
     U&'\\00D8\\00F8\\0141\\0142\\0110\\0111\\0131\\00A0\\3000' || E'\\t\\n\\r' || '${PUNCTUATION}',
     'oollddi' || repeat(' ', ${5 + PUNCTUATION.length - 1})), ' ')) AS word WHERE word <> '')`,
  `CREATE OR REPLACE FUNCTION search_words(VARIADIC names text[]) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN array_to_tsvector(search_folded(array_to_string(names, ' ')))`,
  `CREATE OR REPLACE FUNCTION search_query(typed text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN (SELECT string_agg('''' || word || ''':*', ' & ')::tsquery FROM unnest(search_folded(typed)) AS word)`,
];

const INDEXES = {
  users_by_words: `users USING gin (search_words(login, email, profile->>'firstName', profile->>'middleName', profile->>'lastName',
    profile->>'displayName', profile->>'nickName'))`,
  groups_by_words: 'groups USING gin (search_words(name))',
  applications_by_words: 'applications USING gin (search_words(label))',
};

export async function up(knex: Knex): Promise<void> {
  for (const body of FUNCTIONS) await knex.raw(body.replaceAll('?', '\\?'));
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
