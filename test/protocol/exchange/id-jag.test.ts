/** ID-JAGs (draft-ietf-oauth-identity-assertion-authz-grant): a first installation issues them, a second one accepts them, with clients nobody here wrote. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { calculateJwkThumbprint, createRemoteJWKSet, decodeJwt, decodeProtectedHeader, exportJWK, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { startService } from '../../support/service.ts';
import { trustProvider } from '../../support/trusted-provider.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, type JsonAnswer, post, type TestClient, tokensFor } from '../servers/relying-party.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const [SHOP, STOCK] = ['https://shop.example', 'https://stock.example'] as const;
const INSECURE = { [oauth.allowInsecureRequests]: true };

const refused = ({ status, body }: JsonAnswer, error: string, reason: RegExp, what = ''): void => {
  assert.deepEqual([status, body.error], [400, error], `${what}: ${JSON.stringify(body)}`);
  assert.match(body.error_description, reason, what);
};

/** The user signs in at home. The application calls an API of the other installation, away. */
async function twoInstallations(t: TestContext) {
  const home = await startService(t);
  const away = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const user = await home.createUser();
  await away.api('POST', '/authorizationServers', { id: 'shop', name: 'Shop', audiences: [SHOP, STOCK] });
  const target = away.issuer('shop');
  const there = await away.createApp({ application_type: 'service', grant_types: [GRANT] });
  const here = await createClient(home, {
    grant_types: ['authorization_code', EXCHANGE],
    id_jag_targets: [{ audience: target, client_id: there.clientId }, { audience: home.issuer('built-in') }],
  });
  const { user: linked } = await trustProvider(away, home.issuer('default'), user.id);
  const browser = new UserAgent(home.baseUrl);
  const tokens = (await tokensFor(home, browser, user, here, { serverId: 'default', scope: 'openid' })).body;
  const ask = (form: Record<string, string>, by: TestClient = here) =>
    post(home, 'default', 'token', by, {
      ...{ grant_type: EXCHANGE, requested_token_type: ID_JAG, audience: target },
      ...{ subject_token: tokens.id_token, subject_token_type: ID_TOKEN, ...form },
    });
  const accept = (assertion: string, form: Record<string, string> = {}, by: TestClient = there) =>
    post(away, 'shop', 'token', by, { grant_type: GRANT, assertion, ...form });
  return { home, away, user, linked, target, here, there, browser, tokens, ask, accept };
}

test('issued at home for one application at one server, accepted there once, for its scope and resource', async (t) => {
  const { home, user, linked, target, here, there, ask, accept, away } = await twoInstallations(t);
  const { status, headers, body } = await ask({ scope: 'profile', resource: STOCK });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.issued_token_type, body.token_type, body.expires_in, body.scope], [ID_JAG, 'N_A', 300, 'profile']);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(decodeProtectedHeader(body.access_token).typ, 'oauth-id-jag+jwt');
  const keys = createRemoteJWKSet(new URL(`${home.issuer('default')}/keys`));
  const { payload } = await jwtVerify(body.access_token, keys, { issuer: home.issuer('default'), audience: target });
  assert.deepEqual([payload.sub, payload.client_id, payload.scope, payload.resource], [user.id, there.clientId, 'profile', STOCK]);
  assert.ok(payload.jti !== undefined && payload.auth_time !== undefined && payload.acr !== undefined && payload.cnf === undefined);
  assert.equal((await post(home, 'default', 'introspect', here, { token: body.access_token })).body.active, false, 'no access token');
  const [event] = (await home.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.token.exchange"')}`)).body;
  assert.ok(JSON.stringify(event.debugContext).includes(target));

  const config = await client.discovery(new URL(target), there.clientId, there.clientSecret ?? '', undefined, {
    execute: [client.allowInsecureRequests],
  });
  assert.deepEqual(config.serverMetadata().authorization_grant_profiles_supported, ['urn:ietf:params:oauth:grant-profile:id-jag']);
  assert.deepEqual(config.serverMetadata().identity_chaining_requested_token_types_supported, [ID_JAG]);
  const tokens = await client.genericGrantRequest(config, GRANT, { assertion: body.access_token });
  const told = await client.tokenIntrospection(config, tokens.access_token);
  assert.deepEqual([told.sub, told.scope, told.aud], [linked.id, 'profile', STOCK]);
  refused(await accept(body.access_token), 'invalid_grant', /already used/);

  const fresh = async (form: Record<string, string> = { scope: 'profile', resource: STOCK }) =>
    (await ask(form)).body.access_token as string;
  refused(await accept(await fresh(), { scope: 'profile email' }), 'invalid_scope', /not in the assertion/);
  refused(await accept(await fresh(), { resource: SHOP }), 'invalid_target', /not granted/);
  const thief = await away.createApp({ application_type: 'service', grant_types: [GRANT] });
  refused(await accept(await fresh(), {}, thief), 'invalid_grant', /client_id must be the application/);
  assert.equal((await accept(await fresh({}))).status, 200);
});

