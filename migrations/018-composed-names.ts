/**
 * Logins and e-mail addresses in composed Unicode (NFC), in which they are looked for from now on. Of two logins that then were one, the one that is composed
 * already keeps the name, and the other stays as it is. Older processes run on. PostgreSQL composes in databases of UTF8 only.
 */
import type { Knex } from 'knex';

const STATEMENTS = `
DO $$ BEGIN
IF getdatabaseencoding() <> 'UTF8' THEN RETURN; END IF;
UPDATE users SET login = normalize(login, NFC) WHERE login IS NOT NFC NORMALIZED AND NOT EXISTS (
  SELECT 1 FROM users other WHERE other.id <> users.id AND lower(normalize(other.login, NFC)) = lower(normalize(users.login, NFC))
    AND (other.login IS NFC NORMALIZED OR other.id < users.id));
UPDATE users SET email = normalize(email, NFC) WHERE email IS NOT NFC NORMALIZED;
END $$;
`;

/** @param knex a transaction, as knex opens one for each migration */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(STATEMENTS);
}

/** Migrations run forward only. */
export async function down(): Promise<void> {
  throw new Error('migrations run forward only: restore a backup instead');
}
