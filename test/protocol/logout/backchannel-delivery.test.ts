/** How the end of a session reaches applications that are slow, broken or away, and across a crash (Back-Channel Logout 1.0 section 2.8; docs/decisions). */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { PAUSES } from '../../../src/features/outbox/outbox.service.ts';
import { PRODUCTION } from '../../../src/platform/clock/timings.ts';
import { afterwards } from '../../support/afterwards.ts';
import { stopClock } from '../../support/clock.ts';
import { testDatabase } from '../../support/database.ts';
import { eventually, runService } from '../../support/process.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { SIGNED_OUT } from '../servers/relying-party.ts';
import { hurry, receiver, signInAt, told, verified, type Waiting, waiting } from './logout-receiver.ts';

const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };

/** Waits until the first entry of the outbox has failed so often. The clock stands still: no other attempt is made. */
async function failed(service: Service, attempts: number) {
  let entry: Waiting | undefined;
  await eventually(async () => {
    [entry] = await waiting(service.database);
    // As long as an attempt is under way, it is due at another time, and the error is that of the one before.
    return entry?.attempts === attempts && entry.last_error !== null && entry.ahead === PAUSES[attempts - 1];
  }, `${attempts} attempts fail`);
  assert.ok(entry);
  return entry;
}

const emptied = (service: Service) => eventually(async () => (await waiting(service.database)).length === 0, 'the outbox is empty');

/** What the audit log says of deliveries that were given up. */
const givenUp = async (service: Service, clientId: string) => {
  const filter = new URLSearchParams({ filter: `eventType eq "app.oauth2.backchannel_logout" and target.id eq "${clientId}"` });
  return (await service.api('GET', `/logs?${filter}`)).body;
};

test('delivery', async (t) => {
  stopClock(t);
  const service = await startService(t, { env: LOCAL, sendsOutbox: true });
  const user = await service.createUser();

  await t.test('an application that was down is told when it is up again, by a token made for that moment', async (t) => {
    let up = false;
    const endpoint = await receiver(t, (res) => res.writeHead(up ? 204 : 503).end());
    const client = await told(service, endpoint.uri);
    const { logout } = await signInAt(service, user, [['default', client]]);
    await logout();
    const entry = await failed(service, 1);
    assert.equal(entry.last_error, 'the application answered 503');
    assert.doesNotMatch(JSON.stringify(entry), /eyJ/, 'no token is kept');
    up = true;
    await hurry(service.database);
    const [before = '', after = ''] = await endpoint.received(2);
    await verified(service, 'default', client, after);
    assert.notEqual(decodeJwt(after).jti, decodeJwt(before).jti);
    await emptied(service);
  });

  await t.test('it is tried again after 5 s, 30 s, 2 min, 10 min and 1 h, then given up, which the audit log tells', async (t) => {
    const endpoint = await receiver(t, (res) => res.writeHead(500).end());
    const client = await told(service, endpoint.uri);
    const { logout } = await signInAt(service, user, [['default', client]]);
    await logout();
    for (const [index, pause] of [5, 30, 120, 600, 3600].entries()) {
      assert.equal(PAUSES[index], pause);
      await failed(service, index + 1);
      await hurry(service.database);
    }
    await emptied(service);
    assert.equal(endpoint.tokens.length, 6);
    const [event, ...others] = await givenUp(service, client.clientId);
    assert.deepEqual(others, []);
    assert.deepEqual(event.outcome, { result: 'FAILURE', reason: 'the application answered 500' });
    assert.deepEqual(
      event.target.map(({ id }: { id: string }) => id),
      [client.clientId, 'default'],
    );
  });

  await t.test('section 2.8: 400 is an answer, not a failure to answer: no further attempt', async (t) => {
    const endpoint = await receiver(t, (res) =>
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_request"}'),
    );
    const client = await told(service, endpoint.uri);
    await (await signInAt(service, user, [['built-in', client]])).logout();
    await emptied(service);
    assert.equal(endpoint.tokens.length, 1);
    assert.equal((await givenUp(service, client.clientId))[0].outcome.reason, 'the application answered 400');
  });

  await t.test('a redirect is not followed', async (t) => {
    const elsewhere = await receiver(t);
    const endpoint = await receiver(t, (res) => res.writeHead(307, { location: elsewhere.uri }).end());
    const client = await told(service, endpoint.uri);
    await (await signInAt(service, user, [['built-in', client]])).logout();
    assert.match((await failed(service, 1)).last_error ?? '', /redirect/);
    assert.deepEqual(elsewhere.tokens, []);
    await service.api('POST', `/apps/${client.clientId}/lifecycle/deactivate`);
    await hurry(service.database);
    await emptied(service);
  });

  await t.test('applications that never answer delay neither the 302 nor the others', async (t) => {
    const held: ServerResponse[] = [];
    const stuck = await receiver(t, (res) => void held.push(res));
    const quick = await receiver(t);
    const [slow, fast] = [await told(service, stuck.uri), await told(service, quick.uri)];
    const { logout } = await signInAt(service, user, [
      ['built-in', slow],
      ['default', slow],
      ['built-in', fast],
    ]);
    // Nobody gives up meanwhile.
    withTimings(t, { outbound: 600_000, outboxClaim: 1200 });
    const answer = await logout();
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, SIGNED_OUT]);
    await stuck.received(2);
    await quick.received(1);
    await eventually(async () => (await waiting(service.database)).length === 2, 'the quick one is done');
    assert.deepEqual(
      (await waiting(service.database)).map(({ last_error }) => last_error),
      [null, null],
      'the slow ones are still waited for',
    );
    for (const res of held) res.destroy();
    await eventually(async () => (await waiting(service.database)).every(({ last_error }) => last_error !== null), 'their attempts end');
    await service.api('POST', `/apps/${slow.clientId}/lifecycle/deactivate`);
    await hurry(service.database);
    await emptied(service);
  });

  await t.test('an application that does not answer is given five seconds', async (t) => {
    assert.equal(PRODUCTION.outbound, 5000);
    withTimings(t, { outbound: 200 });
    const endpoint = await receiver(t, () => {});
    const client = await told(service, endpoint.uri);
    await (await signInAt(service, user, [['built-in', client]])).logout();
    assert.match((await failed(service, 1)).last_error ?? '', /timeout/);
    await service.api('POST', `/apps/${client.clientId}/lifecycle/deactivate`);
    await hurry(service.database);
    await emptied(service);
  });

  await t.test('the metrics count the attempts', async () => {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    for (const outcome of ['delivered', 'failed', 'given_up', 'dropped']) {
      assert.match(text, new RegExp(`^gatehouse_outbox_deliveries_total\\{kind="backchannel-logout",outcome="${outcome}"\\} [1-9]`, 'm'));
    }
  });
});

