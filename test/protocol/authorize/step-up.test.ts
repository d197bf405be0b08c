/**
 * Step-up authentication (RFC 9470): an API that was copied from the console challenges, and openid-client sends its user to sign in again. Tokens say how
 * and when their user signed in, and `acr_values` and `max_age` count in every kind of request.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeJwt, SignJWT } from 'jose';
import * as client from 'openid-client';
import { filesIn, layDown, run } from '../../features/applications/console-applications.ts';
import { enter } from '../../pages/console/administrators.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, ONE_FACTOR, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { freePort } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, type TestClient, tokensFor } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;

/** Starts the API of the console's page. @returns its address */
async function startApi(t: TestContext, service: Service, serverId: string, own: TestClient): Promise<URL> {
  const { agent } = await enter(service);
  const files = filesIn(await agent.visit(`/admin/api/servers/${serverId}/protect`));
  const directory = await layDown(t, files);
  const env = { PORT: String(await freePort()), CLIENT_ID: own.clientId, CLIENT_SECRET: own.clientSecret ?? '' };
  const [address = ''] = /http:\S+/.exec(await run(t, directory, process.execPath, ['api.mjs'], env).said(/http:\S+\n/)) ?? [];
  return new URL(address);
}

/** What the API asks for, as openid-client reads it. */
async function challengeOf(call: Promise<Response>): Promise<Record<string, string | undefined>> {
  try {
    assert.fail(`answered: ${(await call).status}`);
  } catch (thrown) {
    assert.ok(thrown instanceof client.WWWAuthenticateChallengeError, String(thrown));
    return { ...thrown.cause[0]?.parameters };
  }
}

for (const serverId of SERVERS) {
  test(`an API asks for a second factor and a fresh sign-in, and gets both: ${serverId} server (RFC 9470)`, async (t) => {
    const service = await startService(t);
    const [user, own, one] = [
      await service.createUser(),
      await service.createApp({ application_type: 'service' }),
      await createClient(service),
    ];
    const api = await startApi(t, service, serverId, own);
    const execute = [client.allowInsecureRequests];
    const config = await client.discovery(new URL(service.issuer(serverId)), one.clientId, one.clientSecret, undefined, { execute });
    const scope = serverId === 'default' ? 'payments' : 'profile';
    if (serverId === 'default') await service.api('POST', '/authorizationServers/default/scopes', { name: scope });
    const browser = new UserAgent(service.baseUrl);
    const call = (token: string, path: string) => client.fetchProtectedResource(config, token, new URL(path, api), 'GET');
    const begin = (more: Record<string, string> = {}) => {
      const parameters = { redirect_uri: CALLBACK, scope, state: 'some-state', ...more };
      return browser.visit(client.buildAuthorizationUrl(config, parameters));
    };
    const end = async ({ url }: Page) => (await client.authorizationCodeGrant(config, url, { expectedState: 'some-state' })).access_token;

    moveClock(t, -1000);
    const token = await end(await browser.signIn(await begin(), user));
    moveClock(t, 1000);
    assert.deepEqual(await (await call(token, '/profile')).json(), { sub: user.id });
    const { error, acr_values, max_age } = await challengeOf(call(token, '/payments'));
    assert.deepEqual([error, acr_values, max_age], ['insufficient_user_authentication', TWO_FACTORS, '300']);

    // No scope openid: the API needs no ID token.
    const asked = await begin({ acr_values: acr_values ?? '', max_age: max_age ?? '' });
    const enrolling = await browser.signIn(asked, user);
    const secret = secretOn(enrolling);
    const shown = await browser.submit(enrolling, 'enroll-form', { passCode: codeOf(secret) });
    const stronger = await end(await browser.submit(shown, 'enrolled-form'));
    assert.deepEqual(await (await call(stronger, '/payments')).json(), { sub: user.id });

    moveClock(t, -2000);
    const machine = (await post(service, serverId, 'token', own, { grant_type: 'client_credentials' })).body.access_token;
    assert.equal((await challengeOf(call(machine, '/payments'))).error, 'insufficient_user_authentication', 'a token without a user');
    assert.equal((await challengeOf(call('nothing', '/payments'))).error, 'invalid_token');
  });

  test(`access tokens of every grant say how and when their user signed in: ${serverId} server (RFC 9470 section 6)`, async (t) => {
    const service = await startService(t);
    const settings = {
      grant_types: ['authorization_code', 'refresh_token', 'password', 'client_credentials', 'implicit'],
      response_types: ['code', 'code token'],
    };
    const [user, one, browser] = [await service.createUser(), await createClient(service, settings), new UserAgent(service.baseUrl)];
    const token = (form: Record<string, string>) => post(service, serverId, 'token', one, form);
    const told = async (accessToken: string) => {
      const { acr, auth_time } = (await post(service, serverId, 'introspect', one, { token: accessToken })).body;
      if (serverId === 'default') {
        const claims = decodeJwt(accessToken);
        assert.deepEqual([claims.acr, claims.auth_time], [acr, auth_time], 'the JWT says the same');
      }
      return { acr, auth_time };
    };
    const { body: first } = await tokensFor(service, browser, user, one, { serverId, scope: 'openid offline_access' });
    const { auth_time } = decodeJwt(first.id_token) as { auth_time: number };
    assert.deepEqual(await told(first.access_token), { acr: ONE_FACTOR, auth_time });
    moveClock(t, 100);
    const { body: refreshed } = await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    assert.deepEqual(await told(refreshed.access_token), { acr: ONE_FACTOR, auth_time }, 'a refresh is no sign-in');
    const silent = authorizeUrl(service, serverId, { client_id: one.clientId, response_type: 'code token', prompt: 'none' });
    const { access_token: delivered = '', code = '' } = answerOf(await browser.visit(silent));
    assert.deepEqual(await told(delivered), { acr: ONE_FACTOR, auth_time }, 'a session is no sign-in');
    const { body: exchanged } = await token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    assert.deepEqual(await told(exchanged.access_token), { acr: ONE_FACTOR, auth_time });
    const { body: typed } = await token({ grant_type: 'password', username: user.login, password: user.password, scope: 'openid' });
    assert.deepEqual(await told(typed.access_token), { acr: ONE_FACTOR, auth_time: Number(decodeJwt(typed.id_token).auth_time) });
    const { body: machine } = await token({ grant_type: 'client_credentials' });
    assert.deepEqual(await told(machine.access_token), { acr: undefined, auth_time: undefined });
  });
}

