/** Token exchange (RFC 8693): an API calls another one on behalf of its user, and what must not be exchanged is not. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { setPolicies } from '../../support/access-policies.ts';
import { moveClock } from '../../support/clock.ts';
import { type Issuer, now, startIssuer } from '../../support/issuer.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type JsonAnswer,
  post,
  type TestClient,
  tokensFor,
  userinfo,
  verifier,
} from '../servers/relying-party.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPE = 'urn:ietf:params:oauth:token-type:';
const ACCESS_TOKEN = `${TYPE}access_token`;
const ID_TOKEN = `${TYPE}id_token`;
const [SHOP, STOCK] = ['https://shop.example', 'https://stock.example'] as const;
const ALL = 'openid profile email offline_access';

interface World {
  readonly service: Service;
  readonly user: { id: string; login: string; password: string };
  /** The application that the user signs in to. */
  readonly site: TestClient;
  /** The API that the site calls. */
  readonly api: TestClient;
  /** Signs the user in to the site. */
  signIn(scope?: string): Promise<{ access_token: string; id_token: string; refresh_token: string }>;
  exchange(form: Record<string, string>, by?: TestClient): Promise<JsonAnswer>;
  introspect(token: string): Promise<JsonAnswer['body']>;
}

async function world(t: Parameters<typeof startService>[0], env: Record<string, string> = {}): Promise<World> {
  const service = await startService(t, { env });
  const { status } = await service.api('POST', '/authorizationServers', { id: 'shop', name: 'Shop', audiences: [SHOP, STOCK] });
  assert.equal(status, 201);
  const user = await service.createUser({ email: 'ada@example.com', displayName: 'Ada Lovelace' });
  const site = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', GRANT] });
  const api = await service.createApp({
    application_type: 'service',
    grant_types: ['client_credentials', GRANT],
    token_exchange_audiences: [SHOP],
  });
  return {
    service,
    user,
    site,
    api,
    async signIn(scope = ALL) {
      const browser = new UserAgent(service.baseUrl);
      return (await tokensFor(service, browser, user, site, { serverId: 'shop', scope })).body;
    },
    exchange: (form, by = api) => post(service, 'shop', 'token', by, { grant_type: GRANT, subject_token_type: ACCESS_TOKEN, ...form }),
    introspect: async (token) => (await post(service, 'shop', 'introspect', api, { token })).body,
  };
}

const refused = ({ status, body }: JsonAnswer, error: string, reason: RegExp, what = ''): void => {
  assert.deepEqual([status, body.error], [400, error], `${what}: ${JSON.stringify(body)}`);
  assert.match(body.error_description, reason, what);
};

