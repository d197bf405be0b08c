/**
 * Roles in organizations: those that an organization defines, who has them, and who owns it. A role of a member goes with the membership. The built-in
 * role admin is the ORG_ADMIN of the table of roles. Every authorization server gets the scope `organization`, unless it has one of that name.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE memberships ADD COLUMN is_owner boolean NOT NULL DEFAULT false');
  await knex.raw('CREATE INDEX memberships_by_owner ON memberships (org_id) WHERE is_owner');
  await knex.raw(`CREATE TABLE organization_roles (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    org_id text NOT NULL REFERENCES organizations ON DELETE CASCADE,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    permissions text[] NOT NULL DEFAULT '{}',
    created timestamptz NOT NULL,
    last_updated timestamptz NOT NULL,
    UNIQUE (org_id, name),
    UNIQUE (org_id, id)
  )`);
  await knex.raw(`CREATE TABLE member_roles (
    org_id text NOT NULL,
    user_id text NOT NULL,
    role_id text NOT NULL,
    PRIMARY KEY (user_id, org_id, role_id),
    FOREIGN KEY (org_id, user_id) REFERENCES memberships (org_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (org_id, role_id) REFERENCES organization_roles (org_id, id) ON DELETE CASCADE
  )`);
  await knex.raw('CREATE INDEX member_roles_by_role ON member_roles (org_id, role_id)');
  await knex.raw(`INSERT INTO scopes (id, server_id, name, display_name, description, consent, system)
    SELECT 'scp_' || substr(md5(id || 'organization'), 1, 20), id, 'organization', 'Your organization',
      'The organization that you sign in for, with your department and your roles in it', 'IMPLICIT', true
    FROM authorization_servers ON CONFLICT (server_id, name) DO NOTHING`);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
