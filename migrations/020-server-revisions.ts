/**
 * A mark of each authorization server that is another one after any change of what the server is built from: the database sets it itself, whoever changes a row, so
 * that the processes ask for it alone. Random rather than counted: where a failover lost a change, the next one must not pass for it.
 */
import type { Knex } from 'knex';

/**
 * By which column each kind of part tells its server. A rule that goes with its policy, and a part that goes with its server, leave nothing to mark. A key that is
 * sealed anew under another SECRET_KEY is the same key: whoever seals many at once shall hold no server.
 */
const PARTS = `
CREATE FUNCTION mark_server_of_part() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE authorization_servers SET revision = DEFAULT WHERE id IN (OLD.server_id, NEW.server_id);
  RETURN NULL;
END $$;
CREATE FUNCTION mark_server_of_rule() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE authorization_servers SET revision = DEFAULT WHERE id IN (SELECT server_id FROM policies WHERE id IN (OLD.policy_id, NEW.policy_id));
  RETURN NULL;
END $$;
CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OR DELETE ON scopes FOR EACH ROW EXECUTE FUNCTION mark_server_of_part();
CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OR DELETE ON claims FOR EACH ROW EXECUTE FUNCTION mark_server_of_part();
CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OF kid, server_id, alg, status, public_jwk, created, activated, retired OR DELETE
  ON signing_keys FOR EACH ROW EXECUTE FUNCTION mark_server_of_part();
CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OR DELETE ON policies FOR EACH ROW EXECUTE FUNCTION mark_server_of_part();
CREATE TRIGGER mark_server AFTER INSERT OR UPDATE OR DELETE ON policy_rules FOR EACH ROW EXECUTE FUNCTION mark_server_of_rule();
`;

const SERVERS = `
ALTER TABLE authorization_servers ADD COLUMN revision uuid NOT NULL DEFAULT gen_random_uuid();
CREATE FUNCTION mark_server() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := gen_random_uuid();
  RETURN NEW;
END $$;
CREATE TRIGGER mark_server BEFORE UPDATE ON authorization_servers FOR EACH ROW EXECUTE FUNCTION mark_server();
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(SERVERS);
  await knex.raw(PARTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