test('acr_values and max_age count with and without the scope openid, in plain, pushed and signed requests (RFC 9470 section 4)', async (t) => {
  const service = await startService(t);
  const [user, browser] = [await service.createUser(), new UserAgent(service.baseUrl)];
  const one = await createClient(service, {}, { token_endpoint_auth_method: 'client_secret_jwt', client_secret: 's'.repeat(43) });
  const poster = await createClient(service);
  const signed = (claims: Record<string, string>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(one.clientId)
      .setAudience(service.issuer('built-in'))
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode('s'.repeat(43)));
  const plain = { response_type: 'code', redirect_uri: CALLBACK, state: 'some-state' };
  const ways: Record<string, (more: Record<string, string>) => Promise<URL>> = {
    plain: async (more) => authorizeUrl(service, 'built-in', { client_id: one.clientId, ...more }),
    signed: async (more) => authorizeUrl(service, 'built-in', { client_id: one.clientId, scope: undefined, request: await signed(more) }),
    pushed: async (more) => {
      const { body } = await post(service, 'built-in', 'par', poster, { client_id: poster.clientId, ...plain, ...more });
      assert.ok(body.request_uri, JSON.stringify(body));
      return new URL(
        `${service.issuer('built-in')}/authorize?${new URLSearchParams({ client_id: poster.clientId, request_uri: body.request_uri })}`,
      );
    },
  };
  const first = await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: one.clientId })), user);
  assert.ok(answerOf(first).code, first.text);
  moveClock(t, 100);
  for (const scope of ['openid', 'profile']) {
    for (const [way, request] of Object.entries(ways)) {
      const outcome = async (more: Record<string, string>) => {
        const page = await browser.visit(await request({ scope, ...more }));
        if (/id="enroll-form"/.test(page.text)) return 'second factor';
        return /id="sign-in-form"/.test(page.text) ? 'sign-in' : (answerOf(page).error ?? typeof answerOf(page).code);
      };
      const told = `${way}, ${scope}`;
      assert.equal(await outcome({ acr_values: TWO_FACTORS }), 'second factor', told);
      assert.equal(await outcome({ acr_values: TWO_FACTORS, prompt: 'none' }), 'login_required', told);
      assert.equal(await outcome({ max_age: '50' }), 'sign-in', told);
      assert.equal(await outcome({ max_age: '50', prompt: 'none' }), 'login_required', told);
      assert.equal(await outcome({ max_age: '0' }), 'sign-in', told);
      assert.equal(await outcome({ max_age: '150', acr_values: ONE_FACTOR }), 'string', told);
      // By the name under which the service carries it: nothing that a client can say.
      assert.equal(await outcome({ acr_values_without_openid: TWO_FACTORS, max_age_without_openid: '1' }), 'string', told);
    }
    const wrong = { client_id: one.clientId, scope, max_age: '-1' };
    assert.equal(answerOf(await browser.visit(authorizeUrl(service, 'built-in', wrong))).error, 'invalid_request', scope);
    assert.equal(
      (await post(service, 'built-in', 'par', poster, { ...plain, ...wrong, client_id: poster.clientId })).body.error,
      'invalid_request',
      scope,
    );
  }
});
