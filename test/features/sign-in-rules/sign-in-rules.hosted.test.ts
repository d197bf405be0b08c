/** Network zones and the rules of the sign-in policy, at every door: allowed, asked for a second factor, refused with nothing secret; and the simulator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, trustedBrowserOf } from '../../support/factors.ts';
import type { Received } from '../../support/requests.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const isDone = (page: Page, why?: string) => assert.ok(answerOf(page).code, why ?? page.text.slice(0, 3000));
const isRefused = (page: Page) => {
  assert.equal(page.status, 403);
  assert.match(page.text, /id="error-code">sign_in_denied</);
  assert.match(page.text, /id="request-id">[\w-]+</);
};

/** A browser whose requests come from an address. */
class BrowserAt extends UserAgent {
  address = '203.0.113.7';

  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('x-forwarded-for', this.address);
    return super.send(address, { ...init, headers });
  }
}

async function ruled(service: Service) {
  const { clientId, clientSecret } = await createClient(service, { grant_types: ['authorization_code', 'password'] });
  const zone = async (name: string, ...networks: string[]) => {
    const gateways = networks.map((value) => ({ type: 'CIDR', value }));
    const { status, body } = await service.api('POST', '/zones', { type: 'IP', name, gateways });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const setRules = async (...rules: unknown[]) => {
    const { status, body } = await service.api('PUT', '/settings/sign-in', { rules, rememberBrowserDays: 30 });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const signIn = async (user: { login: string; password: string }, browser = new BrowserAt(service.baseUrl), from = '203.0.113.7') => {
    browser.address = from;
    return browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, prompt: 'login' })), user);
  };
  const eventsOf = async (userId: string) => {
    const filter = encodeURIComponent(`eventType eq "policy.evaluate_sign_on" and target.id eq "${userId}"`);
    return (await service.api('GET', `/logs?filter=${filter}&sortOrder=DESCENDING`)).body;
  };
  return { client: { clientId, clientSecret }, zone, setRules, signIn, eventsOf };
}

