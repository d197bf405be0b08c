/** What a help desk looks after: 50,000 users, 500 applications, 1,000 organizations. */
import { onServer } from '../support/database.ts';
import type { Service } from '../support/service.ts';

const SIZE = { users: 50_000, applications: 500, organizations: 1_000, groups: 200 };

/** What an API caller would have created, except for passwords. The statistics follow, as the database's own upkeep would bring them within minutes. */
export async function fillHelpDesk(service: Service): Promise<{ groupId: string }> {
  for (let n = 0; n < SIZE.applications; n += 1)
    await service.api('POST', '/apps', {
      ...{ name: 'oidc_client', label: `Application ${n}`, signOnMode: 'OPENID_CONNECT' },
      settings: { oauthClient: { redirect_uris: [`https://app-${n}.example/cb`] } },
    });
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Everybody in sales' } });
  for (let n = 1; n < SIZE.groups; n += 1) await service.api('POST', '/groups', { profile: { name: `Team ${n}` } });
  await onServer(service.database.url, async (sql) => {
    await sql.query(`INSERT INTO users (id, login, email, status, profile, created, last_updated)
      SELECT 'usr_' || n, 'user' || n || '@example.com', 'user' || n || '@example.com', 'ACTIVE',
        jsonb_build_object('firstName', (ARRAY['Ana','Bo','Chen','Dora','Emil','Fatima','Goran','Hana'])[1 + n % 8], 'lastName', CASE WHEN n BETWEEN 1001 AND 1050 THEN 'Newcomer' ELSE 'Family' END || n),
        now() - n * interval '1 minute', now()
      FROM generate_series(1, ${SIZE.users}) n`);
    await sql.query(`INSERT INTO organizations (id, name, created, last_updated)
      SELECT 'org_' || n, 'Customer ' || n, now(), now() FROM generate_series(1, ${SIZE.organizations}) n`);
    await sql.query(`INSERT INTO memberships (org_id, user_id, created)
      SELECT 'org_' || (1 + n % ${SIZE.organizations}), 'usr_' || n, now() FROM generate_series(1, ${SIZE.users}) n`);
    await sql.query(
      `INSERT INTO group_members (group_id, user_id, created) SELECT $1, 'usr_' || n, now() FROM generate_series(1, 20000) n`,
      [group.id],
    );
    await sql.query('ANALYZE');
  });
  return { groupId: group.id };
}
