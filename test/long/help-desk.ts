/** What a help desk looks after: by default 50,000 users, 500 applications, 1,000 organizations. */
import { onServer } from '../support/database.ts';
import type { Service } from '../support/service.ts';

const SIZE = { applications: 500, organizations: 1_000, groups: 200 };

/** What an API caller would have created, except for passwords. The statistics follow, as the database's own upkeep would bring them within minutes. */
export async function fillHelpDesk(service: Service, users = 50_000): Promise<{ groupId: string; appId: string; idpId: string }> {
  for (let n = 0; n < SIZE.applications; n += 1)
    await service.api('POST', '/apps', {
      ...{ name: 'oidc_client', label: `Application ${n}`, signOnMode: 'OPENID_CONNECT' },
      settings: { oauthClient: { redirect_uris: [`https://app-${n}.example/cb`] } },
    });
  const [{ id: appId }] = (await service.api('GET', '/apps?q=Application%20311')).body;
  const credentials = { client: { client_id: 'help-desk', client_secret: 'a-secret-of-the-help-desk' } };
  const provider = { name: 'Everybody away', type: 'GOOGLE', protocol: { credentials }, policy: { accountLink: { action: 'AUTO' } } };
  const { id: idpId } = (await service.api('POST', '/idps', provider)).body;
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Everybody in sales' } });
  for (let n = 1; n < SIZE.groups; n += 1) await service.api('POST', '/groups', { profile: { name: `Team ${n}` } });
  await onServer(service.database.url, async (sql) => {
    await sql.query(`INSERT INTO users (id, login, email, status, profile, created, last_updated)
      SELECT 'usr_' || n, 'user' || n || '@example.com', 'user' || n || '@example.com', 'ACTIVE',
        jsonb_build_object('firstName', (ARRAY['Ana','Bo','Chen','Dora','Emil','Fatima','Goran','Hana'])[1 + n % 8], 'lastName', CASE WHEN n BETWEEN 1001 AND 1050 THEN 'Newcomer' ELSE 'Family' END || n),
        now() - n * interval '1 minute', now()
      FROM generate_series(1, ${users}) n`);
    await sql.query(`INSERT INTO organizations (id, name, created, last_updated)
      SELECT 'org_' || n, 'Customer ' || n, now(), now() FROM generate_series(1, ${SIZE.organizations}) n`);
    await sql.query(`INSERT INTO memberships (org_id, user_id, created)
      SELECT 'org_' || (1 + n % ${SIZE.organizations}), 'usr_' || n, now() FROM generate_series(1, ${users}) n`);
    await sql.query(
      `INSERT INTO group_members (group_id, user_id, created) SELECT $1, 'usr_' || n, now() FROM generate_series(1, 20000) n`,
      [group.id],
    );
    const everybody = `FROM generate_series(1, ${users}) n`;
    await sql.query(
      `INSERT INTO application_users (application_id, user_id, created) SELECT $1, 'usr_' || n, now() - n * interval '1 second' ${everybody}`,
      [appId],
    );
    await sql.query(
      `INSERT INTO identity_provider_links (idp_id, subject, user_id, created) SELECT $1, 'subject-' || n, 'usr_' || n, now() ${everybody}`,
      [idpId],
    );
    await sql.query(
      `INSERT INTO provisioning_targets (application_id, status, base_url, auth, secret_sealed, leavers, created, last_updated)
       VALUES ($1, 'INACTIVE', 'https://scim.example', '{"type":"BEARER"}', '', 'DEACTIVATE', now(), now())`,
      [appId],
    );
    await sql.query(
      `INSERT INTO provisioned_resources (application_id, kind, id, name, state, last_attempt)
       SELECT $1, 'user', 'usr_' || n, 'user' || n || '@example.com', 'PROVISIONED', now() - n * interval '1 second' ${everybody}`,
      [appId],
    );
    await sql.query('ANALYZE');
  });
  return { groupId: group.id, appId, idpId };
}
