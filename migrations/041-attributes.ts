/**
 * Attributes that operators add to users: an index of their values, all in one, and the values that no two users may share. The index is made concurrently, so
 * that the service keeps running; therefore outside a transaction.
 */
import type { Knex } from 'knex';

/** PostgreSQL makes no index concurrently within a transaction. */
export const config = { transaction: false };

/** The attributes that every service has; they are searched as before. */
export const BASE =
  `{secondEmail,firstName,lastName,middleName,honorificPrefix,honorificSuffix,title,displayName,nickName,profileUrl,picture,website,gender,birthdate,
  primaryPhone,mobilePhone,streetAddress,city,state,zipCode,countryCode,postalAddress,preferredLanguage,locale,timezone,zoneinfo,userType,employeeNumber,
  costCenter,organization,division,department,managerId,manager}`.replaceAll(/\s/g, '');

/**
 * Each value as `name=value`, without case, cut where no index takes more; of a list each element. A search by these terms finds a few too many rows, which are
 * compared again. The bodies are bound when they are created, so a restricted search_path, as in pg_restore and VACUUM, does not matter.
 */
const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION attribute_term(name text, value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN left(name || '=' || lower(value), 250)`,
  `CREATE OR REPLACE FUNCTION attribute_terms(profile jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN array_to_tsvector(ARRAY(SELECT DISTINCT attribute_term(own.key, one.value) FROM jsonb_each(profile - '${BASE}'::text[]) AS own,
     LATERAL jsonb_array_elements_text(CASE jsonb_typeof(own.value) WHEN 'array' THEN own.value ELSE jsonb_build_array(own.value) END) AS one(value)
     WHERE one.value IS NOT NULL))`,
  `CREATE OR REPLACE FUNCTION attribute_query(name text, value text, beginning boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
   RETURN ('''' || replace(replace(attribute_term(name, value), '\\', '\\\\'), '''', '''''') || '''' || CASE WHEN beginning THEN ':*' ELSE '' END)::tsquery`,
];

export async function up(knex: Knex): Promise<void> {
  for (const body of FUNCTIONS) await knex.raw(body.replaceAll('?', '\\?'));
  // An index whose creation was interrupted is never used.
  await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS users_by_attributes');
  await knex.raw('CREATE INDEX CONCURRENTLY users_by_attributes ON users USING gin (attribute_terms(profile))');
  await knex.raw(`CREATE TABLE IF NOT EXISTS unique_attribute_values (
    name text NOT NULL,
    value text NOT NULL,
    user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (name, value),
    UNIQUE (user_id, name)
  )`);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
