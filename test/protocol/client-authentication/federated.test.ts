/** Workload identity: tokens of Kubernetes, GitHub Actions and SPIFFE authenticate an application without a secret (RFC 7523 section 2.2). */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import * as client from 'openid-client';
import { now, startIssuer } from '../../support/issuer.ts';
import { type Service, startService } from '../../support/service.ts';
import type { JsonAnswer } from '../servers/relying-party.ts';

const LOCAL = { ALLOW_PRIVATE_NETWORK: 'true' };
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const MAIN = 'repo:octo-org/octo-repo:ref:refs/heads/main';

async function post(
  service: Service,
  endpoint: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const response = await fetch(`${service.issuer('default')}/${endpoint}`, { method: 'POST', headers, body: new URLSearchParams(form) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const proving = (clientId: string, assertion: string) => ({
  client_id: clientId,
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: assertion,
});

const ask = (service: Service, clientId: string, assertion: string) =>
  post(service, 'token', { grant_type: 'client_credentials', ...proving(clientId, assertion) });

/** A machine without a secret. */
const workload = (service: Service, federated: object[], method = 'private_key_jwt') =>
  service.createApp(
    { application_type: 'service', grant_types: ['client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'] },
    { token_endpoint_auth_method: method, federated },
  );

/** What GitHub writes into the tokens of a workflow. */
const workflow = (service: Service, claims: Record<string, unknown> = {}) => ({
  sub: MAIN,
  aud: service.issuer('default'),
  nbf: now() - 5,
  repository: 'octo-org/octo-repo',
  ...claims,
});

async function github(t: Parameters<typeof startIssuer>[0], env: Record<string, string> = LOCAL) {
  const service = await startService(t, { env });
  const actions = await startIssuer(t);
  const trusted = { issuer: actions.issuer, subject: 'repo:octo-org/octo-repo:*', audience: service.issuer('default') };
  const { clientId } = await workload(service, [trusted]);
  return { service, actions, clientId, trusted };
}

const refusedFor = async (service: Service, clientId: string, assertion: string, reason: RegExp): Promise<void> => {
  const { status, body, headers } = await ask(service, clientId, assertion);
  assert.deepEqual([status, body.error], [401, 'invalid_client'], JSON.stringify(body));
  assert.match(body.error_description, reason);
  assert.match(headers.get('www-authenticate') ?? '', /^Basic /);
};

test('GitHub Actions: the token of a workflow authenticates at every endpoint, again and again until it expires', async (t) => {
  const { service, actions, clientId } = await github(t);
  const assertion = await actions.sign(workflow(service), { typ: 'JWT' });
  const { status, body } = await ask(service, clientId, assertion);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await ask(service, clientId, assertion)).status, 200, 'the same token again');
  const told = await post(service, 'introspect', { token: body.access_token, ...proving(clientId, assertion) });
  assert.deepEqual([told.body.active, told.body.client_id], [true, clientId]);
  const device = await post(service, 'device_authorization', { scope: 'openid', ...proving(clientId, assertion) });
  assert.equal(device.status, 200, JSON.stringify(device.body));
  assert.equal((await post(service, 'revoke', { token: body.access_token, ...proving(clientId, assertion) })).status, 200);
  assert.equal((await post(service, 'introspect', { token: body.access_token, ...proving(clientId, assertion) })).body.active, false);
  // Discovery and keys are fetched once.
  assert.deepEqual([...actions.calls.values()], [1, 1]);
});

test('a token that is not exactly what was trusted is refused, and the answer and the audit log say why', async (t) => {
  const { service, actions, clientId } = await github(t);
  const sign = (claims: Record<string, unknown>, header?: Record<string, unknown>) => actions.sign(workflow(service, claims), header);
  const refusals: [what: string, assertion: string, reason: RegExp][] = [
    ['another repository', await sign({ sub: 'repo:octo-org/other:ref:refs/heads/main' }), /trusts no such issuer and subject/],
    ['a repository whose name begins alike', await sign({ sub: 'repo:octo-org/octo-repo-fork:ref:main' }), /no such issuer and subject/],
    ['nothing in the place of the *', await sign({ sub: 'repo:octo-org/octo-repo:' }), /no such issuer and subject/],
    ['for another service', await sign({ aud: 'https://other.example' }), /its aud must be/],
    ['for another service, too', await sign({ aud: [service.issuer('default'), 'https://other.example'] }), /its aud must be/],
    ['without an audience', await sign({ aud: undefined }), /its aud is missing or wrong/],
    ['over', await sign({ exp: now() - 1 }), /expired/],
    ['for ever', await sign({ exp: undefined }), /its exp is missing/],
    ['for too long', await sign({ exp: now() + 90_000 }), /more than 24 hours/],
    ['not yet', await sign({ nbf: now() + 120 }), /its nbf/],
    ['of the future', await sign({ iat: now() + 120 }), /its iat/],
    ['an access token', await sign({}, { typ: 'at+jwt' }), /another kind/],
    ['signed by an unknown key', await sign({}, { kid: 'unknown' }), /no such key/],
  ];
  for (const [what, assertion, reason] of refusals) await t.test(what, () => refusedFor(service, clientId, assertion, reason));
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "app.oauth2.as.token.grant"')}`);
  assert.ok(
    events.some((event: { outcome: { result: string; reason: string } }) => /client assertion is refused/.test(event.outcome.reason ?? '')),
    JSON.stringify(events.map((event: { outcome: object }) => event.outcome)),
  );
});

test('unsigned, signed with the public key as a secret, and signed by somebody else (RFC 8725 section 2.1)', async (t) => {
  const { service, actions, clientId } = await github(t);
  const claims = { iss: actions.issuer, ...workflow(service), exp: now() + 60 };
  const [jwk] = actions.jwks.keys;
  const secret = new TextEncoder().encode(await exportSPKI(createPublicKey({ key: jwk as never, format: 'jwk' }) as never));
  await refusedFor(service, clientId, new UnsecuredJWT(claims).encode(), /must be signed by/);
  const confused = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: jwk?.kid ?? '' }).sign(secret);
  await refusedFor(service, clientId, confused, /must be signed by/);
  const stranger = await startIssuer(t);
  const forged = await stranger.sign({ ...claims }, { kid: jwk?.kid });
  await refusedFor(service, clientId, forged, /signature is wrong/);
  assert.equal(stranger.calls.size, 0, 'the keys are those of the issuer that is trusted');
});

