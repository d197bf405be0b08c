/**
 * The audit log sealed: batches of events in a chain of hashes, who is named in which event, and whose data is still to be taken out. Adds only;
 * processes of the schemas before run on, and what they write is sealed by those of this one.
 */
import type { Knex } from 'knex';

/**
 * `audit_events.seal` is the number of the batch that an event is in, null until it is sealed; the index finds a batch, and with `ORDER BY seal, seq` what
 * is not sealed yet. `commitments` holds, for each personal part of the event, the salt of its digest, or the digest itself once the part is gone.
 * `audit_seals.entries` are `[seq, digest]` of each event; they go with the events, the seals stay.
 */
const STATEMENTS = `
ALTER TABLE audit_events ADD COLUMN seal bigint;
ALTER TABLE audit_events ADD COLUMN commitments jsonb;
CREATE INDEX audit_events_by_seal ON audit_events (seal, seq);

CREATE TABLE audit_seals (
  n bigint PRIMARY KEY,
  previous text NOT NULL,
  content text NOT NULL,
  count integer NOT NULL,
  newest timestamptz,
  complete boolean NOT NULL,
  sealed timestamptz NOT NULL,
  hash text NOT NULL,
  key_id text NOT NULL,
  mac text NOT NULL,
  entries jsonb,
  removed timestamptz,
  removal_key_id text,
  removal_mac text
);
CREATE INDEX audit_seals_kept ON audit_seals (n) WHERE removed IS NULL;

CREATE TABLE audit_people (
  user_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (user_id, seq)
);

CREATE TABLE audit_erasures (
  user_id text PRIMARY KEY,
  requested timestamptz NOT NULL,
  due timestamptz NOT NULL
);
CREATE INDEX audit_erasures_by_due ON audit_erasures (due);
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
