/** Rules of the authorize endpoint that the working flow stands on; each is one row (the whole endpoint has an issue of its own). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, verifier } from './relying-party.ts';

const CHALLENGE = challengeOf(verifier());
const EVERY_TYPE = ['code', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'code id_token token'];

test('errors by redirect, with the state when it is valid (RFC 6749 section 4.1.2.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { grant_types: ['authorization_code', 'implicit'], response_types: EVERY_TYPE });
  const rows: [string, Record<string, string | undefined>, Record<string, string | undefined>][] = [
    ['state missing', { state: undefined }, { error: 'invalid_request', state: undefined }],
    ['state with other characters', { state: 'a b' }, { error: 'invalid_request', state: undefined }],
    [
      'state with other characters, and another error first',
      { state: 'a b', response_type: 'nonsense' },
      { error: 'unsupported_response_type', state: undefined },
    ],
    ['unknown scope', { scope: 'openid nonsense' }, { error: 'invalid_scope', state: 'some-state' }],
    ['no scope and no default one', { scope: undefined }, { error: 'invalid_scope' }],
    ['id_token without openid', { response_type: 'id_token', scope: 'profile' }, { error: 'invalid_request' }],
    ['nonce missing in the implicit flow', { response_type: 'token', nonce: undefined }, { error: 'invalid_request' }],
    ['nonce missing in the hybrid flow', { response_type: 'code token', nonce: undefined }, { error: 'invalid_request' }],
    ['unknown response type', { response_type: 'nonsense' }, { error: 'unsupported_response_type' }],
    ['query for a token', { response_type: 'token', response_mode: 'query' }, { error: 'unsupported_response_mode' }],
    ['unknown response mode', { response_mode: 'nonsense' }, { error: 'unsupported_response_mode' }],
    ['plain PKCE', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }, { error: 'invalid_request' }],
    ['nobody signed in', { prompt: 'none' }, { error: 'login_required', state: 'some-state' }],
    ['none with another prompt', { prompt: 'none login' }, { error: 'invalid_request' }],
  ];
  for (const [title, parameters, expected] of rows) {
    const page = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters }));
    assert.equal(page.url.origin + page.url.pathname, CALLBACK, `${title}: ${page.text}`);
    const answer = answerOf(page);
    for (const [name, value] of Object.entries(expected)) assert.equal(answer[name], value, `${title}: ${name}`);
    assert.equal(answer.iss, service.issuer('built-in'), title);
    if (parameters.response_mode === 'query') assert.equal(page.url.search, '', `${title}: nothing in the query`);
  }
});

test('never a redirect to what is not registered, whatever else is wrong (RFC 6749 section 4.1.2.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const elsewhere = 'https://evil.example/callback';
  const rows: [string, Record<string, string | undefined>, string][] = [
    ['unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['no client', { client_id: undefined }, 'invalid_request'],
    ['unregistered address', { redirect_uri: elsewhere }, 'invalid_redirect_uri'],
    ['no address', { redirect_uri: undefined }, 'invalid_request'],
    ...['/', '?a=b', '#a', '/../callback', '.evil.example'].map((end): [string, Record<string, string>, string] => [
      `registered address with ${end}`,
      { redirect_uri: CALLBACK + end },
      'invalid_redirect_uri',
    ]),
    [
      'unregistered address and everything else',
      { redirect_uri: elsewhere, state: 'a b', scope: 'x', response_type: 'y', response_mode: 'z', prompt: 'none login' },
      'invalid_redirect_uri',
    ],
    ['unregistered address, prompt=none', { redirect_uri: elsewhere, prompt: 'none' }, 'invalid_redirect_uri'],
  ];
  for (const [title, parameters, code] of rows) {
    const page = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters }));
    assert.equal(page.url.origin, service.baseUrl, title);
    assert.equal(page.status, 400, title);
    assert.match(page.text, new RegExp(`id="error-code"[^>]*>\\s*${code}\\s*<`), title);
    assert.match(page.text, /id="request-id"/, title);
  }
});

test('all seven response types, in any order (OAuth 2.0 Multiple Response Types)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const { clientId } = await createClient(service, { grant_types: ['authorization_code', 'implicit'], response_types: EVERY_TYPE });
  await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: clientId })), user);
  for (const type of [...EVERY_TYPE, 'token id_token', 'token id_token code']) {
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: clientId, response_type: type }));
    const answer = answerOf(page);
    const parts = new Set(type.split(' '));
    assert.equal('code' in answer, parts.has('code'), type);
    assert.equal('id_token' in answer, parts.has('id_token'), type);
    assert.equal('access_token' in answer, parts.has('token'), type);
    assert.equal(answer.expires_in, parts.has('token') ? '3600' : undefined, type);
    assert.equal(answer.token_type, parts.has('token') ? 'Bearer' : undefined, type);
    assert.equal(answer.scope, parts.has('token') ? 'openid' : undefined, type);
    assert.equal(answer.state, 'some-state', type);
    assert.equal(answer.iss, parts.has('id_token') ? undefined : service.issuer('default'), type);
    assert.equal(page.url.search === '', type !== 'code', `${type}: in the fragment`);
  }
});

test('a posted authorization request means the same (OpenID Connect Core section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const { searchParams, origin, pathname } = authorizeUrl(service, 'built-in', { client_id: clientId });
  const page = await new UserAgent(service.baseUrl).visit(origin + pathname, { method: 'POST', body: searchParams });
  assert.match(page.text, /id="sign-in-form"/);
});

test('PKCE is required of public applications (RFC 9700 section 2.1.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { application_type: 'browser' }, { token_endpoint_auth_method: 'none' });
  const page = await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'built-in', { client_id: clientId }));
  assert.equal(answerOf(page).error, 'invalid_request');
});