test('an API exchanges the token of its caller for one to a further API: act, aud, scope, an end not after the first one’s', async (t) => {
  const { service, user, site, api, signIn, exchange, introspect } = await world(t);
  const { access_token: first } = await signIn();
  const { status, body } = await exchange({ subject_token: first, resource: STOCK, scope: 'profile' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.issued_token_type, body.token_type, body.scope], [ACCESS_TOKEN, 'Bearer', 'profile']);
  assert.equal(body.refresh_token, undefined);
  const told = await introspect(body.access_token);
  assert.deepEqual(
    [told.active, told.sub, told.client_id, told.aud, told.scope, told.act, told.username],
    [true, user.id, api.clientId, STOCK, 'profile', { sub: api.clientId }, user.login],
  );
  assert.deepEqual(decodeJwt(body.access_token).act, { sub: api.clientId });
  const before = await introspect(first);
  assert.equal(before.act, undefined);
  assert.ok(told.exp <= before.exp, 'it ends with the token that was exchanged at the latest');
  assert.deepEqual([told.acr, told.auth_time], [before.acr, before.auth_time], 'an exchange is no sign-in');

  const events = (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.token.exchange"')}`)).body;
  assert.equal(events.length, 1);
  assert.deepEqual(
    events[0].target.map(({ id }: { id: string }) => id),
    [user.id, api.clientId, 'shop'],
  );
  assert.match(JSON.stringify(events[0].debugContext), new RegExp(`"sub":"${api.clientId}"`));

  // The application's own token, with another one as actor; and again, from the second to a third.
  const machine = (await post(service, 'shop', 'token', api, { grant_type: 'client_credentials' })).body.access_token;
  const delegated = await exchange({ subject_token: body.access_token, actor_token: machine, actor_token_type: ACCESS_TOKEN });
  assert.deepEqual((await introspect(delegated.body.access_token)).act, { sub: api.clientId, act: { sub: api.clientId } });
  const own = await exchange({ subject_token: first }, site);
  assert.deepEqual([own.status, (await introspect(own.body.access_token)).act], [200, { sub: site.clientId }]);
  assert.equal(own.body.scope, 'openid profile email', 'without scope: all of the subject token, but for offline_access');
  assert.equal((await userinfo(service, 'shop', own.body.access_token)).body.sub, user.id);
});

test('scopes and audiences: never more than the subject token has, and none that the server does not have', async (t) => {
  const { signIn, exchange } = await world(t);
  const { access_token: token } = await signIn('openid profile');
  refused(await exchange({ subject_token: token, scope: 'profile email' }), 'invalid_scope', /does not have it/);
  refused(await exchange({ subject_token: token, scope: 'nonsense' }), 'invalid_scope', /does not exist/);
  refused(
    await exchange({ subject_token: token, resource: 'https://foreign.example' }),
    'invalid_target',
    /does not have a requested audience/,
  );
  refused(
    await exchange({ subject_token: token, audience: 'https://foreign.example' }),
    'invalid_target',
    /does not have a requested audience/,
  );
  const narrowed = await exchange({ subject_token: token, scope: 'profile' });
  refused(await exchange({ subject_token: narrowed.body.access_token, scope: 'openid' }), 'invalid_scope', /does not have it/);
});

test('tokens that are unknown, over, revoked, foreign or of another kind are refused', async (t) => {
  const { service, site, api, signIn, exchange } = await world(t);
  const { access_token: token, refresh_token: refresh, id_token: idToken } = await signIn();
  const other = await service.createApp({ application_type: 'service', grant_types: [GRANT] });
  refused(await exchange({ subject_token: token }, other), 'invalid_request', /issued to another application/);
  const elsewhere = await service.createApp({ application_type: 'service', grant_types: [GRANT], token_exchange_audiences: [STOCK] });
  refused(
    await exchange({ subject_token: token }, elsewhere),
    'invalid_request',
    /issued to another application/,
    'an API for which it is not',
  );
  const machine = (await post(service, 'shop', 'token', api, { grant_type: 'client_credentials' })).body.access_token;
  refused(await exchange({ subject_token: machine }), 'invalid_request', /issued to an application/);
  for (const [what, form, reason] of [
    ['nothing', {}, /missing required/],
    ['an unknown one', { subject_token: 'unknown' }, /does not exist, has expired or was revoked/],
    ['a refresh token', { subject_token: refresh }, /does not exist, has expired or was revoked/],
    ['an ID token as an access token', { subject_token: idToken }, /does not exist, has expired or was revoked/],
    ['an access token as an ID token', { subject_token: token, subject_token_type: ID_TOKEN }, /not an ID token/],
    ['of an unknown type', { subject_token: token, subject_token_type: `${TYPE}saml2` }, /subject_token_type/],
    ['for a refresh token', { subject_token: token, requested_token_type: `${TYPE}refresh_token` }, /requested_token_type must be/],
    ['an actor type alone', { subject_token: token, actor_token_type: ACCESS_TOKEN }, /requires actor_token/],
    ['an actor without a type', { subject_token: token, actor_token: machine }, /actor_token_type/],
    ['a wrong actor', { subject_token: token, actor_token: 'unknown', actor_token_type: ACCESS_TOKEN }, /actor_token: it does not exist/],
    ['unsigned', { subject_token: new UnsecuredJWT(decodeJwt(token)).encode() }, /does not exist, has expired or was revoked/],
    [
      'signed by a secret',
      { subject_token: await new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32)) },
      /does not exist, has expired or was revoked/,
    ],
  ] as const)
    refused(await exchange(form as Record<string, string>), 'invalid_request', reason, what);

  const exchanged = (await exchange({ subject_token: token })).body.access_token;
  await post(service, 'shop', 'revoke', site, { token });
  refused(await exchange({ subject_token: token }), 'invalid_request', /was revoked/, 'revoked');
  assert.equal(
    (await post(service, 'shop', 'introspect', api, { token: exchanged })).body.active,
    true,
    'a token that is revoked ends alone',
  );
  const fresh = (await signIn()).access_token;
  moveClock(t, 3601);
  refused(await exchange({ subject_token: fresh }), 'invalid_request', /has expired/, 'over');
});

