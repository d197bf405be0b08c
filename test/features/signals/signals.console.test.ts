/** API → Signal streams, without JavaScript: created, verified, changed, paused, enabled, deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { createAdministrator, enter, wordsOf } from '../../pages/console/administrators.ts';
import { createClient } from '../../protocol/servers/relying-party.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { ACCOUNT_PURGED, SESSION_REVOKED, signalReceiver, VERIFICATION } from '../../support/signals.ts';

const HOME = '/admin/api/signal-streams';

test('a stream is created, verified, changed, paused, enabled and deleted; what waits and the last error are shown', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const { clientId } = await createClient(service);
  let status = 202;
  const receiver = await signalReceiver(t, (res) => res.writeHead(status).end());
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(HOME)), /There is no signal stream yet/);
  const form = await agent.visit(`${HOME}/new`);
  const typed = {
    applicationId: clientId,
    description: 'To the <gateway>',
    events: [SESSION_REVOKED],
    method: 'PUSH',
    endpointUrl: receiver.uri,
    authorizationHeader: 'Bearer of-the-receiver',
  };
  const wrong = await agent.submit(form, 'console-form', { ...typed, endpointUrl: 'http://example.com/' });
  assert.match(wordsOf(wrong), /must use https/);
  const created = await agent.submit(form, 'console-form', typed);
  assert.match(wordsOf(created), /The signal stream is created.*To the <gateway>|To the &lt;gateway&gt;/);
  const [stream] = (await service.api('GET', '/ssf/streams')).body;
  assert.deepEqual([stream.applicationId, stream.events, stream.delivery.endpointUrl], [clientId, [SESSION_REVOKED], receiver.uri]);
  const at = `${HOME}/${stream.id}`;
  const step = async (name: string) => wordsOf(await agent.submit(await agent.visit(`${at}/${name}`), 'console-form'));
  assert.ok(!(await agent.visit(at)).text.includes('of-the-receiver'));

  await step('verify');
  const [verification = ''] = await receiver.received(1);
  assert.deepEqual(Object.keys(decodeJwt(verification).events as object), [VERIFICATION]);
  assert.equal(receiver.headers[0]?.authorization, 'Bearer of-the-receiver');

  await agent.submit(await agent.visit(`${at}/edit`), 'console-form', { events: [ACCOUNT_PURGED] });
  const { body: changed } = await service.api('GET', `/ssf/streams/${stream.id}`);
  assert.deepEqual([changed.events, changed.delivery.hasAuthorizationHeader], [[ACCOUNT_PURGED], true]);

  assert.match(await step('pause'), /Paused/);
  await receiver.received(2);
  status = 503;
  assert.match(await step('enable'), /Enabled/);
  await eventually(async () => /Waiting [1-9].*answered 503/.test(wordsOf(await agent.visit(at))), 'the last error is shown');
  assert.match(wordsOf(await agent.visit(HOME)), /Pushed .*answered 503/);

  const confirm = await agent.submit(await agent.visit(HOME), 'console-form', { action: 'signal-streams.pause', chosen: [stream.id] });
  assert.match(wordsOf(confirm), /Pause: 1 stream\?.*Events wait until the streams are enabled/);
  await agent.submit(confirm, 'console-form');
  await eventually(async () => /Paused/.test(wordsOf(await agent.visit(at))), 'the bulk action pauses it');
  assert.match(await step('delete'), /The signal stream is deleted.*There is no signal stream yet/);
});

test('a stream that is polled has an address here; who may only read changes nothing', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const { agent } = await enter(service);
  const typed = { applicationId: clientId, description: '', events: [ACCOUNT_PURGED], method: 'POLL' };
  await agent.submit(await agent.visit(`${HOME}/new`), 'console-form', typed);
  const [stream] = (await service.api('GET', '/ssf/streams')).body;
  assert.equal(stream.delivery.endpointUrl, `${service.baseUrl}/ssf/v1/poll/${stream.id}`);
  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent: reading } = await enter(service, reader);
  const page = await reading.visit(`${HOME}/${stream.id}`);
  assert.ok(!page.text.includes(`${HOME}/${stream.id}/delete`));
  assert.equal((await reading.visit(`${HOME}/${stream.id}/delete`)).status, 403);
});
