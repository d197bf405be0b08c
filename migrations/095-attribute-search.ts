/** Adds a function that looks up a limited number of users by the index of attributes (041, 088). */
import type { Knex } from 'knex';

/** Forces the index: where the statistics predict many matches, PostgreSQL would compute the terms of each user, which is much slower. */
const FUNCTION = `CREATE OR REPLACE FUNCTION users_with_terms(query tsquery, most integer) RETURNS SETOF bigint LANGUAGE sql STABLE PARALLEL UNSAFE
  SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET jit = off
  BEGIN ATOMIC SELECT seq FROM users WHERE attribute_terms(profile) @@ query LIMIT most; END`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(FUNCTION);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
