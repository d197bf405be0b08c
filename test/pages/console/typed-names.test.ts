/** A deletion that affects more than 20 things is confirmed by typing the name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { createOrganization, enter, wordsOf } from './administrators.ts';

test('roles, scopes and authorization detail types that many have are deleted by typing their names', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const app = (await service.createApp({ redirect_uris: ['https://app.example/cb'] })).clientId;
  const create = async (path: string, body: object) => {
    const answer = await service.api('POST', path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const ofOrganization = await create(`/account/org/${orgId}/role`, { name: 'billing', permissions: ['READ_LOG'] });
  const ofApplication = await create(`/apps/${app}/roles`, { name: 'editor' });
  const scope = await create('/authorizationServers/default/scopes', { name: 'orders.read', displayName: 'See your orders' });
  const type = { name: 'payment', displayName: 'Payment', template: 'Pay', schema: { type: 'object' } };
  const detail = await create('/authorizationServers/default/authorizationDetailTypes', type);
  await onServer(service.database.url, async (sql) => {
    const many = 'FROM generate_series(1, 21) n';
    for (const statement of [
      `INSERT INTO users (id, login, status, profile, created, last_updated) SELECT 'usr_many' || n, 'many' || n, 'ACTIVE', '{}', now(), now() ${many}`,
      `INSERT INTO memberships (org_id, user_id, created) SELECT '${orgId}', 'usr_many' || n, now() ${many}`,
      `INSERT INTO member_roles (org_id, user_id, role_id) SELECT '${orgId}', 'usr_many' || n, '${ofOrganization.id}' ${many}`,
      `INSERT INTO application_users (application_id, user_id, created) SELECT '${app}', 'usr_many' || n, now() ${many}`,
      `INSERT INTO application_user_roles (application_id, user_id, role_id) SELECT '${app}', 'usr_many' || n, '${ofApplication.id}' ${many}`,
      `INSERT INTO consents (user_id, application_id, server_id, scope, created) SELECT 'usr_many' || n, '${app}', 'default', 'orders.read', now() ${many}`,
      `INSERT INTO consents (user_id, application_id, server_id, scope, created, detail)
        SELECT 'usr_many' || n, '${app}', 'default', 'detail:' || n, now(), '{"type":"payment"}' ${many}`,
    ])
      await sql.query(statement);
  });
  const { agent } = await enter(service);
  for (const [path, name] of [
    [`/organizations/${orgId}/roles/${ofOrganization.id}`, 'billing'],
    [`/applications/${app}/roles/${ofApplication.id}`, 'editor'],
    [`/api/servers/default/scopes/${scope.id}`, 'orders.read'],
    [`/api/servers/default/details/${detail.id}`, 'payment'],
  ]) {
    const form = await agent.visit(`/admin${path}/delete`);
    assert.match(wordsOf(form), new RegExp(`21 .*Enter “${name}” to confirm`), path);
    assert.match(form.text, /<a class="help" id="confirmed-name-help" href="\/api\/v1\/docs#delete\w+"/, path);
    const refused = await agent.submit(form, 'console-form', { 'confirmed-name': 'another' });
    assert.equal(refused.status, 400, path);
    assert.match(wordsOf(refused), /is not the name that is shown/, path);
    assert.match(wordsOf(await agent.submit(form, 'console-form', { 'confirmed-name': String(name) })), /is deleted/, path);
  }
});
