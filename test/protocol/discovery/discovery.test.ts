/** What a server says of itself: OpenID Connect Discovery 1.0, RFC 8414, RFC 7517. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { createClient, post } from '../servers/relying-party.ts';

const json = async (address: string): Promise<Record<string, unknown>> => (await fetch(address)).json() as Promise<Record<string, unknown>>;

/** fetch does not let a test choose the Host header. */
function getAs(host: string, address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get(address, { headers: { host, 'x-forwarded-host': host } }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
}

test('discovery in its four forms tells the same, on both servers (RFC 8414 section 3, OpenID Connect Discovery section 4)', async (t) => {
  const service = await startService(t);
  for (const [serverId, path] of [
    ['built-in', '/oauth/v1'],
    ['default', '/oauth/v1/default'],
  ] as const) {
    const issuer = service.issuer(serverId);
    const forms = [
      `${issuer}/.well-known/openid-configuration`,
      `${issuer}/.well-known/oauth-authorization-server`,
      `${service.baseUrl}/.well-known/oauth-authorization-server${path}`,
      `${service.baseUrl}/.well-known/openid-configuration${path}`,
    ];
    const documents = await Promise.all(forms.map(json));
    const [document = {}] = documents;
    assert.deepEqual(documents, [document, document, document, document]);
    assert.equal(document.issuer, issuer);
    const endpoints = {
      authorization: 'authorize',
      token: 'token',
      introspection: 'introspect',
      revocation: 'revoke',
      userinfo: 'userinfo',
      end_session: 'logout',
      pushed_authorization_request: 'par',
    };
    for (const [name, last] of Object.entries(endpoints)) assert.equal(document[`${name}_endpoint`], `${issuer}/${last}`);
    assert.equal(document.jwks_uri, `${issuer}/keys`);
    assert.equal((document.response_types_supported as string[]).length, 7);
    assert.deepEqual(document.code_challenge_methods_supported, ['S256']);
    assert.equal(document.backchannel_logout_supported, true);
    assert.equal(document.backchannel_logout_session_supported, true);
    assert.deepEqual(document.authorization_signing_alg_values_supported, ['RS256', 'ES256']);
    for (const mode of ['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'])
      assert.ok((document.response_modes_supported as string[]).includes(mode), mode);
    assert.deepEqual(document.dpop_signing_alg_values_supported, ['ES256', 'PS256', 'Ed25519', 'EdDSA']);
    assert.equal(document.require_pushed_authorization_requests, undefined, 'it is not required of all');
  }
});

/** What every server offers, whatever its settings. */
const ALWAYS = [
  ...['issuer', 'jwks_uri', 'acr_values_supported', 'scopes_supported', 'claims_supported', 'claim_types_supported'],
  ...['claims_parameter_supported', 'grant_types_supported', 'response_types_supported', 'response_modes_supported'],
  ...['prompt_values_supported', 'subject_types_supported', 'code_challenge_methods_supported'],
  ...['authorization', 'token', 'introspection', 'revocation', 'userinfo', 'end_session'].map((name) => `${name}_endpoint`),
  ...['token', 'introspection', 'revocation'].flatMap((name) =>
    ['methods', 'signing_alg_values'].map((what) => `${name}_endpoint_auth_${what}_supported`),
  ),
  ...['id_token', 'userinfo', 'authorization', 'introspection'].flatMap((kind) =>
    ['signing_alg', 'encryption_alg', 'encryption_enc'].map((what) => `${kind}_${what}_values_supported`),
  ),
  ...['authorization_response_iss_parameter_supported', 'request_uri_parameter_supported', 'request_parameter_supported'],
  ...['request_object_signing_alg_values_supported', 'backchannel_logout_supported', 'backchannel_logout_session_supported'],
  ...['pushed_authorization_request_endpoint', 'dpop_signing_alg_values_supported', 'device_authorization_endpoint'],
  ...['backchannel_authentication_endpoint', 'backchannel_token_delivery_modes_supported', 'backchannel_user_code_parameter_supported'],
  ...['identity_chaining_requested_token_types_supported', 'authorization_grant_profiles_supported'],
];

test('each server announces what is on there, and nothing else', async (t) => {
  const service = await startService(t);
  const documentOf = (id: string, at = service) => json(`${at.issuer(id)}/.well-known/openid-configuration`);
  const more = (document: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(document).filter(([name]) => !ALWAYS.includes(name)));
  for (const id of ['built-in', 'default']) assert.deepEqual(Object.keys(await documentOf(id)).sort(), ALWAYS.toSorted(), id);
  const cases: readonly (readonly [id: string, settings: object, announced: object])[] = [
    ['documents', { clientIdMetadata: { enabled: true } }, { client_id_metadata_document_supported: true }],
    ['closed', { registration: { mode: 'TOKEN' } }, { registration_endpoint: `${service.issuer('closed')}/register` }],
    ['open', { registration: { mode: 'OPEN' } }, { registration_endpoint: `${service.issuer('open')}/register` }],
    ['apis', { audiences: ['https://api.example', 'api://x'] }, { protected_resources: ['https://api.example'] }],
    ['fapi2', { profile: 'fapi2', signingAlg: 'ES256' }, { require_pushed_authorization_requests: true }],
  ];
  for (const [id, settings, announced] of cases) {
    const made = await service.api('POST', '/authorizationServers', { id, name: id, ...settings });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(more(await documentOf(id)), announced, id);
  }
  await service.api('POST', '/authorizationServers/open/authorizationDetailTypes', { name: 'payment' });
  assert.deepEqual((await documentOf('open')).authorization_details_types_supported, ['payment']);
  assert.deepEqual(more(await documentOf('default')), {}, 'of the others nothing has changed');

  const behindProxy = await startService(t, { env: { TRUST_PROXY: '1', MTLS_HEADER: 'Client-Cert' } });
  const byCertificate = await documentOf('default', behindProxy);
  assert.deepEqual(more(byCertificate), { tls_client_certificate_bound_access_tokens: true });
  for (const [document, methods] of [
    [await documentOf('default'), ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none']],
    [await documentOf('fapi2'), ['private_key_jwt']],
    [
      byCertificate,
      [
        ...['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'],
        ...['tls_client_auth', 'self_signed_tls_client_auth', 'none'],
      ],
    ],
  ] as const)
    for (const name of ['token', 'introspection', 'revocation'])
      assert.deepEqual(document[`${name}_endpoint_auth_methods_supported`], methods);
});

test('what is announced is there: each endpoint, each grant type and each response mode', async (t) => {
  const service = await startService(t);
  const document = await json(`${service.issuer('default')}/.well-known/openid-configuration`);
  const endpoints = Object.entries(document).filter(([name]) => name.endsWith('_endpoint'));
  assert.equal(endpoints.length, 9);
  for (const [name, address] of endpoints) {
    const { status } = await fetch(String(address), { method: 'POST', body: new URLSearchParams() });
    assert.ok(status < 500 && status !== 404 && status !== 405, `${name}: ${status}`);
  }
  const owner = await createClient(service);
  const errorOf = async (grant_type: string) => (await post(service, 'default', 'token', owner, { grant_type })).body.error;
  // The implicit grant has no part at the token endpoint.
  for (const grant of (document.grant_types_supported as string[]).filter((name) => name !== 'implicit'))
    assert.notEqual(await errorOf(grant), 'unsupported_grant_type', grant);
  assert.equal(await errorOf('urn:ietf:params:oauth:grant-type:saml2-bearer'), 'unsupported_grant_type');
  for (const mode of [...(document.response_modes_supported as string[]), 'web_message']) {
    const parameters = {
      client_id: owner.clientId,
      response_type: 'code',
      redirect_uri: 'https://app.example/callback',
      response_mode: mode,
    };
    const pushed = await post(service, 'default', 'par', owner, { ...parameters, scope: 'openid', state: 'some-state' });
    assert.equal(pushed.status, mode === 'web_message' ? 400 : 201, `${mode}: ${JSON.stringify(pushed.body)}`);
  }
});

test('no URL follows the Host header', async (t) => {
  const service = await startService(t);
  const document = await getAs('evil.example', `${service.issuer('default')}/.well-known/openid-configuration`);
  assert(!document.includes('evil.example'), document);
  assert.equal(JSON.parse(document).issuer, service.issuer('default'));
});

test('keys: public members only, and each server has its own, for each algorithm one that signs and the next (RFC 7517 section 4)', async (t) => {
  const service = await startService(t);
  const sets = await Promise.all(['built-in', 'default'].map((id) => json(`${service.issuer(id)}/keys`)));
  const keys = sets.flatMap((set) => set.keys as Record<string, string>[]);
  assert.equal(keys.length, 8);
  for (const key of keys) {
    const members = key.kty === 'RSA' ? ['e', 'n'] : ['crv', 'x', 'y'];
    assert.deepEqual(Object.keys(key).sort(), ['alg', 'kid', 'kty', 'use', ...members].sort());
  }
  assert.equal(new Set(keys.map(({ kid }) => kid)).size, 8);
});

test('paths are exact: other cases, trailing slashes, unknown servers and HEAD at authorize are not answered', async (t) => {
  const service = await startService(t);
  const status = async (path: string, method = 'GET') => (await fetch(`${service.baseUrl}${path}`, { method, redirect: 'manual' })).status;
  for (const path of [
    '/oauth/v1/KEYS',
    '/oauth/v1/keys/',
    '/oauth/v1//keys',
    '/oauth/v1/nobody/keys',
    '/oauth/v1/built-in/keys',
    '/oauth/v1/Default/keys',
    '/oauth/v1',
  ]) {
    assert.equal(await status(path), 404, path);
  }
  assert.equal(await status('/oauth/v1/authorize', 'HEAD'), 405);
  assert.equal(await status('/oauth/v1/token'), 405);
});
