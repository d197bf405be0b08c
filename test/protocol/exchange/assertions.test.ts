/** The JWT bearer grant (RFC 7523 section 2.1): assertions of trusted identity providers, each used once by all processes, and those that are refused. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { calculateJwkThumbprint, decodeJwt, exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import pg from 'pg';
import { MODELS } from '../../../src/protocol/storage/protocol-state.store.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { moveClock } from '../../support/clock.ts';
import { startDns } from '../../support/dns.ts';
import { now, startIssuer } from '../../support/issuer.ts';
import { type Service, startService, startTwo } from '../../support/service.ts';
import { connect, createOrg, verifyDomainOf } from '../../support/tenants.ts';
import { trustProvider } from '../../support/trusted-provider.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { type JsonAnswer, post, type TestClient } from '../servers/relying-party.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const [SHOP, STOCK] = ['https://shop.example', 'https://stock.example'] as const;
const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };
const ID_JAG = { typ: 'oauth-id-jag+jwt' };

async function world(t: TestContext, service: Service) {
  const partner = await startIssuer(t);
  const { id: idp, user } = await trustProvider(service, partner.issuer, 'ada');
  await service.api('POST', '/authorizationServers', { id: 'shop', name: 'Shop', audiences: [SHOP, STOCK] });
  const app = await service.createApp({ application_type: 'service', grant_types: [GRANT] });
  const audience = service.issuer('shop');
  const sign = (claims: object = {}, header?: Record<string, unknown>) => partner.sign({ sub: 'ada', aud: audience, ...claims }, header);
  const grant = (assertion: string, form: Record<string, string> = {}, by: TestClient = app, at: Pick<Service, 'issuer'> = service) =>
    post(at as Service, 'shop', 'token', by, { grant_type: GRANT, assertion, ...form });
  return { service, partner, idp, user, app, audience, sign, grant };
}

const refused = ({ status, body }: JsonAnswer, error: string, reason: RegExp, what = ''): void => {
  assert.deepEqual([status, body.error], [400, error], `${what}: ${JSON.stringify(body)}`);
  assert.match(body.error_description, reason, what);
};

const eventsOf = async (service: Service, type: string) =>
  (await service.api('GET', `/logs?filter=${encodeURIComponent(`eventType eq "${type}"`)}`)).body;

test('an assertion of a trusted identity provider gets an access token for its linked user, once', async (t) => {
  const { service, partner, idp, user, app, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const assertion = await sign();
  const { status, body } = await grant(assertion, { scope: 'profile', resource: STOCK });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.token_type, body.scope, body.refresh_token, body.id_token], ['Bearer', 'profile', undefined, undefined]);
  const told = (await post(service, 'shop', 'introspect', app, { token: body.access_token })).body;
  assert.deepEqual([told.active, told.sub, told.client_id, told.aud, told.act], [true, user.id, app.clientId, STOCK, undefined]);
  refused(await grant(assertion), 'invalid_grant', /already used/);
  const other = await sign();
  refused(await grant(other, { scope: 'nonsense' }), 'invalid_scope', /does not exist/);
  refused(await grant(other, { resource: 'https://other.example' }), 'invalid_target', /does not have a requested audience/);
  assert.equal((await grant(other)).status, 200, 'what was refused for another reason was not used');
  assert.equal((await grant(await sign({ aud: `${service.issuer('shop')}/token` }))).status, 200, 'for the token endpoint');
  const [event, ...further] = await eventsOf(service, 'app.oauth2.as.token.assertion');
  assert.equal(further.length, 2);
  assert.deepEqual(
    event.target.map(({ id }: { id: string }) => id),
    [user.id, app.clientId, 'shop'],
  );
  for (const word of [partner.issuer, idp]) assert.ok(JSON.stringify(event.debugContext).includes(word), word);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  assert.equal((await post(service, 'shop', 'introspect', app, { token: body.access_token })).body.active, false, 'suspended');
});

test('of forty uses of one assertion at two processes one succeeds (RFC 7523 section 3)', async (t) => {
  const [first, second] = await startTwo(t, LOCAL);
  const { sign, grant, app } = await world(t, first);
  const exp = now() + 100;
  const assertion = await sign({ exp });
  const uses = await Promise.all(Array.from({ length: 40 }, (_, n) => grant(assertion, {}, app, n % 2 === 0 ? first : second)));
  assert.equal(uses.filter(({ status }) => status === 200).length, 1);
  for (const answer of uses.filter(({ status }) => status !== 200)) refused(answer, 'invalid_grant', /already used/);
  const db = new pg.Client(first.database.connection);
  await db.connect();
  const { rows } = await db.query('SELECT extract(epoch FROM expires_at)::integer AS until FROM oidc_payload WHERE model = $1', [
    MODELS.ReplayDetection,
  ]);
  await db.end();
  assert.deepEqual(rows, [{ until: exp }], 'it is remembered until it expires');
});

test('assertions that are not exactly right are refused, with the reason', async (t) => {
  const { service, partner, app, audience, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const [jwk] = partner.jwks.keys;
  const claims = { iss: partner.issuer, sub: 'ada', aud: audience, exp: now() + 60, jti: 'one' };
  const secret = new TextEncoder().encode(await exportSPKI((await importJWK(jwk ?? {}, 'RS256')) as Parameters<typeof exportSPKI>[0]));
  const stranger = await startIssuer(t);
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['for another server', await sign({ aud: service.issuer('default') }), /its aud must be/],
    ['for another server, too', await sign({ aud: [audience, 'https://other.example'] }), /its aud must be/],
    ['an ID token for us', await sign({ aud: 'us-at-partner' }), /its aud must be/],
    ['expired', await sign({ exp: now() - 1 }), /expired/],
    ['without an end', await sign({ exp: undefined }), /exp is missing/],
    ['for too long', await sign({ exp: now() + 90_000 }), /more than 24 hours/],
    ['from the future', await sign({ iat: now() + 300 }), /iat is/],
    ['not valid yet', await sign({ nbf: now() + 300 }), /nbf is/],
    ['without a jti', await sign({ jti: undefined }), /jti is missing/],
    ['about nobody', await sign({ sub: undefined }), /sub is missing/],
    ['about a stranger', await sign({ sub: 'somebody' }), /no user is linked/],
    ['made for another application', await sign({ client_id: 'another' }), /client_id must be the application/],
    ['of a tenant', await sign({ tenant: 'acme' }), /tenant is not supported/],
    [
      'with details that are none',
      await sign({ authorization_details: { type: 'payment' } }),
      /authorization_details must be a JSON array/,
    ],
    ['with a detail of no type', await sign({ authorization_details: [{ amount: 7 }] }), /authorization_details 0: type must be a string/],
    ['with a wrong scope', await sign({ scope: ['profile'] }), /scope must be a string/],
    ['with a wrong resource', await sign({ resource: 7 }), /resource must be/],
    ['an access token', await sign({}, { typ: 'at+jwt' }), /another kind/],
    ['unsigned', new UnsecuredJWT(claims).encode(), /must be signed by/],
    [
      'signed by a secret',
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: jwk?.kid ?? '' }).sign(secret),
      /must be signed by/,
    ],
    ['signed by another', await stranger.sign(claims), /no such key/],
    ['of an unknown issuer', await stranger.sign({ ...claims, iss: stranger.issuer }), /no active identity provider/],
    ['of this service', await stranger.sign({ ...claims, iss: service.issuer('default') }), /issued by this service/],
    ['nonsense', 'nonsense', /no active identity provider/],
    ['an ID-JAG for the token endpoint', await sign({ aud: `${audience}/token`, client_id: app.clientId }, ID_JAG), /its aud must be/],
    ['an ID-JAG for nobody', await sign({}, ID_JAG), /client_id is missing/],
    ['an ID-JAG without iat', await sign({ client_id: app.clientId, iat: undefined }, ID_JAG), /iat is missing/],
  ];
  for (const [what, assertion, reason] of cases) refused(await grant(assertion), 'invalid_grant', reason, what);
  refused(await post(service, 'shop', 'token', app, { grant_type: GRANT }), 'invalid_request', /assertion/);
  const events = await eventsOf(service, 'app.oauth2.as.token.grant');
  assert.match(JSON.stringify(events), /assertion: its aud must be/, 'the reason is in the system log');
});

test('authorization details of an assertion limit the token, and an issuer does not consent for the user (RFC 9396)', async (t) => {
  const { service, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const accounts = { type: 'accounts', actions: ['list', 'balance'] };
  const less = { ...accounts, actions: ['list'] };
  await service.api('POST', '/authorizationServers/shop/authorizationDetailTypes', { name: 'accounts', displayName: 'Accounts' });
  const settings = { application_type: 'service', grant_types: [GRANT], authorization_details_types: ['accounts'] };
  const [trusted, other] = [await service.createApp(settings), await service.createApp({ ...settings, consent_method: 'REQUIRED' })];
  const given = { authorization_details: [accounts] };
  const all = await grant(await sign(given), {}, trusted);
  assert.deepEqual([all.status, all.body.authorization_details], [200, [accounts]], JSON.stringify(all.body));
  const asked = await grant(await sign(given), { authorization_details: JSON.stringify([less]) }, trusted);
  assert.deepEqual([asked.status, asked.body.authorization_details], [200, [less]]);
  const wider = { authorization_details: JSON.stringify([{ ...accounts, actions: ['close'] }]) };
  refused(await grant(await sign(given), wider, trusted), 'invalid_authorization_details', /more than was granted/);
  refused(await grant(await sign({ authorization_details: [] }), wider, trusted), 'invalid_authorization_details', /more than was granted/);
  const unknown = await sign({ authorization_details: [{ type: 'shares' }] });
  refused(await grant(unknown, {}, trusted), 'invalid_authorization_details', /does not have this type/);
  refused(await grant(await sign(given), {}, other), 'invalid_authorization_details', /without the user's consent/);
  await setPolicies(service, 'shop', [{ rules: [{ conditions: { authorizationDetails: { include: [] } } }] }]);
  assert.equal((await grant(await sign(given), {}, trusted)).body.error, 'access_denied');
  assert.equal((await grant(await sign(), {}, trusted)).status, 200);
});

test('several providers of one issuer: the audience names one, or all of them know the same user', async (t) => {
  const { service, partner, idp, user, app, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const further = async (name: string, clientId: string) => {
    const credentials = { client: { client_id: clientId, client_secret: 'x'.repeat(40) } };
    const { body } = await service.api('POST', '/idps', {
      ...{ type: 'OIDC', name, policy: { trust: { assertions: true } } },
      protocol: { issuer: { url: partner.issuer }, credentials },
    });
    return body.id as string;
  };
  const link = async (id: string, userId: string, externalId = 'ada') =>
    assert.ok((await service.api('POST', `/idps/${id}/users/${userId}`, { externalId })).status < 300);
  const subjectOf = async (token: string) => (await post(service, 'shop', 'introspect', app, { token })).body.sub;
  const second = await further('Second', 'us-again');
  const bob = await service.createUser();
  await link(second, bob.id, 'bob');
  assert.equal(await subjectOf((await grant(await sign({ sub: 'bob' }))).body.access_token), bob.id, 'known by the younger one alone');
  assert.equal(await subjectOf((await grant(await sign())).body.access_token), user.id);
  const third = await further('Third', 'us-once-more');
  await link(third, user.id);
  assert.equal((await grant(await sign())).status, 200, 'both know the same user');
  const fourth = await further('Fourth', 'us-at-last');
  const eve = await service.createUser();
  await link(fourth, eve.id);
  refused(await grant(await sign()), 'invalid_grant', /several identity providers.*different users/);
  await service.api('POST', `/users/${user.id}/lifecycle/suspend`);
  refused(await grant(await sign()), 'invalid_grant', /different users/, 'a user who may not sign in still counts');
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);

  const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const api = await service.createApp({ application_type: 'service', grant_types: [EXCHANGE] });
  const exchange = async (aud: string) =>
    post(service, 'shop', 'token', api, {
      ...{ grant_type: EXCHANGE, subject_token: await sign({ aud }) },
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    });
  assert.equal(await subjectOf((await exchange('us-at-partner')).body.access_token), user.id);
  assert.equal(await subjectOf((await exchange('us-at-last')).body.access_token), eve.id);
  assert.equal((await exchange('us-again')).status, 400, 'to this one the subject is nobody');
  await service.api('POST', `/idps/${fourth}/lifecycle/deactivate`);
  assert.equal((await grant(await sign())).status, 200, `one that is not active does not count, ${idp}`);
  assert.equal((await exchange('us-at-last')).status, 400);
});

test('users, providers, applications and policies that say no', async (t) => {
  const { service, partner, idp, user, app, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const without = await service.createApp({ application_type: 'service' });
  assert.equal((await grant(await sign(), {}, without)).body.error, 'unauthorized_client');
  const settings = { application_type: 'browser', redirect_uris: ['https://app.example/'], grant_types: ['authorization_code', GRANT] };
  const open = await service.api('POST', '/apps', { label: 'Public', settings: { oauthClient: settings } });
  assert.match(JSON.stringify(open.body), /must not be none with token exchange or JWT bearer/);

  for (const [path, back] of [
    [`/users/${user.id}/lifecycle/suspend`, `/users/${user.id}/lifecycle/unsuspend`],
    [`/users/${user.id}/lifecycle/deactivate`, `/users/${user.id}/lifecycle/activate?sendEmail=false`],
    [`/idps/${idp}/lifecycle/deactivate`, `/idps/${idp}/lifecycle/activate`],
  ] as const) {
    assert.ok((await service.api('POST', path)).status < 300, path);
    refused(await grant(await sign()), 'invalid_grant', /is not active|no active identity provider/, path);
    assert.ok((await service.api('POST', back)).status < 300, back);
  }
  assert.equal((await grant(await sign())).status, 200);

  const demanding = await service.createApp({ application_type: 'service', grant_types: [GRANT], mfa_required: true });
  refused(await grant(await sign({ amr: ['pwd'] }), {}, demanding), 'invalid_grant', /second factor/);
  assert.equal((await grant(await sign({ amr: ['pwd', 'otp', 'mfa'] }), {}, demanding)).status, 200, 'the provider asked for one');
  const closed = await service.createApp({ application_type: 'service', grant_types: [GRANT], assignment: 'ASSIGNED' });
  assert.equal((await grant(await sign(), {}, closed)).body.error, 'access_denied');
  const [email] = (await service.api('GET', '/authorizationServers/shop/scopes?q=email')).body;
  const scope = { name: 'email', displayName: email.displayName, consent: 'REQUIRED' };
  await service.api('PUT', `/authorizationServers/shop/scopes/${email.id}`, scope);
  const asking = await service.createApp({ application_type: 'service', grant_types: [GRANT], consent_method: 'REQUIRED' });
  refused(await grant(await sign(), { scope: 'email' }, asking), 'invalid_scope', /requires the consent of the user/);
  assert.equal((await grant(await sign({ scope: 'email profile' }), {}, asking)).body.scope, 'profile', 'a provider does not consent');

  await setPolicies(service, 'shop', [{ rules: [{ conditions: { grantTypes: { include: ['client_credentials'] } } }] }]);
  assert.equal((await grant(await sign())).body.error, 'access_denied');
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.token.grant"')}`);
  assert.equal(events.at(-1).debugContext.decision.request.grantType, GRANT);
  const simulate = async () =>
    (await service.api('POST', '/authorizationServers/shop/simulate', { client_id: app.clientId, user: user.login, grant_type: GRANT }))
      .body;
  assert.equal((await simulate()).refusal.error, 'access_denied');
  await setPolicies(service, 'shop', [{ rules: [{ conditions: { grantTypes: { include: [GRANT] } } }] }]);
  assert.equal((await grant(await sign())).status, 200);
  const allowed = await simulate();
  assert.deepEqual([allowed.outcome, allowed.tokens.id_token], ['TOKENS', null]);

  partner.behaviour.down = true;
  assert.equal((await grant(await sign())).status, 200, 'the keys are cached');
  moveClock(t, 700);
  const late = await sign({ iat: now() + 700, exp: now() + 1000 });
  assert.deepEqual([(await grant(late)).status, (await grant(late)).body.error], [503, 'temporarily_unavailable']);
});

test('an assertion limits the token: scope, resource, and the key that it is bound to', async (t) => {
  const { service, app, sign, grant } = await world(t, await startService(t, { env: LOCAL }));
  const limited = await sign({ scope: 'profile unknown', resource: [STOCK, 'https://unknown.example'] });
  refused(await grant(limited, { scope: 'profile email' }), 'invalid_scope', /not in the assertion/);
  refused(await grant(limited, { resource: SHOP }), 'invalid_target', /not granted/);
  const { body } = await grant(limited);
  assert.deepEqual([body.scope, decodeJwt(body.access_token).aud], ['profile', STOCK]);
  refused(await grant(await sign({ resource: 'https://unknown.example' })), 'invalid_target', /no longer has/);

  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const cnf = { jkt: await calculateJwkThumbprint(await exportJWK(publicKey)) };
  refused(await grant(await sign({ cnf })), 'invalid_grant', /bound to a key/);
  refused(await grant(await sign({ cnf: {} })), 'invalid_grant', /bound to a key/);
  const config = await client.discovery(new URL(service.issuer('shop')), app.clientId, app.clientSecret ?? '', undefined, {
    execute: [client.allowInsecureRequests],
  });
  const by = (pair: Parameters<typeof client.getDPoPHandle>[1]) => ({ DPoP: client.getDPoPHandle(config, pair) });
  const other = await client.randomDPoPKeyPair('ES256');
  const assertion = await sign({ cnf });
  await assert.rejects(client.genericGrantRequest(config, GRANT, { assertion }, by(other)), { error: 'invalid_grant' });
  const tokens = await client.genericGrantRequest(config, GRANT, { assertion }, by({ publicKey, privateKey }));
  assert.equal(tokens.token_type, 'dpop');
  assert.deepEqual(decodeJwt(tokens.access_token).cnf, cnf);
});

test('openid-client and oauth4webapi present assertions; discovery names the grant', async (t) => {
  const { service, user, app, sign } = await world(t, await startService(t, { env: LOCAL }));
  const { clientId, clientSecret = '' } = app;
  const issuer = new URL(service.issuer('shop'));
  const config = await client.discovery(issuer, clientId, clientSecret, undefined, { execute: [client.allowInsecureRequests] });
  assert.ok(config.serverMetadata().grant_types_supported?.includes(GRANT));
  const tokens = await client.genericGrantRequest(config, GRANT, { assertion: await sign(), scope: 'profile' });
  assert.equal((await client.tokenIntrospection(config, tokens.access_token)).sub, user.id);

  const insecure = { [oauth.allowInsecureRequests]: true };
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const form = new URLSearchParams({ assertion: await sign(), resource: STOCK });
  const application = { client_id: clientId };
  const response = await oauth.genericTokenEndpointRequest(
    server,
    application,
    oauth.ClientSecretPost(clientSecret),
    GRANT,
    form,
    insecure,
  );
  const result = await oauth.processGenericTokenEndpointResponse(server, application, response);
  assert.deepEqual([decodeJwt(result.access_token).sub, decodeJwt(result.access_token).aud], [user.id, STOCK]);
});

test('a user whose organization requires another identity provider gets nothing by this one', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const { service, idp, user, sign, grant } = await world(t, await startService(t, { env: { ...LOCAL, DNS_SERVERS: dns.server } }));
  assert.equal((await grant(await sign())).status, 200);
  const orgId = await createOrg(service, 'Acme');
  await verifyDomainOf(service, dns, orgId, 'acme.example');
  const own = await startUpstream(t);
  const required = await createIdp(service, { ...idpBody(own, { accountLink: { action: 'AUTO' } }), name: 'Acme Login' });
  await connect(service, orgId, required, { domains: ['acme.example'], mode: 'REQUIRED' });
  assert.equal((await grant(await sign())).status, 200, 'of another domain');
  const { profile } = (await service.api('GET', `/users/${user.id}`)).body;
  await service.api('PUT', `/users/${user.id}`, { profile: { ...profile, email: 'ada@acme.example' } });
  refused(await grant(await sign()), 'invalid_grant', /must sign in with another identity provider/);
  await service.api('DELETE', `/account/org/${orgId}/idp/${required}`);
  await service.api('PUT', `/idps/${idp}`, {
    ...(await service.api('GET', `/idps/${idp}`)).body,
    policy: { trust: { assertions: true }, accountLink: { action: 'AUTO' } },
  });
  await connect(service, orgId, idp, { domains: ['acme.example'], mode: 'REQUIRED' });
  assert.equal((await grant(await sign())).status, 200, 'it is the required one');
});
