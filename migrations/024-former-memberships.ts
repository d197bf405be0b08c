/** The organizations that a user belonged to: their administrators may have prepared ways to sign in as the user. */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE former_memberships (
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      org_id text NOT NULL,
      PRIMARY KEY (user_id, org_id)
    );
    -- Whoever deletes the membership, a former version of the service as well. Of a user who is being deleted nothing is kept.
    CREATE FUNCTION keep_former_membership() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO former_memberships (user_id, org_id)
        SELECT OLD.user_id, OLD.org_id WHERE EXISTS (SELECT FROM users WHERE id = OLD.user_id)
        ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$;
    CREATE TRIGGER keep_former_membership AFTER DELETE ON memberships FOR EACH ROW EXECUTE FUNCTION keep_former_membership();
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
