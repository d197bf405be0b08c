/** Client-initiated backchannel authentication (CIBA): by openid-client and oauth4webapi from request to refresh, by poll and ping; whom it tells what. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { pino } from 'pino';
import { pingContext } from '../../../src/features/backchannel-requests/ping.policy.ts';
import { resealEverything } from '../../../src/features/secret-keys/resealing.service.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { eventsOf } from '../../features/users/user-holdings.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, enrolledUser, TWO_FACTORS } from '../../support/factors.ts';
import { listen } from '../../support/listen.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { setScope } from '../../support/scopes.ts';
import { newSecretKey, type Service, type ServiceCalls, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { createClient, type TestClient, tokensFor } from '../servers/relying-party.ts';
import { GRANT, pendingAt, poll, request, reviewed, SETTINGS, signedIn } from './sign-in-requests.ts';

const execute = [client.allowInsecureRequests];

async function begun(t: TestContext, settings: object = {}, options: Parameters<typeof startService>[1] = {}) {
  const service = await startService(t, options);
  const user = await service.createUser({ firstName: 'Ada', email: 'ada@example.com' });
  const one = await createClient(service, { ...SETTINGS, ...settings });
  return { service, user, one, browser: await signedIn(service, user) };
}

const allow = (browser: UserAgent, page: Page) => browser.submit(page, 'request-form', { confirm: 'yes' });

for (const serverId of ['built-in', 'default']) {
  test(`openid-client polls until the user allows it, and refreshes: ${serverId} server`, async (t) => {
    const { service, user, one, browser } = await begun(t);
    const config = await client.discovery(new URL(service.issuer(serverId)), one.clientId, one.clientSecret, undefined, { execute });
    assert.deepEqual(config.serverMetadata().backchannel_token_delivery_modes_supported, ['poll', 'ping']);
    assert.equal(config.serverMetadata().backchannel_user_code_parameter_supported, false);
    const asked = await client.initiateBackchannelAuthentication(config, {
      scope: 'openid profile offline_access',
      login_hint: user.login,
      binding_message: 'Desk 4, W4SCT',
    });
    assert.deepEqual([asked.expires_in, asked.interval], [600, 5]);
    const polling = client.pollBackchannelAuthenticationGrant(config, { ...asked, interval: 1 });
    const list = await browser.visit('/account/requests');
    assert.match(list.text, /Test application/);
    assert.match(list.text, /Desk 4, W4SCT/);
    const page = await reviewed(browser);
    assert.match(page.text, /Sign in to Test application\?/);
    assert.match(page.text, /Desk 4, W4SCT/);
    assert.match((await allow(browser, page)).text, /Allowed\. You can go back/);
    assert.match((await browser.visit('/account/requests')).text, /No application is waiting/);
    const tokens = await polling;
    assert.equal(tokens.claims()?.sub, user.id);
    assert.equal((await client.fetchUserInfo(config, tokens.access_token, user.id)).given_name, 'Ada');
    assert.ok((await client.refreshTokenGrant(config, tokens.refresh_token ?? '')).access_token);
    const told = await client.tokenIntrospection(config, tokens.access_token);
    assert.deepEqual([told.sub, told.acr], [user.id, 'urn:okta:loa:1fa:any']);
    const [event] = await eventsOf(service, 'app.oauth2.as.backchannel.authorize', one.clientId);
    assert.deepEqual([event?.outcome.result, event?.actor.id], ['SUCCESS', user.id]);
    assert.equal((await eventsOf(service, 'user.authentication.sso', one.clientId)).length, 1);
  });
}

test('oauth4webapi: by the hint of an ID token, by ping to the application, which then asks once', async (t) => {
  const pings: { authorization: string | undefined; body: unknown }[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    pings.push({ authorization: req.headers.authorization, body: JSON.parse(await text(req)) });
    res.writeHead(pings.length === 1 ? 500 : 204).end();
  });
  const ping = { backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: `${origin}/ping` };
  const { service, user, one, browser } = await begun(t, ping, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const issuer = new URL(service.issuer('default'));
  const http = { [oauth.allowInsecureRequests]: true };
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http));
  const by: oauth.Client = { client_id: one.clientId };
  const secret = oauth.ClientSecretBasic(one.clientSecret ?? '');
  const { body: before } = await tokensFor(service, browser, user, one, { serverId: 'default', scope: 'openid' });
  const parameters = { scope: 'openid', id_token_hint: before.id_token, client_notification_token: 'secret-of-the-application' };
  const response = await oauth.backchannelAuthenticationRequest(as, by, secret, parameters, http);
  const asked = await oauth.processBackchannelAuthenticationResponse(as, by, response);
  await allow(browser, await reviewed(browser));
  await eventually(() => pings.length >= 2, 'the application is notified, again after it failed');
  for (const { authorization, body } of pings)
    assert.deepEqual([authorization, body], ['Bearer secret-of-the-application', { auth_req_id: asked.auth_req_id }]);
  const granted = await oauth.backchannelAuthenticationGrantRequest(as, by, secret, asked.auth_req_id, http);
  const tokens = await oauth.processBackchannelAuthenticationGrantResponse(as, by, granted);
  assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, user.id);
});

test('ping: also the refusal is told, and a token that is missing or no bearer token is refused', async (t) => {
  const pings: unknown[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    pings.push(JSON.parse(await text(req)));
    res.writeHead(204).end();
  });
  const ping = { backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: `${origin}/ping` };
  const { service, user, one, browser } = await begun(t, ping, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const without = await request(service, one, { login_hint: user.login });
  assert.deepEqual([without.status, without.body.error], [400, 'invalid_request']);
  assert.equal((await request(service, one, { login_hint: user.login, client_notification_token: 'a b' })).body.error, 'invalid_request');
  const { body } = await request(service, one, { login_hint: user.login, client_notification_token: 'token' });
  const page = await reviewed(browser);
  assert.match((await browser.submit(page, 'request-form', { abort: 'yes' })).text, /Refused\. The application gets no access/);
  await eventually(() => pings.length === 1, 'the application is notified');
  assert.deepEqual(pings, [{ auth_req_id: body.auth_req_id }]);
  assert.equal((await poll(service, one, body.auth_req_id)).body.error, 'access_denied');
  const [event] = await eventsOf(service, 'app.oauth2.as.backchannel.authorize', one.clientId);
  assert.equal(event?.outcome.result, 'FAILURE');
});

test('the user is told by mail, in their language and without the application’s message; the link opens the request, after the sign-in, and allows nothing by itself', async (t) => {
  const mails = await startMailServer(t);
  const { service, user, one } = await begun(t, {}, { env: mails.env, sendsOutbox: true });
  await service.api('POST', `/users/${user.id}`, { profile: { preferredLanguage: 'de' } });
  const { body } = await request(service, one, { login_hint: 'ada@example.com', binding_message: 'Desk 4' });
  const mail = await mails.mail('ada@example.com', 1, 'Test application');
  assert.match(mail.subject, /Test application bittet Sie um eine Anmeldung/);
  assert.doesNotMatch(mail.text, /Desk 4/);
  const browser = new UserAgent(service.baseUrl);
  const opened = await browser.signIn(await browser.visit(mail.link), user);
  assert.match(opened.text, /Desk 4/, 'after the sign-in');
  const other = new UserAgent(service.baseUrl);
  const strangers = await other.signIn(await other.visit(mail.link), await service.createUser());
  assert.match(strangers.text, /no longer waiting/, 'another user');
  // A scanner of mails opens the link, also one in the user's browser.
  const page = await browser.visit(mail.link);
  await pendingAt(service, one, body.auth_req_id);
  assert.match(page.text, /Desk 4/);
  assert.match(page.text, /Test application/);
  await allow(browser, page);
  assert.match((await browser.visit(mail.link)).text, /wartet nicht mehr/, 'after the answer');
  assert.equal((await poll(service, one, body.auth_req_id)).status, 200);
  assert.equal((await eventsOf(service, 'app.oauth2.as.backchannel.request', user.id)).length, 1);
});

test('the link of the mail opens the request also after a second factor', async (t) => {
  const mails = await startMailServer(t);
  const { service, one } = await begun(t, {}, { env: mails.env, sendsOutbox: true });
  const user = await enrolledUser(service, { email: 'grace@example.com' });
  await request(service, one, { login_hint: user.login, binding_message: 'Desk 4' });
  const mail = await mails.mail('grace@example.com', 1, 'Test application');
  const browser = new UserAgent(service.baseUrl);
  const step = await browser.signIn(await browser.visit(mail.link), user);
  assert.match((await browser.submit(step, 'factor-form', { passCode: codeOf(user.secret, 1) })).text, /Desk 4/);
});

test('second factor, consent, access policy and assignment count at the approval as in a browser', async (t) => {
  const { service, one } = await begun(t, { consent_method: 'REQUIRED' });
  await setScope(service, 'films', { consent: 'REQUIRED' });
  const user = await enrolledUser(service);
  const browser = new UserAgent(service.baseUrl);
  const signIn = await browser.signIn(await browser.visit('/signin?account=requests'), user);
  const list = await browser.submit(signIn, 'factor-form', { passCode: codeOf(user.secret, 1) });
  assert.equal(list.url.pathname, '/account/requests');
  const ask = async (more: Record<string, string>, of = one) =>
    (await request(service, of, { login_hint: user.login, ...more }, 'default')).body.auth_req_id as string;

  const consented = await ask({ scope: 'openid films' });
  const consent = await allow(browser, await reviewed(browser));
  assert.match(consent.text, /id="consent"/);
  await pendingAt(service, one, consented, 'default');
  assert.match((await browser.submit(consent, 'consent', { decision: 'allow' })).text, /Allowed/);
  assert.equal((await poll(service, one, consented, 'default')).body.scope, 'openid films');

  const stronger = await service.createUser();
  const weak = await signedIn(service, stronger);
  const { body } = await request(service, one, { login_hint: stronger.login, acr_values: TWO_FACTORS }, 'default');
  assert.match((await allow(weak, await reviewed(weak))).text, /id="enroll-form"/);
  await pendingAt(service, one, body.auth_req_id, 'default');

  await setPolicies(service, 'default', [{ rules: [{ conditions: { grantTypes: { include: ['authorization_code'] } } }] }]);
  const refused = await ask({});
  await allow(browser, await reviewed(browser));
  assert.equal((await poll(service, one, refused, 'default')).body.error, 'access_denied');
  assert.equal((await eventsOf(service, 'app.oauth2.as.authorize', one.clientId)).length, 1);
  const question = { client_id: one.clientId, user: user.login, grant_type: GRANT, scopes: ['openid'] };
  const { body: simulated } = await service.api('POST', '/authorizationServers/default/simulate', question);
  assert.deepEqual([simulated.outcome, simulated.refusal?.error], ['REFUSED', 'access_denied']);
});

test('wrong requests are refused with what CIBA section 13 says of them', async (t) => {
  const { service, user, one } = await begun(t);
  const refusal = async (more: Record<string, string>, by: TestClient = one) => (await request(service, by, more)).body.error;
  const hint = { login_hint: user.login };
  assert.equal(await refusal({}), 'invalid_request', 'no hint');
  assert.equal(await refusal({ ...hint, id_token_hint: 'x' }), 'invalid_request', 'two hints');
  assert.equal(await refusal({ login_hint_token: 'x' }), 'invalid_request');
  assert.equal(await refusal({ ...hint, user_code: '1234' }), 'invalid_request');
  const object = await new SignJWT({ client_id: one.clientId, ...hint, scope: 'openid', jti: 'once' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(one.clientId)
    .setAudience(service.issuer('default'))
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(new TextEncoder().encode(one.clientSecret));
  const signed = await request(service, one, { request: object });
  assert.deepEqual([signed.status, signed.body.error_description], [400, 'the parameter request is not supported'], 'a signed request');
  assert.equal(await refusal({ ...hint, requested_expiry: '-1' }), 'invalid_request');
  assert.equal(await refusal({ id_token_hint: 'no-token' }), 'invalid_request');
  assert.equal(await refusal({ ...hint, scope: 'openid nothing.like.this' }), 'invalid_scope');
  assert.equal(await refusal({ ...hint, scope: 'profile' }), 'invalid_request', 'without openid');
  assert.equal(await refusal({ ...hint, resource: 'https://unknown.example' }), 'invalid_target');
  for (const message of ['x'.repeat(101), 'two\nlines', 'see https://evil.example', '<b>', '\u202Etxet'])
    assert.equal(
      await refusal({ ...hint, binding_message: message }),
      message.includes('\n') ? 'invalid_request' : 'invalid_binding_message',
      message,
    );
  assert.equal(await refusal(hint, await createClient(service)), 'unauthorized_client');
  assert.equal(await refusal(hint, { ...one, clientSecret: 'x'.repeat(43) }), 'invalid_client');
  const other = { login_hint: (await service.createUser()).login };
  const { body } = await request(service, one, { ...other, requested_expiry: '30' });
  assert.equal(body.expires_in, 30);
  assert.equal((await request(service, one, { ...other, requested_expiry: '999999' })).body.expires_in, 1800);
});

test('settings of the application: a secret or key is needed, and mode ping needs an endpoint', async (t) => {
  const service = await startService(t);
  const create = (settings: object, credentials: object = {}) =>
    service.api('POST', '/apps', {
      name: 'oidc_client',
      label: 'Desk',
      signOnMode: 'OPENID_CONNECT',
      credentials: { oauthClient: credentials },
      settings: { oauthClient: { grant_types: [GRANT], ...settings } },
    });
  assert.equal((await create({}, { token_endpoint_auth_method: 'none', pkce_required: true })).status, 400);
  assert.equal((await create({ backchannel_token_delivery_mode: 'ping' })).status, 400);
  assert.equal((await create({ backchannel_client_notification_endpoint: 'https://app.example/ping' })).status, 400);
  assert.equal(
    (await create({ backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: 'http://app.example/ping' })).status,
    400,
  );
  const made = await create({
    backchannel_token_delivery_mode: 'ping',
    backchannel_client_notification_endpoint: 'https://app.example/ping',
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
});

test('a request expires, for its user and for the application, and is swept', async (t) => {
  stopClock(t);
  const { service, user, one, browser } = await begun(t);
  const { body } = await request(service, one, { login_hint: user.login });
  const list = await browser.visit('/account/requests');
  moveClock(t, 601);
  assert.equal((await poll(service, one, body.auth_req_id)).body.error, 'expired_token');
  assert.match((await reviewed(browser, list)).text, /no longer waiting/);
  assert.match((await browser.visit('/account/requests')).text, /No application is waiting/);
  const rows = await rowsOf(service);
  assert.ok(Number(rows[0]?.hours) <= 3, 'the sweep finds it by its hour');
});

const rowsOf = (service: Service | ServiceCalls) =>
  onServer(
    (service as Service).database.url,
    async (db) =>
      (
        await db.query(
          'SELECT row_to_json(p)::text AS row, exp_hour - extract(epoch FROM now()) / 3600 AS hours FROM oidc_payload p WHERE model = 21',
        )
      ).rows,
  );

test('the database holds no auth_req_id, no notification token and no ID token', async (t) => {
  const ping = { backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: 'https://app.example/ping' };
  const { service, user, one, browser } = await begun(t, ping);
  const { body: before } = await tokensFor(service, browser, user, one, { scope: 'openid' });
  const hint = { id_token_hint: before.id_token, client_notification_token: 'secret-of-the-application' };
  const { body } = await request(service, one, hint);
  await allow(browser, await reviewed(browser));
  const outbox = await onServer(service.database.url, async (db) => (await db.query('SELECT payload::text AS row FROM outbox')).rows);
  const stored = [...(await rowsOf(service)), ...outbox].map(({ row }) => row).join('\n');
  for (const secret of [body.auth_req_id, 'secret-of-the-application', before.id_token]) assert.ok(!stored.includes(secret), secret);
});

test('a notification that waits survives a rotation of SECRET_KEY', async (t) => {
  const [former, fresh] = [newSecretKey(), newSecretKey()];
  const ping = { backchannel_token_delivery_mode: 'ping', backchannel_client_notification_endpoint: 'https://app.example/ping' };
  const { service, user, one, browser } = await begun(t, ping, { env: { SECRET_KEY: former } });
  const { body } = await request(service, one, { login_hint: user.login, client_notification_token: 'secret-of-the-application' });
  await allow(browser, await reviewed(browser));
  const ringOf = (...keys: string[]) => new Keyring(keys.map((key) => Buffer.from(key, 'base64url')));
  const database = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
  afterwards(t, () => database.close());
  await resealEverything({ database, log: pino({ level: 'silent' }), keyring: ringOf(fresh, former) });
  const [row] = await database
    .knex('outbox')
    .where({ kind: 'backchannel-ping' })
    .select<{ payload: { id: string; sealed: string } }[]>('payload');
  const { id = '', sealed = '' } = row?.payload ?? {};
  const told = JSON.parse(ringOf(fresh).open(sealed, pingContext(id)));
  assert.deepEqual(told, { id: body.auth_req_id, token: 'secret-of-the-application' });
});
