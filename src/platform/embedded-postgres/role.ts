/**
 * The role that the service uses in the embedded PostgreSQL. It owns its database and is no superuser, so a flaw in a statement
 * cannot read files or run programs (OWASP ASVS 5.0, 13.2.2). The superuser is left for backups and for the role itself.
 */
import pg from 'pg';

/** The role, which logs in with the superuser's password: both are read from the same file. */
const SERVICE_ROLE = 'gatehouse';

/** Held until the end of the transaction, so that services that start together do not change the same role. */
const ROLE_LOCK = 0x67617466;

/** Former versions made everything as the superuser. Indexes and the sequences of columns follow their table. */
const HAND_OVER = `
DO $$
DECLARE command text;
BEGIN
  FOR command IN
    SELECT format('ALTER %s %s OWNER TO ${SERVICE_ROLE}', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
    FROM pg_class c
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relowner <> '${SERVICE_ROLE}'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid
        AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO ${SERVICE_ROLE}', p.oid::regprocedure)
    FROM pg_proc p
    WHERE pronamespace = 'public'::regnamespace AND proowner <> '${SERVICE_ROLE}'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO ${SERVICE_ROLE}', t.oid::regtype)
    FROM pg_type t
    WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e') AND typowner <> '${SERVICE_ROLE}'::regrole
  LOOP
    EXECUTE command;
  END LOOP;
END $$`;

/**
 * Makes the service's role where it is missing, and hands it the database of a former version.
 * @param superuser the superuser's connection to the service's database
 * @returns the connection for the service
 */
export async function provideServiceRole(superuser: pg.ClientConfig): Promise<pg.ClientConfig> {
  const { database = 'postgres', password } = superuser;
  const client = new pg.Client(superuser);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [ROLE_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ROLE]);
    const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(
      `${verb} ROLE ${SERVICE_ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${pg.escapeLiteral(String(password))}`,
    );
    await client.query(`ALTER DATABASE ${pg.escapeIdentifier(database)} OWNER TO ${SERVICE_ROLE}`);
    await client.query(HAND_OVER);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  return { ...superuser, user: SERVICE_ROLE };
}