test('a token is worth nothing for another application, and is no second way beside a secret', async (t) => {
  const { service, actions, clientId, trusted } = await github(t);
  const assertion = await actions.sign(workflow(service));
  const { clientId: other } = await workload(service, [{ ...trusted, subject: 'repo:octo-org/other:*' }]);
  await refusedFor(service, other, assertion, /no such issuer and subject/);
  const { clientId: closed } = await service.createApp({ application_type: 'service' });
  assert.equal((await ask(service, closed, assertion)).body.error, 'invalid_request', 'an application that trusts no other issuer');

  const { clientId: both, clientSecret = '' } = await workload(service, [trusted], 'client_secret_basic');
  const header = { authorization: `Basic ${Buffer.from(`${both}:${clientSecret}`).toString('base64')}` };
  assert.equal((await ask(service, both, assertion)).status, 200, 'beside a secret, to change from one to the other');
  assert.equal((await post(service, 'token', { grant_type: 'client_credentials' }, header)).status, 200);
  const twice = await post(service, 'token', { grant_type: 'client_credentials', ...proving(both, assertion) }, header);
  assert.deepEqual([twice.status, twice.body.error], [400, 'invalid_request']);
  // Without an assertion the application has nothing to prove itself by.
  const secretless = await post(service, 'token', { grant_type: 'client_credentials', client_id: clientId, client_secret: 'x'.repeat(43) });
  assert.equal(secretless.body.error, 'invalid_client');
});

test('Kubernetes: a service account of an issuer that cannot be reached, whose keys are given; SPIFFE by the address of its keys', async (t) => {
  const service = await startService(t, { env: LOCAL });
  const audience = service.issuer('default');
  const cluster = await startIssuer(t, { alg: 'RS256' });
  const kubernetes = 'https://kubernetes.default.svc.cluster.local';
  const subject = 'system:serviceaccount:payments:worker';
  const { clientId } = await workload(service, [{ issuer: kubernetes, subject, audience, jwks: cluster.jwks }]);
  const pod = { iss: kubernetes, sub: subject, aud: [audience], nbf: now(), 'kubernetes.io': { namespace: 'payments' } };
  assert.equal((await ask(service, clientId, await cluster.sign(pod))).status, 200);
  await refusedFor(service, clientId, await cluster.sign({ ...pod, sub: `${subject}-2` }), /no such issuer and subject/);
  assert.equal(cluster.calls.size, 0);

  const domain = await startIssuer(t, { alg: 'ES256', path: '/spire' });
  const spiffe = { issuer: domain.issuer, subject: 'spiffe://example.org/ns/payments/*', audience };
  const { clientId: byAddress } = await workload(service, [{ ...spiffe, jwks_uri: new URL('/jwks', domain.issuer).href }]);
  const svid = await domain.sign({ sub: 'spiffe://example.org/ns/payments/sa/worker', aud: audience }, { typ: 'JOSE' });
  assert.equal((await ask(service, byAddress, svid)).status, 200);
  assert.deepEqual([...domain.calls.keys()], ['/jwks']);
});

