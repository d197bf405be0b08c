/** The ways of authorization details (RFC 9396 section 2): pushed, in a request object, from a device, by CIBA, through an exchange, and with openid-client and oauth4webapi. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { GRANT as CIBA, request, reviewed, signedIn } from '../ciba/sign-in-requests.ts';
import { CALLBACK, createClient, post } from '../servers/relying-party.ts';
import { ACCOUNTS, bank, EVERY_GRANT, PAYMENT } from './details.ts';

const [DEVICE, EXCHANGE] = ['urn:ietf:params:oauth:grant-type:device_code', 'urn:ietf:params:oauth:grant-type:token-exchange'];
const details = JSON.stringify([PAYMENT, ACCOUNTS]);
const less = { ...ACCOUNTS, actions: ['list'] };

test('openid-client pushes a request with details, exchanges the code and refreshes for less', async (t) => {
  const { service, client: app, user, browser } = await bank(t, { accessTokenFormat: 'jwt' });
  const execute = [client.allowInsecureRequests];
  const config = await client.discovery(new URL(service.issuer('bank')), app.clientId, app.clientSecret, undefined, { execute });
  assert.deepEqual(config.serverMetadata().authorization_details_types_supported, ['payment', 'accounts']);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const url = await client.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: CALLBACK,
    scope: 'openid offline_access',
    state: 'some-state',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    authorization_details: details,
  });
  const consent = await browser.signIn(await browser.visit(url), user);
  const arrived = await browser.submit(consent, 'consent', { decision: 'allow' });
  const tokens = await client.authorizationCodeGrant(config, arrived.url, {
    pkceCodeVerifier,
    expectedState: 'some-state',
    idTokenExpected: true,
  });
  assert.deepEqual(tokens.authorization_details, [PAYMENT, ACCOUNTS]);
  const parameters = { authorization_details: JSON.stringify([less]) };
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', parameters);
  assert.deepEqual(refreshed.authorization_details, [less]);
  const told = await client.tokenIntrospection(config, refreshed.access_token);
  assert.deepEqual(told.authorization_details, [less]);
});

test('oauth4webapi: client credentials with details, told by introspection', async (t) => {
  const { service, client: app } = await bank(t);
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer('bank'));
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  const [id, secret] = [{ client_id: app.clientId }, oauth.ClientSecretBasic(app.clientSecret ?? '')];
  const asked = new URLSearchParams({ authorization_details: details });
  const answer = await oauth.clientCredentialsGrantRequest(as, id, secret, asked, options);
  const tokens = await oauth.processClientCredentialsResponse(as, id, answer);
  assert.deepEqual(tokens.authorization_details, [PAYMENT, ACCOUNTS]);
  const introspected = await oauth.introspectionRequest(as, id, secret, tokens.access_token, options);
  assert.deepEqual((await oauth.processIntrospectionResponse(as, id, introspected)).authorization_details, [PAYMENT, ACCOUNTS]);
});

test('a signed request object holds them as a JSON array (RFC 9396 section 4)', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] };
  const { service, client: app, reach, browser } = await bank(t, {}, { jwks });
  const object = await new SignJWT({ authorization_details: [PAYMENT] })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(app.clientId)
    .setAudience(service.issuer('bank'))
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
  const { page, exchange } = await reach([ACCOUNTS], { request: object });
  const { body } = await exchange(await browser.submit(page, 'consent', { decision: 'allow' }));
  assert.deepEqual(body.authorization_details, [PAYMENT], 'what the application signed wins');
});

test('a device asks for details, its user allows them, and it gets them or less', async (t) => {
  const { service, browser, user, token } = await bank(t);
  const settings = { ...EVERY_GRANT, grant_types: [DEVICE], response_types: [], redirect_uris: [], consent_method: 'REQUIRED' };
  const device = await createClient(service, settings);
  const form = { client_id: device.clientId, scope: 'openid', authorization_details: details };
  const { body: asked } = await post(service, 'bank', 'device_authorization', device, form);
  const page = await browser.visit(asked.verification_uri_complete);
  assert.match(page.text, /Pay <bdi>120\.50<\/bdi>/, 'on the page of the code, for trusted applications have no other');
  const consent = await browser.signIn(await browser.submit(page, 'device-form', { confirm: 'yes' }), user);
  assert.match(consent.text, /Make a payment/);
  assert.match((await browser.submit(consent, 'consent', { decision: 'allow' })).text, /Device connected/);
  const poll = (more: Record<string, string>) =>
    token({ grant_type: DEVICE ?? '', device_code: asked.device_code, client_id: device.clientId, ...more }, device);
  const wider = await poll({ authorization_details: JSON.stringify([{ ...PAYMENT, creditor: 'Somebody else' }]) });
  assert.equal(wider.body.error, 'invalid_authorization_details');
  const { body } = await poll({});
  assert.deepEqual(body.authorization_details, [PAYMENT, ACCOUNTS]);
});

test('a sign-in request of CIBA shows its details to the user, and its token has them', async (t) => {
  const { service, user, token } = await bank(t);
  const one = await createClient(service, { ...EVERY_GRANT, grant_types: [CIBA, 'authorization_code'], consent_method: 'REQUIRED' });
  const browser = await signedIn(service, user);
  const asked = await request(service, one, { login_hint: user.login, authorization_details: JSON.stringify([PAYMENT]) }, 'bank');
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  const asks = await reviewed(browser);
  assert.match(asks.text, /<summary>All details/, 'beside the sentence of the template');
  assert.match(asks.text, /Pay <bdi>120\.50<\/bdi>/, 'on the page of the request itself, for trusted applications have no other');
  const consent = await browser.submit(asks, 'request-form', { confirm: 'yes' });
  assert.match(consent.text, /Pay <bdi>120\.50<\/bdi>/);
  await browser.submit(consent, 'consent', { decision: 'allow' });
  const { status, body } = await token({ grant_type: CIBA, auth_req_id: asked.body.auth_req_id }, one);
  assert.deepEqual([status, body.authorization_details], [200, [PAYMENT]], JSON.stringify(body));
  const unknown = await request(service, one, { login_hint: user.login, authorization_details: '[{"type":"shares"}]' }, 'bank');
  assert.equal(unknown.body.error, 'invalid_authorization_details');
});

test('an exchanged token has the details of the subject token or fewer, and none that it lacks', async (t) => {
  const { service, client: site, browser, reach, token, detailsOf } = await bank(t, { audiences: ['https://bank.example'] });
  const { page, exchange } = await reach([PAYMENT, ACCOUNTS]);
  const { body: held } = await exchange(await browser.submit(page, 'consent', { decision: 'allow' }));
  const api = await createClient(service, {
    ...{ ...EVERY_GRANT, application_type: 'service', grant_types: [EXCHANGE], response_types: [], redirect_uris: [] },
    ...{ authorization_details_types: ['accounts'], token_exchange_audiences: ['https://bank.example', service.issuer('bank')] },
  });
  const form = {
    grant_type: EXCHANGE ?? '',
    subject_token: held.access_token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
  const all = await token(form, api);
  assert.deepEqual([all.status, all.body.authorization_details], [200, [ACCOUNTS]], 'those that the API may use');
  assert.deepEqual(await detailsOf(all.body.access_token), [ACCOUNTS]);
  const fewer = await token({ ...form, authorization_details: JSON.stringify([less]) }, api);
  assert.deepEqual(fewer.body.authorization_details, [less]);
  const wider = await token({ ...form, authorization_details: JSON.stringify([{ ...ACCOUNTS, actions: ['close'] }]) }, api);
  assert.equal(wider.body.error, 'invalid_authorization_details');
  assert.notEqual(site.clientId, api.clientId);
});

test('the password grant gives them to a trusted application, with its refresh token', async (t) => {
  const { service, user, token } = await bank(t);
  const password = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid offline_access' };
  const refused = await token({ ...password, authorization_details: details });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_authorization_details']);
  const trusted = await createClient(service, { ...EVERY_GRANT, consent_method: 'TRUSTED' });
  const { body } = await token({ ...password, authorization_details: details }, trusted);
  assert.deepEqual(body.authorization_details, [PAYMENT, ACCOUNTS]);
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: body.refresh_token }, trusted);
  assert.deepEqual(refreshed.body.authorization_details, [PAYMENT, ACCOUNTS]);
});