test('public applications, applications without the grant, and users who may not are refused', async (t) => {
  const { service, user, signIn, exchange, introspect } = await world(t);
  const { access_token: token, id_token: idToken } = await signIn();
  const without = await service.createApp({ application_type: 'service' });
  const answer = await exchange({ subject_token: token }, without);
  assert.deepEqual([answer.status, answer.body.error], [400, 'unauthorized_client']);
  const { status, body } = await service.api('POST', '/apps', {
    label: 'Public',
    settings: {
      oauthClient: { application_type: 'browser', redirect_uris: ['https://app.example/'], grant_types: ['authorization_code', GRANT] },
    },
  });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /must not be none with token exchange/);

  const exchanged = (await exchange({ subject_token: token })).body.access_token;
  for (const [step, back] of [
    ['suspend', 'unsuspend'],
    ['deactivate', 'activate?sendEmail=false'],
  ] as const) {
    assert.ok((await service.api('POST', `/users/${user.id}/lifecycle/${step}`)).status < 300, step);
    refused(await exchange({ subject_token: token }), 'invalid_request', /does not exist, has expired or was revoked|is not active/, step);
    refused(await exchange({ subject_token: idToken, subject_token_type: ID_TOKEN }), 'invalid_request', /./, step);
    assert.equal((await introspect(exchanged)).active, false, step);
    await service.api('POST', `/users/${user.id}/lifecycle/${back}`);
  }
});

test('what was exchanged ends with the consent and the family of the subject token', async (t) => {
  const { service, user, site, signIn, exchange, introspect } = await world(t);
  const first = await signIn();
  const exchanged = (await exchange({ subject_token: first.access_token })).body.access_token;
  // The second use of a refresh token ends its whole family (RFC 9700 section 4.14.2).
  const refresh = () => post(service, 'shop', 'token', site, { grant_type: 'refresh_token', refresh_token: first.refresh_token });
  assert.equal((await refresh()).status, 200);
  moveClock(t, 60);
  assert.equal((await refresh()).status, 400);
  assert.equal((await introspect(exchanged)).active, false, 'its family was ended');

  // An application that asks for consent.
  const [email] = (await service.api('GET', '/authorizationServers/shop/scopes?q=email')).body;
  const scope = { name: 'email', displayName: email.displayName, consent: 'REQUIRED' };
  assert.equal((await service.api('PUT', `/authorizationServers/shop/scopes/${email.id}`, scope)).status, 200);
  const asking = await createClient(service, { consent_method: 'REQUIRED' });
  const [browser, proof] = [new UserAgent(service.baseUrl), verifier()];
  const request = { client_id: asking.clientId, scope: 'openid email', code_challenge: challengeOf(proof) };
  const dialog = await browser.signIn(await browser.visit(authorizeUrl(service, 'shop', request)), user);
  const { code = '' } = answerOf(await browser.submit(dialog, 'consent', { decision: 'allow' }));
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof };
  const { access_token: consented } = (await post(service, 'shop', 'token', asking, form)).body;
  const second = (await exchange({ subject_token: consented })).body.access_token;
  assert.equal((await introspect(second)).active, true);
  const ended = await service.api('DELETE', `/users/${user.id}/grants`);
  assert.ok(ended.status < 300, JSON.stringify(ended.body));
  assert.equal((await introspect(second)).active, false, 'the consent was revoked');
});

test('ID tokens: of the application itself, while their session lives', async (t) => {
  const { service, user, site, exchange, introspect } = await world(t);
  const browser = new UserAgent(service.baseUrl);
  const { id_token: idToken } = (await tokensFor(service, browser, user, site, { serverId: 'shop' })).body;
  const form = { subject_token: idToken, subject_token_type: ID_TOKEN };
  const { status, body } = await exchange({ ...form, scope: 'openid' }, site);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await introspect(body.access_token)).sub, user.id);
  refused(await exchange(form), 'invalid_request', /issued to another application/);
  await browser.visit(new URL(`${service.issuer('shop')}/logout?id_token_hint=${idToken}`));
  refused(await exchange(form, site), 'invalid_request', /session of the ID token has ended/);
  moveClock(t, 5);
  await tokensFor(service, new UserAgent(service.baseUrl), user, site, { serverId: 'shop' });
  refused(await exchange(form, site), 'invalid_request', /session of the ID token has ended/, 'a later session is another one');
});