test('authorization details travel in the ID-JAG, as the access policies here and the types there allow (RFC 9396)', async (t) => {
  const { home, away, target, ask, accept, there } = await twoInstallations(t);
  const details = [{ type: 'order', actions: ['place'] }];
  await away.api('POST', '/authorizationServers/shop/authorizationDetailTypes', { name: 'order', displayName: 'Order' });
  const { body: app } = await away.api('GET', `/apps/${there.clientId}`);
  app.settings.oauthClient.authorization_details_types = ['order'];
  assert.equal((await away.api('PUT', `/apps/${there.clientId}`, app)).status, 200);
  const form = { authorization_details: JSON.stringify(details) };
  const { status, body } = await ask(form);
  assert.deepEqual([status, body.authorization_details], [200, details], JSON.stringify(body));
  assert.deepEqual(decodeJwt(body.access_token).authorization_details, details);
  const accepted = await accept(body.access_token);
  assert.deepEqual([accepted.status, accepted.body.authorization_details], [200, details], JSON.stringify(accepted.body));
  refused(await ask({ authorization_details: '{}' }), 'invalid_authorization_details', /must be a JSON array/);
  await setPolicies(home, 'default', [{ rules: [{ conditions: { authorizationDetails: { include: [] } } }] }]);
  assert.equal((await ask(form)).body.error, 'access_denied');
  assert.equal((await ask({})).status, 200, target);
});

test('only for targets of the application, from its own ID token, while the session lives, as the access policies say', async (t) => {
  const { home, user, here, browser, tokens, ask } = await twoInstallations(t);
  refused(await ask({ audience: 'https://other.example' }), 'invalid_target', /id_jag_targets/);
  refused(await ask({ audience: home.issuer('built-in') }), 'invalid_target', /another authorization server/, 'of this installation');
  refused(await ask({ audience: '' }), 'invalid_target', /one audience/);
  refused(await ask({ scope: 'x'.repeat(1001) }), 'invalid_scope', /at most 1000/);
  refused(await ask({ resource: `https://${'x'.repeat(2000)}.example` }), 'invalid_target', /at most/);
  refused(await ask({ subject_token: tokens.access_token, subject_token_type: ACCESS_TOKEN }), 'invalid_request', /requires an ID token/);
  const actor = { actor_token: tokens.access_token, actor_token_type: ACCESS_TOKEN };
  refused(await ask(actor), 'invalid_request', /actor_token cannot be used/);
  const other = await createClient(home, { grant_types: ['authorization_code', EXCHANGE] });
  refused(await ask({}, other), 'invalid_request', /issued to another application/);
  await setPolicies(home, 'default', [
    { rules: [{ conditions: { grantTypes: { include: [EXCHANGE] }, scopes: { include: ['profile'] } } }] },
  ]);
  assert.equal((await ask({ scope: 'profile' })).status, 200);
  assert.equal((await ask({ scope: 'profile admin' })).body.error, 'access_denied');
  const filter = encodeURIComponent('eventType eq "app.oauth2.as.token.grant"');
  const [denied] = (await home.api('GET', `/logs?limit=1&sortOrder=DESCENDING&filter=${filter}`)).body;
  assert.equal(denied.debugContext.decision.request.idJag, true);
  const explained = wordsOf(await (await enter(home)).agent.visit(`/admin/reports/log/${denied.uuid}/explain`));
  assert.match(explained, /the request is also for scopes/);
  assert.doesNotMatch(explained, /Result today/, 'the simulator does not know the scopes of another server');
  await home.api('POST', `/users/${user.id}/lifecycle/suspend`);
  refused(await ask({ scope: 'profile' }), 'invalid_request', /its user is not active/, 'suspended');
  await home.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  await browser.visit(new URL(`${home.issuer('default')}/logout?id_token_hint=${tokens.id_token}`));
  refused(await ask({ scope: 'profile' }), 'invalid_request', /session of the ID token has ended/);
  assert.ok(here.clientId);
});

