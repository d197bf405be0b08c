/** The device grant (RFC 8628): by openid-client from request to refresh, refused, guessed at, and answered once. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { eventsOf } from '../../features/users/user-holdings.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import type { Received } from '../../support/requests.ts';
import { setScope } from '../../support/scopes.ts';
import { newSecretKey, type Service, STARTED, startService, startTwo } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { createClient, post, type TestClient } from '../servers/relying-party.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SETTINGS = { application_type: 'native', grant_types: [GRANT, 'refresh_token'], response_types: [], redirect_uris: [] };

const deviceClient = (service: Service, more: object = {}): Promise<TestClient> => createClient(service, { ...SETTINGS, ...more });

const ask = async (service: Service, by: TestClient, more: Record<string, string> = {}, serverId = 'built-in') => {
  const asked = await post(service, serverId, 'device_authorization', by, { client_id: by.clientId, scope: 'openid profile', ...more });
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  return asked.body as { device_code: string; user_code: string; verification_uri: string; verification_uri_complete: string };
};

const poll = (service: Service, by: TestClient, code: string, serverId = 'built-in') =>
  post(service, serverId, 'token', by, { client_id: by.clientId, grant_type: GRANT, device_code: code });

/** Types the code and says that it is the device's. @returns the page that follows */
async function confirm(browser: UserAgent, code: string): Promise<Page> {
  const page = await browser.visit(`/activate?user_code=${encodeURIComponent(code)}`);
  assert.match(page.text, /id="device-form"/, page.text);
  return browser.submit(page, 'device-form', { confirm: 'yes' });
}

async function begun(t: TestContext, more: object = {}) {
  const service = await startService(t);
  const [user, one] = [await service.createUser({ firstName: 'Ada' }), await deviceClient(service, more)];
  return { service, user, one, browser: new UserAgent(service.baseUrl) };
}

for (const serverId of ['built-in', 'default']) {
  test(`openid-client: a code typed by its user becomes tokens that can be refreshed: ${serverId} server`, async (t) => {
    const { service, user, one, browser } = await begun(t);
    const execute = [client.allowInsecureRequests];
    const config = await client.discovery(new URL(service.issuer(serverId)), one.clientId, undefined, client.None(), { execute });
    const asked = await client.initiateDeviceAuthorization(config, { scope: 'openid profile offline_access' });
    assert.equal(asked.verification_uri, `${service.baseUrl}/activate`);
    assert.equal(asked.verification_uri_complete, `${service.baseUrl}/activate?user_code=${asked.user_code}`);
    assert.match(asked.user_code, /^[B-Z]{4}-[B-Z]{4}$/);
    const polling = client.pollDeviceAuthorizationGrant(config, { ...asked, interval: 1 });
    const done = await browser.signIn(await confirm(browser, asked.user_code.toLowerCase().replace('-', ' ')), user);
    assert.match(done.text, /Device connected/);
    const tokens = await polling;
    assert.equal(tokens.claims()?.sub, user.id);
    const userinfo = await client.fetchUserInfo(config, tokens.access_token, user.id);
    assert.equal(userinfo.given_name, 'Ada');
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    assert.ok(refreshed.access_token);
    const [event] = await eventsOf(service, 'app.oauth2.as.device.authorize', one.clientId);
    assert.deepEqual([event?.outcome.result, event?.actor.id], ['SUCCESS', user.id]);
    assert.equal((await eventsOf(service, 'user.authentication.sso', one.clientId)).length, 1);
  });
}

test('oauth4webapi: a device asks, polls, and gets tokens when its user has confirmed the code', async (t) => {
  const { service, user, one, browser } = await begun(t);
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer('default'));
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const [device, by]: [oauth.Client, oauth.ClientAuth] = [{ client_id: one.clientId }, oauth.None()];
  const request = await oauth.deviceAuthorizationRequest(server, device, by, { scope: 'openid' }, insecure);
  const asked = await oauth.processDeviceAuthorizationResponse(server, device, request);
  const polled = async () =>
    oauth.processDeviceCodeResponse(server, device, await oauth.deviceCodeGrantRequest(server, device, by, asked.device_code, insecure));
  await assert.rejects(polled(), { error: 'authorization_pending' });
  assert.match((await browser.signIn(await confirm(browser, asked.user_code), user)).text, /Device connected/);
  assert.equal(oauth.getValidatedIdTokenClaims(await polled())?.sub, user.id);
});