test('at another server of this installation: its JWTs count, for audiences that the application is', async (t) => {
  const { service, user, site, api, exchange, introspect } = await world(t);
  const { access_token: token } = (
    await tokensFor(service, new UserAgent(service.baseUrl), user, site, { serverId: 'default', scope: 'openid profile' })
  ).body;
  refused(await exchange({ subject_token: token }), 'invalid_request', /issued to another application/);
  const own = await exchange({ subject_token: token }, site);
  assert.equal(own.status, 200, JSON.stringify(own.body));
  assert.deepEqual([(await introspect(own.body.access_token)).iss, own.body.scope], [service.issuer('shop'), 'openid profile']);
  await service.api('POST', '/authorizationServers/default/lifecycle/deactivate');
  refused(await exchange({ subject_token: token }, site), 'invalid_request', /authorization server is not active/);
  assert.ok(api);
});

test('access policies: the grant, actors, and the lifetime; a refusal is explained with its actor', async (t) => {
  const { service, user, site, api, signIn, exchange, introspect } = await world(t);
  const { access_token: token } = await signIn();
  const rest = { conditions: { grantTypes: { include: ['authorization_code' as const] } } };
  await setPolicies(service, 'shop', [
    { rules: [{ conditions: { actors: { include: [api.clientId] } }, actions: { token: { accessTokenLifetimeMinutes: 5 } } }, rest] },
  ]);
  const allowed = await exchange({ subject_token: token });
  assert.equal(allowed.status, 200, JSON.stringify(allowed.body));
  assert.equal(allowed.body.expires_in, 300);
  const denied = await exchange({ subject_token: token }, site);
  assert.deepEqual([denied.status, denied.body.error], [400, 'access_denied']);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.token.grant"')}`);
  const { request, steps } = events.at(-1).debugContext.decision;
  assert.deepEqual([request.grantType, request.actor], [GRANT, site.clientId]);
  assert.deepEqual(steps.map(({ reason }: { reason: string }) => reason).slice(1, 3), [
    'the rule is for other actors',
    'the rule is for another grant type',
  ]);

  const simulate = async (more: object) => {
    const asked = { client_id: site.clientId, user: user.login, grant_type: GRANT, scopes: ['profile'], ...more };
    return (await service.api('POST', '/authorizationServers/shop/simulate', asked)).body;
  };
  assert.deepEqual((await simulate({})).refusal?.error, 'access_denied');
  const simulated = await simulate({ actor: api.clientId });
  assert.deepEqual([simulated.outcome, simulated.tokens.access_token.claims.act], ['TOKENS', { sub: api.clientId }]);
  assert.equal(simulated.lifetimes.accessTokenSeconds, 300);
  assert.equal((await simulate({ actor: 'nobody' })).errorCode, 'E0000001');
  assert.equal((await introspect(allowed.body.access_token)).active, true);

  // A deleted application is taken out of the rules: a later one of its name has nothing of it.
  await service.api('DELETE', `/apps/${api.clientId}`);
  const [policy] = (await service.api('GET', '/authorizationServers/shop/policies')).body;
  const [rule] = (await service.api('GET', `/authorizationServers/shop/policies/${policy.id}/rules`)).body;
  assert.deepEqual(rule.conditions.actors, { include: [] });
});

type Key = Awaited<ReturnType<typeof newKey>>;

async function newKey() {
  const pair = await generateKeyPair('ES256', { extractable: true });
  return { ...pair, jwk: await exportJWK(pair.publicKey) };
}

/** @returns a call of the token endpoint, with a DPoP proof if there is a key */
function provingKeys(service: Service) {
  const issuer = service.issuer('shop');
  const proof = ({ privateKey, jwk }: Key) =>
    new SignJWT({ htm: 'POST', htu: `${issuer}/token`, jti: randomUUID() })
      .setIssuedAt()
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(privateKey);
  return async ({ clientId, clientSecret }: TestClient, form: Record<string, string>, key?: Key) => {
    const headers = {
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
      ...(key && { dpop: await proof(key) }),
    };
    const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body: new URLSearchParams(form) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as JsonAnswer['body'] };
  };
}

