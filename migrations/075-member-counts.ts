/**
 * How many members each organization has, without counting them: every change of memberships adds a row with its difference, so that no two changes wait for each
 * other, and the rows are added up now and then. The database writes them, also for a former version of the service.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE member_counts (
      org_id text NOT NULL REFERENCES organizations ON DELETE CASCADE,
      n bigint NOT NULL,
      folded boolean NOT NULL DEFAULT false
    );
    CREATE INDEX member_counts_by_organization ON member_counts (org_id) INCLUDE (n);
    CREATE INDEX member_counts_to_fold ON member_counts (org_id) WHERE NOT folded;
    CREATE FUNCTION count_new_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO member_counts (org_id, n) SELECT org_id, count(*) FROM added GROUP BY org_id;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_former_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO member_counts (org_id, n) SELECT org_id, -count(*) FROM removed GROUP BY org_id;
      RETURN NULL;
    END $$;
    -- Until the commit nobody else writes memberships: those that are counted below are all there are.
    CREATE TRIGGER count_new_members AFTER INSERT ON memberships REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_new_members();
    CREATE TRIGGER count_former_members AFTER DELETE ON memberships REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_former_members();
    INSERT INTO member_counts (org_id, n, folded) SELECT org_id, count(*), true FROM memberships GROUP BY org_id;
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
