/** The activity of applications, groups and organizations in the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('what happened to an application, a group and an organization is shown, the newest first, in pages, and read by an index', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  await tokensFor(service, new UserAgent(service.baseUrl), user, client);
  const group = (await service.api('POST', '/groups', { profile: { name: 'Gardeners' } })).body;
  await service.api('PUT', `/groups/${group.id}/users/${user.id}`);
  const orgId = await createOrganization(service, 'Fern House');
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  for (let n = 0; n < 21; n += 1) await service.api('PUT', `/groups/${group.id}`, { profile: { name: 'Gardeners', description: `${n}` } });
  const { agent } = await enter(service);
  const application = wordsOf(await agent.visit(`/admin/applications/${client.clientId}/activity`));
  assert.match(application, new RegExp(`user\\.authentication\\.sso ${user.login} .*Test application.*application\\.lifecycle\\.create`));
  assert.match(wordsOf(await agent.visit(`/admin/organizations/${orgId}/activity`)), /org\.membership\.add.*org\.lifecycle\.create/);
  const first = await agent.visit(`/admin/groups/${group.id}/activity`);
  assert.doesNotMatch(first.text, /group\.user_membership\.add/);
  const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(wordsOf(await agent.visit(next)), /group\.user_membership\.add.*group\.lifecycle\.create/);
  const log = `/admin/reports/log?q=${group.id}`;
  assert.ok(first.text.includes(`href="${log}"`));
  assert.match(wordsOf(await agent.visit(log)), /group\.\w+\.update/);

  const { agent: hers } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', orgId));
  assert.match(wordsOf(await hers.visit(`/admin/organizations/${orgId}/activity`)), /org\.lifecycle\.create/);

  await onServer(service.database.url, async (sql) => {
    await sql.query('SET enable_seqscan = off');
    for (const place of [0, 1]) {
      const { rows } = await sql.query(
        `EXPLAIN SELECT seq FROM audit_events WHERE target->${place}->>'id' = 'x' AND target->${place}->>'type' <> 'User' ORDER BY seq DESC LIMIT 20`,
      );
      assert.match(JSON.stringify(rows), /audit_events_by_(first|second)_object/);
      assert.doesNotMatch(JSON.stringify(rows), /Sort/);
    }
  });
});