test('bound tokens: the holder needs the same key, an API gets a token that is bound to its own', async (t) => {
  const { service, user, site, api, exchange } = await world(t);
  const by = provingKeys(service);
  const [holder, ofApi] = [await newKey(), await newKey()];
  const { refresh_token } = (await tokensFor(service, new UserAgent(service.baseUrl), user, site, { serverId: 'shop' })).body;
  const bound = (await by(site, { grant_type: 'refresh_token', refresh_token }, holder)).body.access_token;
  const form = { grant_type: GRANT, subject_token: bound, subject_token_type: ACCESS_TOKEN };
  refused(await exchange({ subject_token: bound }), 'invalid_request', /new token must be bound/);
  refused(await exchange({ subject_token: bound }, site), 'invalid_request', /signed with that key/);
  refused(await by(site, form, ofApi), 'invalid_request', /signed with that key/, 'another key');
  assert.equal((await by(site, form, holder)).body.token_type, 'DPoP');
  const { body } = await by(api, form, ofApi);
  assert.equal(body.token_type, 'DPoP', JSON.stringify(body));
  const { cnf } = decodeJwt(body.access_token) as { cnf: { jkt: string } };
  assert.equal(cnf.jkt, await calculateJwkThumbprint(ofApi.jwk));
});

test('a chain of actors ends at five', async (t) => {
  const { signIn, exchange } = await world(t);
  let token = (await signIn()).access_token;
  for (let n = 0; n < 5; n += 1) token = (await exchange({ subject_token: token })).body.access_token;
  refused(await exchange({ subject_token: token }), 'invalid_request', /more than 4/);
});