test('rules of the sign-in policy', async (t) => {
  const service = await startService(t, { env: { TRUST_PROXY: '1' } });
  const { client, zone, setRules, signIn, eventsOf } = await ruled(service);
  await zone('Office', '203.0.113.0/24');
  const lab = await zone('Lab', '127.0.0.0/8', '::1/128', '198.51.100.0/24', '2001:db8::/32');

  await t.test('a denied zone: a right password is refused on a page that names no rule and no zone; a wrong one as ever', async () => {
    const user = await service.createUser();
    await setRules({ name: 'Keep the lab out', conditions: { zones: { include: ['Lab'] } }, action: 'DENY' });
    isDone(await signIn(user), 'from elsewhere');
    const refused = await signIn(user, undefined, '198.51.100.9');
    isRefused(refused);
    assert.doesNotMatch(refused.text, /Keep the lab out|Lab|198\.51/);
    isRefused(await signIn(user, undefined, '2001:db8::9'));
    const wrong = await signIn({ ...user, password: 'another password entirely' }, undefined, '198.51.100.9');
    assert.match(wrong.text, /id="sign-in-form"/);
    const [event] = await eventsOf(user.id);
    assert.deepEqual([event.outcome.result, event.outcome.reason], ['FAILURE', 'SIGN_IN_DENIED']);
    assert.equal(event.debugContext.decision.rule, 'Keep the lab out');
  });

  await t.test('a new browser is asked for a second factor, and a user who has none is refused', async () => {
    await setRules({ name: 'New browser', conditions: { newBrowser: true }, action: 'SECOND_FACTOR' });
    const plain = await service.createUser();
    isRefused(await signIn(plain));
    assert.equal((await eventsOf(plain.id))[0].outcome.reason, 'NO_SECOND_FACTOR');
    await setRules();
    const browser = new BrowserAt(service.baseUrl);
    isDone(await signIn(plain, browser));
    await setRules({ name: 'New browser', conditions: { newBrowser: true }, action: 'SECOND_FACTOR' });
    isDone(await signIn(plain, browser), 'the browser is known by now');
    isRefused(await signIn(plain));
  });

  await t.test('a second factor by a rule is asked for in a trusted browser too', async (t) => {
    await setRules();
    const user = await enrolledUser(service);
    const browser = new BrowserAt(service.baseUrl);
    await trustedBrowserOf(service, user, browser);
    isDone(await signIn(user, browser), 'trusted');
    await setRules({ name: 'Outside', conditions: { zones: { exclude: ['Office'] } }, action: 'SECOND_FACTOR' });
    isDone(await signIn(user, browser), 'in the office');
    const asked = await signIn(user, browser, '192.0.2.1');
    assert.match(asked.text, /id="factor-form"/);
    moveClock(t, 60);
    isDone(await browser.submit(asked, 'factor-form', { passCode: codeOf(user.secret) }));
    const [event] = await eventsOf(user.id);
    assert.deepEqual([event.outcome.result, event.debugContext.decision.rule], ['SUCCESS', 'Outside']);
  });

  await t.test('days since the last sign-in', async (t) => {
    await setRules();
    const user = await service.createUser();
    isDone(await signIn(user));
    await setRules({ name: 'Long ago', conditions: { daysSinceLastSignIn: 30 }, action: 'DENY' });
    isDone(await signIn(user));
    moveClock(t, 31 * 86_400);
    isRefused(await signIn(user));
  });

  await t.test('authn and the password grant are judged too, and answer as to a wrong password or a missing factor', async () => {
    await setRules({ name: 'Nobody', conditions: {}, action: 'DENY' });
    const user = await service.createUser();
    const answer = await fetch(`${service.baseUrl}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user.login, password: user.password }),
    });
    assert.equal(answer.status, 401);
    const { status, body } = await post(service, 'built-in', 'token', client, {
      grant_type: 'password',
      username: user.login,
      password: user.password,
    });
    assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    await setRules();
  });

  await t.test('the simulator says which rule decides', async () => {
    const user = await service.createUser();
    await setRules(
      { name: 'Office', conditions: { zones: { include: ['Office'] } }, action: 'ALLOW' },
      { name: 'New browser', conditions: { newBrowser: true }, action: 'DENY' },
    );
    const simulate = async (sign_in?: unknown) => {
      const request = { client_id: client.clientId, user: user.login, grant_type: 'authorization_code', scopes: ['openid'] };
      return (await service.api('POST', '/authorizationServers/built-in/simulate', { ...request, ...(sign_in ? { sign_in } : {}) })).body;
    };
    assert.equal((await simulate()).sign_in, null);
    const office = await simulate({ ip_address: '203.0.113.9', new_browser: true });
    assert.deepEqual([office.sign_in.action, office.sign_in.rule], ['ALLOW', 'Office']);
    const elsewhere = await simulate({ ip_address: '192.0.2.9', new_browser: true });
    assert.deepEqual([elsewhere.outcome, elsewhere.refusal.error, elsewhere.sign_in.rule], ['REFUSED', 'sign_in_denied', 'New browser']);
    assert.equal(elsewhere.tokens, null);
    assert.deepEqual(
      elsewhere.sign_in.steps.map(({ reason }: { reason: string }) => reason),
      ['the address is in none of its zones', 'the rule fits'],
    );
    await setRules({ name: 'New browser', conditions: { newBrowser: true }, action: 'SECOND_FACTOR' });
    const without = await simulate({ new_browser: true });
    assert.deepEqual([without.outcome, without.refusal.error, without.sign_in.second_factors], ['REFUSED', 'sign_in_denied', []]);
    await service.api('POST', `/users/${user.id}`, { profile: { email: `${user.id}@example.com` } });
    const withCodes = {
      rules: [{ name: 'New browser', conditions: { newBrowser: true }, action: 'SECOND_FACTOR' }],
      messageFactors: ['email'],
    };
    await service.api('PUT', '/settings/sign-in', withCodes);
    await service.api('PUT', '/settings/mail', {});
    const factor = await service.api('POST', `/users/${user.id}/factors?activate=true`, { factorType: 'email', provider: 'OKTA' });
    assert.equal(factor.status, 200, JSON.stringify(factor.body));
    const held = await simulate({ new_browser: true });
    assert.deepEqual([held.outcome === 'REFUSED', held.sign_in.action, held.sign_in.second_factors], [false, 'SECOND_FACTOR', ['EMAIL']]);
    await service.api('PUT', '/settings/sign-in', { ...withCodes, messageFactors: [] });
    assert.equal((await simulate({ new_browser: true })).outcome, 'REFUSED', 'a kind that is taken away counts as absent');
    await setRules();
  });

  await t.test('a rule names zones that exist; a zone that a rule names keeps its name and is not deleted', async () => {
    const missing = await service.api('PUT', '/settings/sign-in', {
      rules: [{ name: 'Moon', conditions: { zones: { include: ['Moon'] } }, action: 'DENY' }],
    });
    assert.equal(missing.status, 400);
    assert.match(JSON.stringify(missing.body), /rules\.0\.conditions\.zones\.include: the zone Moon does not exist\. Create it first/);
    await setRules({ name: 'Lab', conditions: { zones: { exclude: ['Lab'] } }, action: 'ALLOW' });
    const gateways = [{ type: 'CIDR', value: '192.0.2.0/24' }];
    assert.equal((await service.api('DELETE', `/zones/${lab.id}`)).status, 403);
    assert.equal((await service.api('PUT', `/zones/${lab.id}`, { type: 'IP', name: 'Laboratory', gateways })).status, 403);
    assert.equal((await service.api('PUT', `/zones/${lab.id}`, { type: 'IP', name: 'Lab', gateways })).status, 200);
    assert.equal((await service.api('POST', '/zones', { type: 'IP', name: 'Lab', gateways })).status, 409);
    await setRules();
    assert.equal((await service.api('DELETE', `/zones/${lab.id}`)).status, 204);
    for (const bad of [
      {
        rules: [
          { name: 'A', conditions: {}, action: 'DENY' },
          { name: 'A', conditions: {}, action: 'DENY' },
        ],
      },
      { rules: Array.from({ length: 21 }, (_, at) => ({ name: `${at}`, conditions: {}, action: 'ALLOW' })) },
      { rules: [{ name: 'A', conditions: { country: 'DE' }, action: 'DENY' }] },
    ])
      assert.equal((await service.api('PUT', '/settings/sign-in', bad)).status, 400);
  });
});
