/** Sign-in events in the audit log, whatever door is used (docs/decisions: which events there are, and that tokens have none). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceWithConsents } from '../../support/consents.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post, tokensFor } from './relying-party.ts';

test('sign-in and its failure, consent given and revoked, and sign-out are told; tokens are not', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const client = await createClient(service, { consent_method: 'REQUIRED' });
  const trusted = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'password', 'client_credentials'] });
  const browser = new UserAgent(service.baseUrl);

  type Event = {
    eventType: string;
    actor: { id: string };
    target: { id: string }[];
    client: { ipAddress: string };
    outcome: { result: string; reason: string | null };
    transaction: { id: string };
  };
  const all = async (): Promise<Event[]> => (await service.api('GET', '/logs?limit=200&since=2020-01-01T00:00:00Z')).body;
  /** What a step is told by, with its actor. */
  const told = async <T>(step: () => Promise<T>): Promise<{ events: string[]; result: T }> => {
    const count = (await all()).length;
    const result = await step();
    const events = (await all()).slice(count);
    for (const { client, transaction, target } of events) {
      assert.match(client.ipAddress, /127\.0\.0\.1$/);
      assert.ok(transaction.id);
      assert.ok(target.length > 0);
    }
    return {
      events: events.map(({ eventType, actor, outcome }) => [eventType, actor.id, outcome.result, outcome.reason ?? ''].join(' ').trim()),
      result,
    };
  };
  const authorize = () => authorizeUrl(service, 'built-in', { client_id: client.clientId, scope: 'openid email' });

  await t.test('on the page: wrong, right, consent', async () => {
    const form = await browser.visit(authorize());
    const wrong = await told(() => browser.signIn(form, { ...user, password: 'wrong' }));
    assert.deepEqual(wrong.events, ['user.authentication.failure unknown FAILURE INVALID_CREDENTIALS']);
    const right = await told(() => browser.signIn(wrong.result, user));
    assert.deepEqual(right.events, [`user.session.start ${user.id} SUCCESS`]);
    const allowed = await told(() => browser.submit(right.result, 'consent', { decision: 'allow' }));
    assert.deepEqual(allowed.events, [`app.oauth2.as.consent.grant ${user.id} SUCCESS`, `user.authentication.sso ${user.id} SUCCESS`]);
    assert.ok(answerOf(allowed.result).code);
  });

  await t.test('single sign-on to a further application is told once, and tokens are not', async () => {
    const { events, result } = await told(() => tokensFor(service, browser, user, trusted));
    assert.deepEqual(events, [`user.authentication.sso ${user.id} SUCCESS`]);
    const [newest] = (await service.api('GET', '/logs?sortOrder=DESCENDING&limit=1&since=2020-01-01T00:00:00Z')).body;
    assert.deepEqual(
      newest.target.map(({ id, type, displayName }: Record<string, string>) => [type, id, displayName]),
      [
        ['AppInstance', trusted.clientId, 'Test application'],
        ['User', user.id, user.login],
        ['AuthorizationServer', 'built-in', 'Built-in'],
      ],
    );
    assert.deepEqual((await told(() => tokensFor(service, browser, user, trusted))).events, [], 'once in a session');
    const refreshed = await told(() =>
      post(service, 'built-in', 'token', trusted, { grant_type: 'refresh_token', refresh_token: String(result.body.refresh_token) }),
    );
    assert.deepEqual([refreshed.events, refreshed.result.status], [[], 200]);
  });

  await t.test('the password grant and the API’s authn: right and wrong', async () => {
    const grant = (password: string) => () =>
      post(service, 'built-in', 'token', trusted, { grant_type: 'password', username: user.login, password });
    const authn = (password: string) => () => service.api('POST', '/authn', { username: user.login, password });
    for (const door of [grant, authn]) {
      assert.deepEqual((await told(door(user.password))).events, [`user.session.start ${user.id} SUCCESS`]);
      assert.deepEqual((await told(door('wrong'))).events, ['user.authentication.failure unknown FAILURE INVALID_CREDENTIALS']);
    }
  });

  await t.test('sign-out: once, and none without a session', async () => {
    const asked = await browser.visit(`${service.issuer('built-in')}/logout`);
    const out = await told(() => browser.submit(asked, 'logout-form'));
    assert.deepEqual(out.events, [`user.session.end ${user.id} SUCCESS`]);
    assert.deepEqual((await told(() => browser.visit(`${service.issuer('built-in')}/logout`))).events, []);
  });

  await t.test('the lock after too many failures, and a consent that is revoked', async () => {
    const [, id] = user.id.split('_');
    assert.ok(id);
    const tenth = async () => {
      for (let n = 0; n < 12; n += 1) await service.api('POST', '/authn', { username: user.login, password: 'wrong' });
    };
    const { events } = await told(tenth);
    assert.equal(events.filter((event) => event.startsWith('user.account.lock ')).length, 1);
    const revoked = await told(() => service.api('DELETE', `/users/${user.id}/grants`));
    assert.equal(revoked.events.length, 1);
    assert.match(revoked.events[0] ?? '', /^app\.oauth2\.as\.consent\.revoke usr_\w+ SUCCESS$/);
  });
});