test('a link with the code shows application, device and time, and asks; consent is asked for as in a browser', async (t) => {
  const { service, user, one, browser } = await begun(t, { consent_method: 'REQUIRED' });
  await setScope(service, 'films', { consent: 'REQUIRED' });
  const { device_code: code, verification_uri_complete: link } = await ask(service, one, { scope: 'openid films' }, 'default');
  const page = await browser.visit(link);
  assert.match(page.text, /Test application/);
  const question = { client_id: one.clientId, user: user.login, grant_type: GRANT, scopes: ['openid', 'films'] };
  const { body: simulated } = await service.api('POST', '/authorizationServers/default/simulate', question);
  assert.equal(simulated.outcome, 'CONSENT', JSON.stringify(simulated));
  assert.match(page.text, /127\.0\.0\.1/);
  assert.match(page.text, /If someone sent you the code/);
  const polled = await poll(service, one, code, 'default');
  assert.deepEqual([polled.status, polled.body.error], [400, 'authorization_pending']);
  const consent = await browser.signIn(await browser.submit(page, 'device-form', { confirm: 'yes' }), user);
  assert.match(consent.text, /id="consent"/);
  moveClock(t, 5);
  assert.equal((await poll(service, one, code, 'default')).body.error, 'authorization_pending');
  assert.match((await browser.submit(consent, 'consent', { decision: 'allow' })).text, /Device connected/);
  assert.equal((await poll(service, one, code, 'default')).status, 200);
});

test('the page of a code says where the device is: its country, and whether it is in the network of the browser (RFC 8628 section 5.4)', async (t) => {
  const env = { TRUST_PROXY: '1', GEO_DATABASE_FILE: path.resolve('test/support/geo/GeoIP2-Country-Test.mmdb') };
  const service = await startService(t, { env });
  const one = await deviceClient(service);
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const placeOf = async (device: string, browser: string, language = 'en') => {
    const form = new URLSearchParams({ client_id: one.clientId, scope: 'openid' });
    const url = `${service.issuer('built-in')}/device_authorization`;
    const asked = await fetch(url, { method: 'POST', body: form, headers: from(device) });
    const { verification_uri_complete: link } = (await asked.json()) as { verification_uri_complete: string };
    const headers = { ...from(browser), 'accept-language': language };
    class At extends UserAgent {
      override send(to: string | URL, init: RequestInit = {}): Promise<Received> {
        return super.send(to, { ...init, headers: { ...(init.headers as Record<string, string>), ...headers } });
      }
    }
    const { text } = await new At(service.baseUrl).visit(link);
    const shown = (id: string) => new RegExp(`id="${id}">([^<]*)`).exec(text)?.[1];
    return [shown('device-place'), shown('device-network')];
  };
  const [britain, sweden, home] = ['2.125.160.216', '89.160.20.112', '10.0.0.1'];
  assert.deepEqual(await placeOf(sweden, sweden), ['Sweden', 'Same as this browser']);
  assert.deepEqual(await placeOf(sweden, britain, 'de'), ['Schweden', 'Ein anderes als bei diesem Browser']);
  assert.deepEqual(await placeOf(home, sweden), [undefined, 'Different from this browser']);
});

test('who refuses, before or after the sign-in, gives the device access_denied, with an event', async (t) => {
  const { service, user, one, browser } = await begun(t, { consent_method: 'REQUIRED' });
  await setScope(service, 'films', { consent: 'REQUIRED' });
  const first = await ask(service, one);
  const page = await browser.visit(first.verification_uri_complete);
  assert.match((await browser.submit(page, 'device-form', { abort: 'yes' })).text, /You refused the device/);
  assert.equal((await poll(service, one, first.device_code)).body.error, 'access_denied');
  const second = await ask(service, one, { scope: 'openid films' }, 'default');
  const consent = await browser.signIn(await confirm(browser, second.user_code), user);
  assert.match((await browser.submit(consent, 'consent', { decision: 'deny' })).text, /You refused the device/);
  assert.equal((await poll(service, one, second.device_code, 'default')).body.error, 'access_denied');
  const events = await eventsOf(service, 'app.oauth2.as.device.authorize', one.clientId);
  assert.deepEqual(new Set(events.map(({ outcome }) => outcome.result)), new Set(['FAILURE']));
});

test('a code is exchanged once, answered once, and is nobody else’s', async (t) => {
  const [one, other] = await startTwo(t);
  const user = await one.createUser();
  const [device, stranger] = [await deviceClient(one), await deviceClient(one)];
  const { device_code: code, user_code: userCode } = await ask(one, device);
  // Two browsers are at it at once: the first answer counts.
  const [first, second] = [new UserAgent(one.baseUrl), new UserAgent(one.baseUrl)];
  const pages = [await confirm(first, userCode), await confirm(second, userCode)] as const;
  assert.match((await first.signIn(pages[0], user)).text, /Device connected/);
  assert.match((await second.signIn(pages[1], user)).text, /already used/);
  assert.equal((await poll(one, stranger, code)).body.error, 'invalid_grant');
  const answers = await Promise.all([one, other, one, other].map((service) => poll(service, device, code)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400]);
});

