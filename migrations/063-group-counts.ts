/**
 * How many members each group has, as migration 075 counts those of organizations: every change adds a row with its difference, the rows are added up now and then,
 * and the database writes them, also for a former version of the service. No row refers to its group: a deleted group's rows add up to nothing, and no count
 * waits for the lock of a deletion.
 */
import type { Knex } from 'knex';

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE group_counts (
      group_id text NOT NULL,
      n bigint NOT NULL,
      folded boolean NOT NULL DEFAULT false
    );
    CREATE INDEX group_counts_by_group ON group_counts (group_id) INCLUDE (n);
    CREATE INDEX group_counts_to_fold ON group_counts (group_id) WHERE NOT folded;
    CREATE FUNCTION count_new_group_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO group_counts (group_id, n) SELECT group_id, count(*) FROM added GROUP BY group_id;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_former_group_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO group_counts (group_id, n) SELECT group_id, -count(*) FROM removed GROUP BY group_id;
      RETURN NULL;
    END $$;
    -- Until the commit nobody else writes memberships: those that are counted below are all there are.
    CREATE TRIGGER count_new_group_members AFTER INSERT ON group_members REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_new_group_members();
    CREATE TRIGGER count_former_group_members AFTER DELETE ON group_members REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_former_group_members();
    INSERT INTO group_counts (group_id, n, folded) SELECT group_id, count(*), true FROM group_members GROUP BY group_id;
  `);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
