/**
 * The order of organizations and groups by members and by name, from indexes. The table of totals has the sum of the merged rows of each owner (migrations 063, 075).
 * Triggers update it when rows are merged, also for an earlier version of the service.
 */
import type { Knex } from 'knex';

const LISTS = [
  { of: 'organizations', counts: 'member_counts', owner: 'org_id', totals: 'member_totals' },
  { of: 'groups', counts: 'group_counts', owner: 'group_id', totals: 'group_totals' },
] as const;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  for (const { of, counts, owner, totals } of LISTS) {
    await knex.raw(`
      CREATE TABLE ${totals} (
        ${owner} text PRIMARY KEY REFERENCES ${of} ON DELETE CASCADE,
        -- Of the owner, for the order of equal numbers.
        seq bigint NOT NULL,
        n bigint NOT NULL DEFAULT 0
      );
      CREATE FUNCTION begin_${totals}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        INSERT INTO ${totals} (${owner}, seq) VALUES (NEW.id, NEW.seq);
        RETURN NULL;
      END $$;
      CREATE FUNCTION add_to_${totals}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        UPDATE ${totals} SET n = n + NEW.n WHERE ${owner} = NEW.${owner};
        RETURN NULL;
      END $$;
      CREATE FUNCTION take_from_${totals}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        UPDATE ${totals} SET n = n - OLD.n WHERE ${owner} = OLD.${owner};
        RETURN NULL;
      END $$;
      -- Creating triggers locks both tables against writes until the commit, so the totals below are complete.
      CREATE TRIGGER begin_${totals} AFTER INSERT ON ${of} FOR EACH ROW EXECUTE FUNCTION begin_${totals}();
      CREATE TRIGGER add_to_${totals} AFTER INSERT ON ${counts} FOR EACH ROW WHEN (NEW.folded) EXECUTE FUNCTION add_to_${totals}();
      CREATE TRIGGER take_from_${totals} AFTER DELETE ON ${counts} FOR EACH ROW WHEN (OLD.folded) EXECUTE FUNCTION take_from_${totals}();
      INSERT INTO ${totals} (${owner}, seq, n)
        SELECT id, seq, coalesce(sums.n, 0) FROM ${of}
        LEFT JOIN (SELECT ${owner}, sum(n) AS n FROM ${counts} WHERE folded GROUP BY ${owner}) sums ON sums.${owner} = id;
      CREATE INDEX ${totals}_in_order ON ${totals} (n, seq) INCLUDE (${owner});
      CREATE INDEX ${of}_by_sorted_name ON ${of} ((sort_text(name) COLLATE "C"), seq);
    `);
  }
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