test('the database holds neither code, and its key is no code', async (t) => {
  const { service, one, browser, user } = await begun(t);
  const { device_code: code, user_code: userCode } = await ask(service, one);
  const signIn = await confirm(browser, userCode);
  const rows = await onServer(
    service.database.url,
    async (db) => (await db.query('SELECT row_to_json(p)::text AS row FROM oidc_payload p')).rows,
  );
  const stored = rows.map(({ row }) => row).join('\n');
  const typed = userCode.replace('-', '');
  const hashes = [typed, `user code ${typed}`].map((value) => hash('sha256', value, 'base64url'));
  for (const secret of [code, userCode, typed, ...hashes]) assert.ok(!stored.includes(secret), secret);
  await browser.signIn(signIn, user);
  const keys = await onServer(service.database.url, async (db) => (await db.query('SELECT id FROM oidc_payload WHERE model = 20')).rows);
  for (const { id } of keys) assert.equal((await poll(service, one, `row:${id}`)).body.error, 'invalid_grant');
});

test('a user code is found when SECRET_KEY got another key', async (t) => {
  const { service, one } = await begun(t);
  const { user_code: userCode } = await ask(service, one);
  const secretKey = `${newSecretKey()},${STARTED.SECRET_KEY}`;
  const later = await startService(t, { beside: { database: service.database, secretKey } });
  assert.match((await new UserAgent(later.baseUrl).visit(`/activate?user_code=${userCode}`)).text, /id="device-form"/);
});

test('a code expires after ten minutes, for its user and for the device', async (t) => {
  stopClock(t);
  const { service, one, browser } = await begun(t);
  const { device_code: code, user_code: userCode } = await ask(service, one);
  moveClock(t, 601);
  const page = await browser.visit(`/activate?user_code=${userCode}`);
  assert.match(page.text, /This code has expired/);
  assert.equal((await poll(service, one, code)).body.error, 'expired_token');
});

test('guessing at codes is stopped by address (RFC 8628 section 5.1)', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'true' } });
  const one = await deviceClient(service);
  const { user_code: userCode } = await ask(service, one);
  const browser = new UserAgent(service.baseUrl);
  for (let n = 0; n < 20; n += 1) {
    const wrong = await browser.visit(`/activate?user_code=BBBB-BBB${'BCDFGHJKLMNPQRSTVWXZ'[n]}`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /This code is not known/);
  }
  assert.equal((await browser.visit(`/activate?user_code=${userCode}`)).status, 429);
  assert.equal((await browser.visit(`${service.issuer('built-in')}/device?code=${userCode}`)).status, 429);
});

test('of many wrong codes at once, at two processes, no more are looked at; right ones do not count', async (t) => {
  const both = await startTwo(t, { RATE_LIMITS: 'true' });
  const [one] = both;
  const device = await deviceClient(one);
  const { user_code: userCode } = await ask(one, device);
  const visit = async (at: Service, code: string) => (await fetch(`${at.listensAt}/activate?user_code=${code}`)).status;
  for (let n = 0; n < 25; n += 1) assert.equal(await visit(one, userCode), 200);
  const wrong = Array.from({ length: 60 }, (_, n) => {
    const at = both[n % 2] ?? one;
    const letters = 'BCDFGHJKLMNPQRSTVWXZ';
    return visit(at, `BBBB-BB${letters[n % 20]}${letters[Math.floor(n / 20)]}`);
  });
  const statuses = await Promise.all(wrong);
  assert.deepEqual(
    [400, 429].map((status) => statuses.filter((one) => one === status).length),
    [20, 40],
  );
});

test('a browser that has lost its session does not answer the device; the refusal is in the system log', async (t) => {
  const { service, user, one, browser } = await begun(t, { consent_method: 'REQUIRED' });
  await setScope(service, 'films', { consent: 'REQUIRED' });
  const { device_code: code, user_code: userCode } = await ask(service, one, { scope: 'openid films' }, 'default');
  await browser.signIn(await confirm(browser, userCode), user);
  const consent = await confirm(browser, userCode);
  assert.match(consent.text, /id="consent"/);
  const uid = /\/interaction\/default\/([\w-]+)/.exec(consent.url.pathname)?.[1];
  const lost = new UserAgent(service.baseUrl);
  lost.plant(browser, 'gatehouse-resume');
  const page = await lost.visit(`${service.issuer('default')}/device/${uid}`);
  assert.equal(page.status, 410, page.text);
  assert.equal((await poll(service, one, code, 'default')).body.error, 'authorization_pending');
  const [event] = await eventsOf(service, 'app.oauth2.as.authorize', one.clientId);
  assert.deepEqual(
    [event?.outcome.result, event?.outcome.reason],
    ['FAILURE', 'invalid_request: interaction session and authentication session mismatch'],
  );

  const again = await confirm(browser, userCode);
  assert.match((await browser.submit(again, 'consent', { decision: 'allow' })).text, /Device connected/);
  assert.equal((await poll(service, one, code, 'default')).status, 200);
});