test('keys that cannot be fetched: 503, until they can; a discovery document of somebody else counts for nothing', async (t) => {
  const { service, actions, clientId } = await github(t);
  const assertion = await actions.sign(workflow(service));
  const away = async (what: string): Promise<void> => {
    const { status, body, headers } = await ask(service, clientId, assertion);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable'], what);
    assert.match(body.error_description, /the keys of http:\/\/127\.0\.0\.1:\d+ cannot be fetched/);
    assert.ok(headers.get('retry-after'));
  };
  actions.behaviour.down = true;
  await away('down');
  actions.behaviour.down = false;
  actions.behaviour.discovery = { issuer: 'https://other.example' };
  await away('of another issuer');
  actions.behaviour.discovery = { jwks_uri: 'http://keys.example/jwks' };
  await away('keys at an address that may not be called');
  actions.behaviour.discovery = {};
  assert.equal((await ask(service, clientId, assertion)).status, 200);
});

test('an issuer at a private address is not called without ALLOW_PRIVATE_NETWORK (server-side request forgery)', async (t) => {
  const { service, actions, clientId } = await github(t, {});
  assert.equal((await ask(service, clientId, await actions.sign(workflow(service)))).status, 503);
  assert.equal(actions.calls.size, 0);
});

test('openid-client: client credentials with a token from a file', async (t) => {
  const { service, actions, clientId } = await github(t);
  const file = await actions.sign(workflow(service));
  const authenticate: client.ClientAuth = (_server, { client_id: id }, body) => {
    body.set('client_id', id);
    body.set('client_assertion_type', ASSERTION_TYPE);
    body.set('client_assertion', file);
  };
  const config = await client.discovery(new URL(service.issuer('default')), clientId, undefined, authenticate, {
    execute: [client.allowInsecureRequests],
  });
  const { access_token: token } = await client.clientCredentialsGrant(config);
  assert.equal((await client.tokenIntrospection(config, token)).client_id, clientId);
});

test('credentials that would let in too many, or that contradict other settings, are refused by name', async (t) => {
  const service = await startService(t);
  const trusted = { issuer: 'https://issuer.example', subject: 'a:b', audience: 'https://service.example' };
  for (const [federated, credentials, settings, field] of [
    [[{ ...trusted, subject: '*' }], {}, {}, 'federated\\[0\\]\\.subject|federated\\.0\\.subject'],
    [[{ ...trusted, subject: 'repo:octo*' }], {}, {}, 'subject'],
    [[{ ...trusted, subject: 'repo:*:ref' }], {}, {}, 'subject'],
    [[{ ...trusted, issuer: 'http://issuer.example' }], {}, {}, 'issuer'],
    [[{ ...trusted, audience: '' }], {}, {}, 'audience'],
    [[{ ...trusted, jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }], {}, {}, 'jwks'],
    [
      [{ ...trusted, jwks_uri: 'https://issuer.example/keys', jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }] } }],
      {},
      {},
      'jwks_uri',
    ],
    [Array.from({ length: 21 }, (_, n) => ({ ...trusted, subject: `a:${n}` })), {}, {}, 'federated'],
    [
      [trusted],
      { token_endpoint_auth_method: 'none' },
      { grant_types: ['authorization_code'], redirect_uris: ['https://a.example/'] },
      'federated',
    ],
    [[trusted], {}, { profile: 'fapi2' }, 'federated'],
    [[], { token_endpoint_auth_method: 'private_key_jwt' }, {}, 'jwks'],
  ] as const) {
    const { status, body } = await service.api('POST', '/apps', {
      name: 'oidc_client',
      label: 'Machine',
      signOnMode: 'OPENID_CONNECT',
      credentials: { oauthClient: { ...credentials, federated } },
      settings: { oauthClient: { application_type: 'service', ...settings } },
    });
    assert.equal(status, 400, JSON.stringify([federated, credentials, settings]));
    assert.match(JSON.stringify(body.errorCauses ?? body), new RegExp(field));
  }
});
