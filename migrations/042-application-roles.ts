/** Roles of applications, which of them come with an assignment, and claims that tell them. A role goes with its application, and what is assigned goes with the assignment. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE application_roles (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    application_id text NOT NULL REFERENCES applications ON DELETE CASCADE,
    name text NOT NULL,
    display_name text NOT NULL,
    description text NOT NULL DEFAULT '',
    created timestamptz NOT NULL,
    last_updated timestamptz NOT NULL,
    UNIQUE (application_id, name),
    UNIQUE (application_id, id)
  )`);
  for (const kind of ['user', 'group']) {
    await knex.raw(`CREATE TABLE application_${kind}_roles (
      application_id text NOT NULL,
      ${kind}_id text NOT NULL,
      role_id text NOT NULL,
      PRIMARY KEY (application_id, ${kind}_id, role_id),
      FOREIGN KEY (application_id, ${kind}_id) REFERENCES application_${kind}s (application_id, ${kind}_id) ON DELETE CASCADE,
      FOREIGN KEY (application_id, role_id) REFERENCES application_roles (application_id, id) ON DELETE CASCADE
    )`);
    await knex.raw(`CREATE INDEX application_${kind}_roles_by_role ON application_${kind}_roles (application_id, role_id)`);
  }
  await knex.raw(
    "ALTER TABLE claims DROP CONSTRAINT claims_value_type_check, ADD CONSTRAINT claims_value_type_check CHECK (value_type IN ('USER_ATTRIBUTE', 'GROUPS', 'ORGANIZATION', 'DEPARTMENT', 'APP_ROLES', 'STATIC'))",
  );
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