test('sub is what the other server knows from its own sign-ins, also a pairwise one, of users who may use it', async (t) => {
  const { home, away, user, target, tokens, ask } = await twoInstallations(t);
  const chat = await createClient(home, { subject_type: 'pairwise', assignment: 'ASSIGNED' });
  const there = await away.createApp({ application_type: 'service', grant_types: [GRANT] });
  const id_jag_targets = [{ audience: target, client_id: there.clientId, relying_party: chat.clientId }];
  const here = await createClient(home, { grant_types: ['authorization_code', EXCHANGE], id_jag_targets });
  const signedIn = await tokensFor(home, new UserAgent(home.baseUrl), user, here, { serverId: 'default', scope: 'openid' });
  const subject = { subject_token: signedIn.body.id_token };
  refused(await ask(subject, here), 'invalid_target', /not assigned/);
  assert.ok((await home.api('POST', `/apps/${chat.clientId}/users`, { id: user.id })).status < 300);
  const idJag = decodeJwt((await ask(subject, here)).body.access_token);
  const known = await tokensFor(home, new UserAgent(home.baseUrl), user, chat, { serverId: 'default', scope: 'openid' });
  assert.equal(idJag.sub, decodeJwt(known.body.id_token).sub);
  assert.notEqual(idJag.sub, decodeJwt(tokens.id_token).sub);
  await home.api('POST', `/apps/${chat.clientId}/lifecycle/deactivate`);
  refused(await ask(subject, here), 'invalid_target', /must be an active application/);
});

test('an installation accepts no ID-JAG of its own', async (t) => {
  const { home, target, ask } = await twoInstallations(t);
  const { body } = await ask({});
  const app = await home.createApp({ application_type: 'service', grant_types: [GRANT] });
  const answer = await post(home, 'default', 'token', app, { grant_type: GRANT, assertion: body.access_token });
  refused(answer, 'invalid_grant', /issued by this service/);
  assert.equal(decodeJwt(body.access_token).aud, target);
});

test('an ID-JAG is bound to the DPoP key of its request, and is of use to the holder alone', async (t) => {
  const { home, target, here, there, tokens, accept } = await twoInstallations(t);
  const server = async (issuer: string) =>
    oauth.processDiscoveryResponse(new URL(issuer), await oauth.discoveryRequest(new URL(issuer), INSECURE));
  const send = async (issuer: string, by: TestClient, grant: string, form: Record<string, string>, pair: oauth.CryptoKeyPair) => {
    const [as, application] = [await server(issuer), { client_id: by.clientId }];
    const DPoP = oauth.DPoP({}, pair);
    const secret = oauth.ClientSecretPost(by.clientSecret ?? '');
    const options = { ...INSECURE, DPoP };
    const response = await oauth.genericTokenEndpointRequest(as, application, secret, grant, new URLSearchParams(form), options);
    return oauth.processGenericTokenEndpointResponse(as, application, response, { recognizedTokenTypes: { n_a: () => {} } });
  };
  const pair = await oauth.generateKeyPair('ES256', { extractable: true });
  const jkt = await calculateJwkThumbprint(await exportJWK(pair.publicKey));
  const form = { requested_token_type: ID_JAG, audience: target, subject_token: tokens.id_token, subject_token_type: ID_TOKEN };
  const issue = () => send(home.issuer('default'), here, EXCHANGE, form, pair);
  const issued = await issue();
  assert.deepEqual(decodeJwt(issued.access_token).cnf, { jkt });
  refused(await accept(issued.access_token), 'invalid_grant', /bound to a key/);
  const stranger = await oauth.generateKeyPair('ES256');
  const presented = { assertion: issued.access_token };
  await assert.rejects(send(target, there, GRANT, presented, stranger), { error: 'invalid_grant' });
  const token = await send(target, there, GRANT, presented, pair);
  assert.deepEqual([token.token_type, decodeJwt(token.access_token).cnf], ['dpop', { jkt }]);
});