test('applications without the grant, scopes and audiences that are not there, and closed applications are refused', async (t) => {
  const { service, user, one, browser } = await begun(t, { assignment: 'ASSIGNED' });
  const without = await createClient(service);
  const refused = await post(service, 'built-in', 'device_authorization', without, { client_id: without.clientId, scope: 'openid' });
  assert.deepEqual([refused.status, refused.body.error], [400, 'unauthorized_client']);
  const unknown = { client_id: one.clientId, scope: 'openid', resource: 'https://unknown.example' };
  assert.equal((await post(service, 'built-in', 'device_authorization', one, unknown)).body.error, 'invalid_target');
  const scope = { client_id: one.clientId, scope: 'openid nothing.like.this' };
  assert.equal((await post(service, 'built-in', 'device_authorization', one, scope)).body.error, 'invalid_scope');
  const { user_code: userCode, device_code: code } = await ask(service, one);
  assert.match((await browser.signIn(await confirm(browser, userCode), user)).text, /You have no access to/);
  assert.equal((await poll(service, one, code)).body.error, 'authorization_pending');
});

test('what an access policy does not allow is no refusal by the user in the system log', async (t) => {
  const { service, user, one, browser } = await begun(t);
  await setPolicies(service, 'default', [{ rules: [{ conditions: { grantTypes: { include: ['authorization_code'] } } }] }]);
  const { user_code: userCode, device_code: code } = await ask(service, one, {}, 'default');
  await browser.signIn(await confirm(browser, userCode), user);
  assert.equal((await poll(service, one, code, 'default')).body.error, 'access_denied');
  assert.deepEqual(await eventsOf(service, 'app.oauth2.as.device.authorize', one.clientId), []);
  assert.equal((await eventsOf(service, 'app.oauth2.as.authorize', one.clientId)).length, 1);
});

test('what anybody can have stored by the page for a code is kept for an hour (CWE-770)', async (t) => {
  const { service, one } = await begun(t);
  const { user_code: userCode } = await ask(service, one);
  for (const more of ['', `&user_code=${userCode}`]) {
    const page = await fetch(`${service.issuer('built-in')}/device?code=${userCode}${more}`);
    assert.match(await page.text(), /id="device-form"/);
  }
  const sessions = await onServer(
    service.database.url,
    async (db) => (await db.query("SELECT expires_at < now() + interval '61 minutes' AS short FROM oidc_payload WHERE model = 1")).rows,
  );
  assert.deepEqual(
    sessions.map(({ short }) => short),
    [true, true],
  );
});

test('the last step of a sign-in that is over is no internal error', async (t) => {
  const { service } = await begun(t);
  assert.equal((await fetch(`${service.issuer('built-in')}/device/nothing`)).status, 410);
});

test('of the program of a device no more is stored than is shown', async (t) => {
  const { service, one } = await begun(t);
  const body = new URLSearchParams({ client_id: one.clientId, scope: 'openid' });
  const headers = { 'user-agent': 'x'.repeat(10_000) };
  assert.equal((await fetch(`${service.issuer('built-in')}/device_authorization`, { method: 'POST', headers, body })).status, 200);
  const rows = await onServer(
    service.database.url,
    async (db) => (await db.query('SELECT length(payload::text) AS size FROM oidc_payload WHERE model = 20')).rows,
  );
  assert.ok(rows[0]?.size < 1000, String(rows[0]?.size));
});

test('a page of another site cannot answer for the user', async (t) => {
  const { service, one, browser } = await begun(t);
  const { user_code: userCode, device_code: code } = await ask(service, one);
  const page = await browser.visit(`${service.issuer('built-in')}/device?code=${userCode}`);
  assert.match(page.text, /id="device-form"/);
  const body = new URLSearchParams({ user_code: userCode, confirm: 'yes', xsrf: 'guessed' });
  const forged = await browser.visit(`${service.issuer('built-in')}/device`, { method: 'POST', body });
  assert.equal(forged.status, 400);
  assert.equal((await poll(service, one, code)).body.error, 'authorization_pending');
});
