/**
 * API tokens of a second type: SCIM tokens, for provisioning alone, bound to an organization or (null) to the installation. The former version does not know
 * the type. It cannot take such a token for its own, because the digest is another one (features/api-tokens/api-tokens.service.ts).
 */
import type { Knex } from 'knex';

const STATEMENTS = `
ALTER TABLE api_tokens
  ADD COLUMN type text NOT NULL DEFAULT 'API' CHECK (type IN ('API', 'SCIM')),
  ADD COLUMN org_id text REFERENCES organizations ON DELETE CASCADE CONSTRAINT api_tokens_bound CHECK (org_id IS NULL OR type = 'SCIM');
CREATE INDEX api_tokens_by_organization ON api_tokens (org_id) WHERE org_id IS NOT NULL;
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