test('a private address is not called without ALLOW_PRIVATE_NETWORK', async (t) => {
  stopClock(t);
  const service = await startService(t, { sendsOutbox: true });
  const endpoint = await receiver(t);
  const user = await service.createUser();
  for (const uri of [endpoint.uri, endpoint.uri.replace('127.0.0.1', 'localhost')]) {
    const client = await told(service, uri);
    await (await signInAt(service, user, [['built-in', client]])).logout();
    assert.match((await failed(service, 1)).last_error ?? '', /is not a public address/);
    await service.api('POST', `/apps/${client.clientId}/lifecycle/deactivate`);
    await hurry(service.database);
    await emptied(service);
  }
  assert.deepEqual(endpoint.tokens, []);
});

test('of two processes that send, each end of a session is told by one', async (t) => {
  const secretKey = newSecretKey();
  const first = await startService(t, { env: { ...LOCAL, SECRET_KEY: secretKey }, sendsOutbox: true });
  await startService(t, { env: LOCAL, sendsOutbox: true, beside: { database: first.database, secretKey } });
  const endpoint = await receiver(t);
  const client = await told(first, endpoint.uri);
  const user = await first.createUser();
  const sessions = [];
  for (let session = 0; session < 30; session += 1) sessions.push(await signInAt(first, user, [['built-in', client]]));
  assert.equal((await first.api('DELETE', `/users/${user.id}/sessions`)).status < 300, true);
  await endpoint.received(30);
  await emptied(first);
  assert.equal(endpoint.tokens.length, 30);
  assert.deepEqual(endpoint.tokens.map((token) => decodeJwt(token).sid).sort(), sessions.flatMap(({ sids }) => sids).sort());
});

for (const [moment, isReached] of [
  ['right after the 302', async () => {}],
  ['in the middle of a delivery', (came: () => Promise<unknown>) => came()],
] as const) {
  test(`kill -9 ${moment} loses nothing: another process delivers`, async (t) => {
    const database = await testDatabase();
    afterwards(t, () => database.drop());
    const env = { ...LOCAL, DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
    const doomed = await runService(t, env);
    const accepted: string[] = [];
    // As long as the first process lives, nobody gets an answer.
    let answers = false;
    const endpoint = await receiver(t, (res) => {
      if (!answers) return;
      accepted.push(endpoint.tokens.at(-1) ?? '');
      res.end();
    });
    const user = await doomed.createUser();
    const clients = [await told(doomed, endpoint.uri), await told(doomed, endpoint.uri)] as const;
    const { logout, sids } = await signInAt(doomed, user, [
      ['built-in', clients[0]],
      ['default', clients[1]],
    ]);
    const { status } = await logout();
    await isReached(() => endpoint.received(2));
    doomed.child.kill('SIGKILL');
    assert.equal(status, 302);
    assert.equal(await doomed.ended, 'SIGKILL');
    const left = await waiting(database);
    assert.equal(left.length, 2);
    // What the first one took is another's after fifteen seconds.
    for (const { ahead } of left) assert.ok(ahead < 15, `${ahead} s`);
    await hurry(database);

    answers = true;
    const heir = await runService(t, { ...env, PORT: new URL(doomed.baseUrl).port });
    await eventually(() => accepted.length >= 2, 'both are told');
    assert.deepEqual(accepted.map((token) => decodeJwt(token).sid).sort(), [...sids].sort());
    for (const token of accepted) {
      const builtIn = decodeJwt(token).iss === heir.issuer('built-in');
      await verified(heir, builtIn ? 'built-in' : 'default', clients[builtIn ? 0 : 1], token);
    }
    await eventually(async () => (await waiting(database)).length === 0, 'the outbox is empty');
    assert.equal(await heir.stop(), 0);
  });
}
