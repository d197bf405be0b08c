/** Event hooks by Okta's SDK: each operation, with every field that it shows (management API, "eventHooks"). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { startService } from '../../support/service.ts';
import { all, oktaClient, refusal, shown, timed } from './client.ts';

test('event hooks by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const { eventHookApi, userApi } = oktaClient(service);
  // Answers the one-time verification as Okta's documentation asks for it.
  const receiver = createServer((request, response) => {
    const verification = request.headers['x-okta-verification-challenge'];
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ verification }));
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  afterwards(t, () => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const address = receiver.address();
  assert(address !== null && typeof address === 'object');
  const uri = `http://127.0.0.1:${address.port}/hook`;

  const [admin] = await all(userApi.listUsers({ filter: 'profile.login eq "admin"' }));
  const linksOf = (id: string, status: 'ACTIVE' | 'INACTIVE') => {
    const href = `${service.baseUrl}/api/v1/eventHooks/${id}`;
    const hints = { allow: ['POST'] };
    return {
      self: { href },
      verify: { href: `${href}/lifecycle/verify`, hints },
      // Of an inactive one the SDK has no name for `activate`.
      ...(status === 'ACTIVE' && { deactivate: { href: `${href}/lifecycle/deactivate`, hints } }),
    };
  };

  const eventHook = await eventHookApi.createEventHook({
    eventHook: {
      name: '<b>People</b>',
      description: 'Who comes and goes',
      events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create', 'user.lifecycle.deactivate'] },
      channel: {
        type: 'HTTP',
        version: '1.0.0',
        config: {
          uri,
          headers: [{ key: 'X-Tenant', value: 'one' }],
          authScheme: { type: 'HEADER', key: 'Authorization', value: 'secret' },
        },
      },
    },
  });
  const { created, lastUpdated, rest } = timed(eventHook, 'created', 'lastUpdated');
  assert.equal(created, lastUpdated);
  const eventHookId = String(eventHook.id);
  assert.deepEqual(rest, {
    id: eventHookId,
    name: '<b>People</b>',
    description: 'Who comes and goes',
    status: 'ACTIVE',
    verificationStatus: 'UNVERIFIED',
    createdBy: admin?.id,
    events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create', 'user.lifecycle.deactivate'], filter: null },
    channel: {
      type: 'HTTP',
      version: '1.0.0',
      // The values are secrets.
      config: { uri, method: 'POST', headers: [{ key: 'X-Tenant' }], authScheme: { type: 'HEADER', key: 'Authorization' } },
    },
    _links: linksOf(eventHookId, 'ACTIVE'),
  });
  assert.deepEqual(shown(await eventHookApi.getEventHook({ eventHookId })), shown(eventHook));
  assert.deepEqual((await all(eventHookApi.listEventHooks())).map(shown), [shown(eventHook)]);

  const verified = await eventHookApi.verifyEventHook({ eventHookId });
  assert.equal(verified.verificationStatus, 'VERIFIED');
  assert.deepEqual(shown(await eventHookApi.getEventHook({ eventHookId })), shown(verified));

  const whole = await eventHookApi.getEventHook({ eventHookId });
  whole.name = 'Everybody';
  const replaced = await eventHookApi.replaceEventHook({ eventHookId, eventHook: whole });
  const after = timed(replaced, 'created', 'lastUpdated');
  assert.deepEqual([after.created, after.rest], [created, { ...rest, name: 'Everybody', verificationStatus: 'VERIFIED' }]);

  const inactive = await eventHookApi.deactivateEventHook({ eventHookId });
  assert.deepEqual([inactive.status, shown(inactive._links)], ['INACTIVE', linksOf(eventHookId, 'INACTIVE')]);
  assert.deepEqual(shown(await eventHookApi.getEventHook({ eventHookId })), shown(inactive));
  assert.equal((await eventHookApi.activateEventHook({ eventHookId })).status, 'ACTIVE');
  await eventHookApi.deactivateEventHook({ eventHookId });
  assert.equal(await eventHookApi.deleteEventHook({ eventHookId }), undefined);
  assert.deepEqual((await refusal(eventHookApi.getEventHook({ eventHookId }))).slice(0, 2), [404, 'E0000007']);
  whole.events = { type: 'EVENT_TYPE', items: ['no.such.event'] };
  assert.deepEqual((await refusal(eventHookApi.createEventHook({ eventHook: whole }))).slice(0, 2), [400, 'E0000001']);
});
