/** The audit log by Okta's SDK (management API, "logs"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, requestsOf, timed } from './client.ts';

test('the log by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const okta = oktaClient(service);
  const { groupApi, systemLogApi, userApi } = okta;
  const ids: string[] = [];
  for (let turn = 0; turn < 45; turn += 1)
    ids.push(String((await groupApi.createGroup({ group: { profile: { name: `Logged ${turn}` } } })).id));

  await t.test('shows an event', async () => {
    const [admin] = await all(userApi.listUsers({ filter: 'profile.login eq "admin"' }));
    const [event, ...others] = await all(systemLogApi.listLogEvents({ filter: `target.id eq "${ids[0]}"` }));
    assert.equal(others.length, 0);
    const { uuid, transaction, client, ...told } = timed(event, 'published').rest;
    assert.match(String(uuid), /^[0-9a-f-]{36}$/);
    assert.match(String(Reflect.get(Object(transaction), 'id')), /^[\w-]{16,}$/);
    assert.equal(Reflect.get(Object(client), 'ipAddress'), '127.0.0.1');
    assert.deepEqual(told, {
      eventType: 'group.lifecycle.create',
      severity: 'INFO',
      displayMessage: 'Create group',
      actor: { id: admin?.id, type: 'User', displayName: 'admin' },
      outcome: { result: 'SUCCESS', reason: null },
      target: [{ id: ids[0], type: 'UserGroup', displayName: 'Logged 0' }],
      // Before and after a change are no fields of Okta's.
      debugContext: {},
    });
  });

  await t.test('is read in pages, from either end, and searched', async () => {
    const requests = requestsOf(okta);
    const filter = 'eventType eq "group.lifecycle.create"';
    const targets = async (query: object) =>
      (await all(systemLogApi.listLogEvents({ filter, ...query }))).map(({ target }) => target?.[0]?.id);
    assert.deepEqual(await targets({}), ids);
    assert.equal(requests.length, 3);
    assert.deepEqual(await targets({ limit: 200, sortOrder: 'DESCENDING' }), [...ids].reverse());
    const since = new Date(Date.now() - 600_000).toISOString();
    assert.deepEqual(await targets({ since, until: new Date(Date.now() + 600_000).toISOString(), q: String(ids[7]), limit: 1 }), [ids[7]]);
    assert.deepEqual(await targets({ until: since, since: '2026-01-01T00:00:00.000Z' }), []);
  });

  await t.test('refuses what it cannot be asked', async () => {
    const [status, code, , causes] = await refusal(all(systemLogApi.listLogEvents({ since: 'yesterday', filter: 'colour eq "red"' })));
    assert.deepEqual([status, code], [400, 'E0000001']);
    assert.match(String(causes[0]), /^since: /);
  });
});
