/** Invitations to organizations that wait for their reader. The digest of the link's token stands beside the row's ID, which administrators know. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE organization_invitations (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    org_id text NOT NULL REFERENCES organizations ON DELETE CASCADE,
    email text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    role_id text,
    dep_id text,
    token_hash text NOT NULL UNIQUE,
    created_by text NOT NULL,
    created timestamptz NOT NULL,
    sent timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    FOREIGN KEY (org_id, role_id) REFERENCES organization_roles (org_id, id) ON DELETE SET NULL (role_id),
    FOREIGN KEY (org_id, dep_id) REFERENCES departments (org_id, id) ON DELETE SET NULL (dep_id)
  )`);
  await knex.raw('CREATE UNIQUE INDEX organization_invitations_by_email ON organization_invitations (org_id, lower(email))');
  await knex.raw('CREATE INDEX organization_invitations_by_role ON organization_invitations (org_id, role_id) WHERE role_id IS NOT NULL');
  await knex.raw(
    'CREATE INDEX organization_invitations_by_department ON organization_invitations (org_id, dep_id) WHERE dep_id IS NOT NULL',
  );
  await knex.raw('CREATE INDEX organization_invitations_by_creator ON organization_invitations (org_id, created_by)');
  await knex.raw('CREATE INDEX organization_invitations_by_expiry ON organization_invitations (expires_at)');
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