async function withProvider(
  t: Parameters<typeof startService>[0],
): Promise<World & { partner: Issuer; idp: string; sign(claims?: object): Promise<string> }> {
  const made = await world(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  const partner = await startIssuer(t);
  const { body } = await made.service.api('POST', '/idps', {
    type: 'OIDC',
    name: 'Partner',
    protocol: { issuer: { url: partner.issuer }, credentials: { client: { client_id: 'us-at-partner', client_secret: 'x'.repeat(40) } } },
    policy: { trust: { assertions: true } },
  });
  await made.service.api('POST', `/idps/${body.id}/users/${made.user.id}`, { externalId: 'ada-at-partner' });
  const sign = (claims: object = {}) => partner.sign({ sub: 'ada-at-partner', aud: 'us-at-partner', ...claims });
  return { ...made, partner, idp: body.id, sign };
}

test('ID tokens of an identity provider: trusted, for us, about a linked user who may, while it is active', async (t) => {
  const { service, user, idp, partner, sign, exchange, introspect } = await withProvider(t);
  const form = async (claims?: object) => ({ subject_token: await sign(claims), subject_token_type: ID_TOKEN });
  const { status, body } = await exchange({ ...(await form()), scope: 'profile' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([(await introspect(body.access_token)).sub, body.scope], [user.id, 'profile']);
  const short = await exchange(await form({ exp: now() + 100 }));
  assert.ok(short.body.expires_in <= 100, 'not beyond the end of the ID token');
  refused(await exchange({ ...(await form()), subject_token_type: ACCESS_TOKEN }), 'invalid_request', /its aud must be/, 'no access token');
  refused(await exchange(await form({ aud: 'another-client' })), 'invalid_request', /its aud must be/);
  refused(await exchange(await form({ aud: ['us-at-partner', 'another-client'] })), 'invalid_request', /its aud must be/);
  refused(await exchange(await form({ sub: 'somebody' })), 'invalid_request', /no user is linked/);
  refused(await exchange(await form({ exp: now() - 1 })), 'invalid_request', /expired/);
  const stranger = await startIssuer(t);
  refused(
    await exchange({ ...(await form()), subject_token: await stranger.sign({ sub: 'ada-at-partner', aud: 'us-at-partner' }) }),
    'invalid_request',
    /no active identity provider/,
  );
  refused(
    await exchange({
      ...(await form()),
      subject_token: await stranger.sign({ iss: partner.issuer, sub: 'ada-at-partner', aud: 'us-at-partner' }),
    }),
    'invalid_request',
    /no such key/,
  );

  await service.api('POST', `/idps/${idp}/lifecycle/deactivate`);
  refused(await exchange(await form()), 'invalid_request', /no active identity provider/, 'deactivated');
  await service.api('POST', `/idps/${idp}/lifecycle/activate`);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  refused(await exchange(await form()), 'invalid_request', /its user is not active/, 'suspended');
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  assert.equal((await exchange(await form())).status, 200);
  const { body: provider } = await service.api('GET', `/idps/${idp}`);
  const { type, name, protocol, policy } = provider;
  const changed = await service.api('PUT', `/idps/${idp}`, {
    type,
    name,
    protocol: { ...protocol, credentials: { client: { client_id: 'us-at-partner', client_secret: 'x'.repeat(40) } } },
    policy: { ...policy, trust: { assertions: false } },
  });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  refused(await exchange(await form()), 'invalid_request', /no active identity provider with trusted assertions/, 'not trusted');
});

test('access tokens of an identity provider: for this server alone, never for more than they are for, and bound as they are', async (t) => {
  const { service, user, api, partner, sign, exchange, introspect } = await withProvider(t);
  const aud = service.issuer('shop');
  const form = async (claims: object = {}, header: Record<string, unknown> = { typ: 'at+jwt' }) => ({
    subject_token: await partner.sign({ sub: 'ada-at-partner', aud, ...claims }, header),
    subject_token_type: ACCESS_TOKEN,
  });
  const { status, body } = await exchange({ ...(await form({ scope: 'profile orders' })), scope: 'profile' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([(await introspect(body.access_token)).sub, body.scope], [user.id, 'profile']);
  assert.equal((await exchange(await form({}, {}))).body.scope, '', 'without a scope of its own');
  refused(await exchange({ ...(await form({ scope: 'profile' })), scope: 'email' }), 'invalid_scope', /subject token does not have it/);
  refused(await exchange({ ...(await form()), subject_token_type: ID_TOKEN }), 'invalid_request', /another kind/);
  for (const other of [service.issuer('default'), 'us-at-partner', ['https://api.partner.example', aud]])
    refused(await exchange(await form({ aud: other })), 'invalid_request', /its aud must be/, String(other));
  refused(await exchange(await form({ sub: 'machine-at-partner' })), 'invalid_request', /no user is linked/);
  // Many access tokens have the type of any JWT. Their scope counts there, too.
  const asJwt = { ...(await form({ scope: 'profile' }, { typ: 'JWT' })), subject_token_type: `${TYPE}jwt` };
  assert.equal((await exchange(asJwt)).body.scope, 'profile');
  refused(await exchange({ ...asJwt, scope: 'email' }), 'invalid_scope', /subject token does not have it/, 'as another JWT');

  for (const cnf of [{ kid: '1' }, { jkt: 1, 'x5t#S256': 'certificate' }])
    refused(await exchange(await form({ cnf })), 'invalid_request', /its cnf must have/);
  const [holder, thief] = [await newKey(), await newKey()];
  const cnf = { jkt: await calculateJwkThumbprint(holder.jwk) };
  const by = provingKeys(service);
  for (const bound of [await form({ cnf }), { subject_token: await sign({ cnf }), subject_token_type: ID_TOKEN }]) {
    const presented = { grant_type: GRANT, ...bound };
    refused(await by(api, presented), 'invalid_request', /signed with that key/, 'no key');
    refused(await by(api, presented, thief), 'invalid_request', /signed with that key/, 'another key');
    const { status: ofHolder, body: given } = await by(api, presented, holder);
    assert.deepEqual([ofHolder, given.token_type], [200, 'DPoP'], JSON.stringify(given));
  }
});

test('openid-client and oauth4webapi exchange tokens; discovery names the grant', async (t) => {
  const { service, user, api, signIn } = await world(t);
  const { access_token: token } = await signIn();
  const { clientId, clientSecret = '' } = api;
  const config = await client.discovery(new URL(service.issuer('shop')), clientId, clientSecret, undefined, {
    execute: [client.allowInsecureRequests],
  });
  assert.ok(config.serverMetadata().grant_types_supported?.includes(GRANT));
  const exchanged = await client.genericGrantRequest(config, GRANT, {
    subject_token: token,
    subject_token_type: ACCESS_TOKEN,
    resource: STOCK,
  });
  assert.equal(exchanged.issued_token_type, ACCESS_TOKEN);
  assert.deepEqual((await client.tokenIntrospection(config, exchanged.access_token)).act, { sub: clientId });

  const issuer = new URL(service.issuer('shop'));
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { [oauth.allowInsecureRequests]: true }),
  );
  const response = await oauth.genericTokenEndpointRequest(
    server,
    { client_id: clientId },
    oauth.ClientSecretPost(clientSecret),
    GRANT,
    new URLSearchParams({ subject_token: token, subject_token_type: ACCESS_TOKEN, audience: STOCK }),
    { [oauth.allowInsecureRequests]: true },
  );
  const result = await oauth.processGenericTokenEndpointResponse(server, { client_id: clientId }, response);
  assert.equal(decodeJwt(result.access_token).sub, user.id);
});
