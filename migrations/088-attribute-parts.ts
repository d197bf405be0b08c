/**
 * Adds terms to the index of attributes (041): three-character parts of texts, for `co` and `ew`, and sortable codes of numbers, for ranges. The index is rebuilt
 * concurrently, outside a transaction, so that the service keeps running. The previous version uses only the terms that it knows.
 */
import type { Knex } from 'knex';
import { BASE } from './041-attributes.ts';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

/** A longer text has a single term, which every search for a part finds: the terms of a user must fit into a tsvector (1 MB). */
const LONGEST = 128;

const ELEMENTS = 'jsonb_array_elements_text(own.value) AS one(value) WHERE one.value IS NOT NULL';

/** @param text an expression @returns that of an array of terms */
const parts = (text: string): string => `CASE WHEN length(${text}) > ${LONGEST} THEN ARRAY[own.key || '~'] ELSE ARRAY(
  SELECT own.key || '~' || substr(${text}, place, 3) FROM generate_series(1, length(${text}) - 2) AS place) END`;

/** The code of a number. OFFSET 0 lets PostgreSQL compute it once. */
const CODE = `(SELECT left(code::bit(64)::text, 28) || right(lpad(to_hex(code), 16, '0'), 9) FROM (
  SELECT bits # ((bits >> 63) | (-9223372036854775808)) FROM (
    SELECT ('x' || encode(float8send((own.value #>> '{}')::float8), 'hex'))::bit(64)::bigint OFFSET 0) AS double(bits) OFFSET 0) AS ordered(code))`;

/**
 * - `name=value`: as before.
 * - `name~abc`: three consecutive characters of a text in lower case. The elements of a list are joined by a character that no value contains: parts across two elements never match.
 * - `name<0101…`: a number. Codes are in the order of their numbers: the bits of the double, of a negative one inverted, else with the other sign; the first 28
 *   one by one, the rest in hexadecimal digits. A range is a few beginnings of codes (src/platform/database/attribute-terms.ts).
 *
 * Searches are not parallel, because other processes take longer to start than most searches take.
 */
const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION attribute_terms(profile jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
   RETURN array_to_tsvector(ARRAY(SELECT unnest(CASE jsonb_typeof(own.value)
       WHEN 'array' THEN ARRAY(SELECT attribute_term(own.key, one.value) FROM ${ELEMENTS})
         || (SELECT ${parts('text')} FROM (SELECT string_agg(lower(one.value), E'\\n') FROM ${ELEMENTS}) AS elements(text))
       WHEN 'string' THEN attribute_term(own.key, own.value #>> '{}') || ${parts("lower(own.value #>> '{}')")}
       WHEN 'number' THEN ARRAY[attribute_term(own.key, own.value #>> '{}'), own.key || '<' || ${CODE}]
       ELSE ARRAY[attribute_term(own.key, own.value #>> '{}')] END)
     FROM jsonb_each(profile - '${BASE}'::text[]) AS own WHERE jsonb_typeof(own.value) <> 'null'))`,
  `CREATE OR REPLACE FUNCTION attribute_lexeme(term text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN '''' || replace(replace(term, '\\', '\\\\'), '''', '''''') || ''''`,
  `CREATE OR REPLACE FUNCTION attribute_query_containing(name text, value text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL UNSAFE
   RETURN (SELECT (attribute_lexeme(name || '~') || ' | (' || string_agg(attribute_lexeme(name || '~' || substr(lower(value), place, 3)), ' & ') || ')')::tsquery
     FROM generate_series(1, least(length(lower(value)), ${LONGEST}) - 2) AS place)`,
];

export async function up(knex: Knex): Promise<void> {
  for (const body of FUNCTIONS) await knex.raw(body.replaceAll('?', '\\?'));
  await knex.raw('ALTER FUNCTION attribute_query(text, text, boolean) PARALLEL UNSAFE');
  // Indexes of an interrupted attempt are never used.
  for (const rest of ['ccnew', 'ccold']) await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS users_by_attributes_${rest}`);
  await knex.raw('REINDEX INDEX CONCURRENTLY users_by_attributes');
  // Without this check, the planner would remember that the table was empty.
  if ((await knex('users').first('id')) !== undefined) await knex.raw('ANALYZE users');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
