/** What a server says of itself: OpenID Connect Discovery 1.0, RFC 8414, RFC 7517. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';

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
