/** What the authorize endpoint answers with, and where it puts it: response types, response modes, and the fields of the authorization response. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../servers/relying-party.ts';

const EVERY_TYPE = ['code', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'code id_token token'];
const EVERYTHING = { grant_types: ['authorization_code', 'implicit', 'refresh_token'], response_types: EVERY_TYPE };
const SERVERS = ['built-in', 'default'];

/** Every order that the words of a text can stand in. */
function orders([first, ...rest]: readonly string[]): string[][] {
  if (first === undefined) return [[]];
  return orders(rest).flatMap((order) => order.concat('').map((_, at) => [...order.slice(0, at), first, ...order.slice(at)]));
}

const words = (text: string): string[] => text.split(' ');

/** The fields of an answer by form_post. */
const postedFields = ({ text }: Page): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name, value]) => [name, value]));

/** An answer, and the place where it stood. */
function delivered(page: Page): { place: 'query' | 'fragment' | 'form_post'; fields: Record<string, string> } {
  if (page.url.origin !== new URL(CALLBACK).origin) {
    assert.match(page.text, new RegExp(`<form id="form-post" method="post" action="${CALLBACK}">`), page.text);
    return { place: 'form_post', fields: postedFields(page) };
  }
  assert.equal(page.url.origin + page.url.pathname, CALLBACK);
  assert(page.url.search === '' || page.url.hash === '', 'in one place only');
  return { place: page.url.search === '' ? 'fragment' : 'query', fields: answerOf(page) };
}

for (const serverId of SERVERS) {
  test(`the fields of the authorization response are exactly those of its type, in any order of the words and in every mode: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    const { clientId } = await createClient(service, EVERYTHING);
    await browser.signIn(await browser.visit(authorizeUrl(service, serverId, { client_id: clientId })), user);

    for (const type of EVERY_TYPE.flatMap((type) => orders(words(type)).map((order) => order.join(' ')))) {
      const parts = new Set(words(type));
      const hidden = parts.has('token') || parts.has('id_token');
      const expected = [
        ...(parts.has('code') ? ['code'] : []),
        ...(parts.has('id_token') ? ['id_token'] : []),
        'iss',
        ...(parts.has('token') ? ['access_token', 'expires_in', 'scope', 'token_type'] : []),
        'state',
      ].sort();
      const state = 'AZ,az.09_-';
      for (const mode of [undefined, 'fragment', 'form_post', ...(hidden ? [] : ['query'])]) {
        const request = authorizeUrl(service, serverId, {
          client_id: clientId,
          response_type: type,
          response_mode: mode,
          scope: 'openid email',
          state,
        });
        const { place, fields } = delivered(await browser.visit(request));
        const title = `${type}, ${mode ?? 'default mode'}`;
        assert.equal(place, mode ?? (hidden ? 'fragment' : 'query'), title);
        assert.deepEqual(Object.keys(fields).sort(), expected, title);
        assert.equal(fields.state, state, title);
        if (parts.has('token'))
          assert.deepEqual([fields.token_type, fields.expires_in, fields.scope], ['Bearer', '3600', 'openid email'], title);
        if (parts.has('id_token')) {
          const claims = decodeJwt(fields.id_token ?? '');
          assert.deepEqual([claims.iss, claims.nonce, claims.sub], [service.issuer(serverId), 'some-nonce', user.id], title);
          assert.equal('at_hash' in claims, parts.has('token'), `${title}: at_hash`);
          assert.equal('c_hash' in claims, parts.has('code'), `${title}: c_hash`);
        }
        assert.equal(fields.iss, service.issuer(serverId), title);
      }
    }
  });

  test(`response modes that are not allowed or unknown are told where nothing secret leaks: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    const { clientId } = await createClient(service, EVERYTHING);
    await browser.signIn(await browser.visit(authorizeUrl(service, serverId, { client_id: clientId })), user);
    const rows: [type: string, mode: string, place: string][] = [
      ...EVERY_TYPE.filter((type) => type !== 'code').map((type): [string, string, string] => [type, 'query', 'fragment']),
      ['token id_token', 'query', 'fragment'],
      ...['nonsense', 'QUERY', 'jwt.query', 'web_message', 'query fragment', '__proto__', 'query-not-allowed'].flatMap(
        (mode): [string, string, string][] => [
          ['code', mode, 'query'],
          ['token', mode, 'fragment'],
        ],
      ),
    ];
    for (const [type, mode, place] of rows) {
      const page = await browser.visit(authorizeUrl(service, serverId, { client_id: clientId, response_type: type, response_mode: mode }));
      const answer = delivered(page);
      assert.equal(answer.place, place, `${type}, ${mode}`);
      assert.deepEqual(Object.keys(answer.fields).sort(), ['error', 'error_description', 'iss', 'state'], `${type}, ${mode}`);
      assert.deepEqual([answer.fields.error, answer.fields.state], ['unsupported_response_mode', 'some-state'], `${type}, ${mode}`);
      assert.equal(answer.fields.iss, service.issuer(serverId), `${type}, ${mode}`);
    }
  });
}

test('each error stands in the place of the response mode, with error_description and the state (RFC 6749 sections 4.1.2.1 and 4.2.2.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, EVERYTHING, { pkce_required: true });
  const narrow = await createClient(service);
  const rows: [title: string, parameters: Record<string, string | undefined>, error: string][] = [
    ['nobody signed in', { prompt: 'none' }, 'login_required'],
    ['unknown scope', { scope: 'openid nonsense' }, 'invalid_scope'],
    ['no scope, and no default one', { scope: undefined }, 'invalid_scope'],
    ['scope of other characters', { scope: 'openid "x"' }, 'invalid_scope'],
    ['plain', { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge too short', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
    ['prompt of nonsense', { prompt: 'nonsense' }, 'invalid_request'],
    ['prompt none and consent', { prompt: 'none consent' }, 'invalid_request'],
    ['max_age below zero', { max_age: '-1' }, 'invalid_request'],
    ['max_age not a number', { max_age: 'x' }, 'invalid_request'],
    ['claims that are no JSON', { claims: '{' }, 'invalid_request'],
    ['id_token_hint of nonsense', { id_token_hint: 'nonsense' }, 'invalid_request'],
    ['a request object of nonsense', { request: 'nonsense' }, 'invalid_request_object'],
    ['request_uri', { request_uri: 'https://app.example/request' }, 'request_uri_not_supported'],
    ['registration', { registration: '{}' }, 'registration_not_supported'],
    ['state missing', { state: undefined }, 'invalid_request'],
  ];
  const places: [type: string, mode: string | undefined, place: string][] = [
    ['code', undefined, 'query'],
    ['code', 'fragment', 'fragment'],
    ['code', 'form_post', 'form_post'],
    ['id_token', undefined, 'fragment'],
    ['code id_token token', 'form_post', 'form_post'],
  ];
  for (const [title, parameters, error] of rows) {
    for (const [type, mode, place] of places) {
      // Without openid there is no ID token, which is another mistake.
      if (parameters.scope === undefined && 'scope' in parameters && type.includes('id_token')) continue;
      const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' };
      const request = { client_id: clientId, response_type: type, response_mode: mode, ...challenge, ...parameters };
      const answer = delivered(await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', request)));
      assert.equal(answer.place, place, `${title}, ${type}, ${mode}`);
      assert.equal(answer.fields.error, error, `${title}, ${type}, ${mode}: ${answer.fields.error_description}`);
      assert.equal(answer.fields.state, 'state' in parameters ? undefined : 'some-state', `${title}, ${type}, ${mode}`);
      assert.equal(answer.fields.iss, service.issuer('default'), title);
      const fields = ['error', 'error_description', 'iss', ...('state' in parameters ? [] : ['state'])];
      assert.deepEqual(Object.keys(answer.fields).sort(), fields, title);
      assert.match(answer.fields.error_description ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, title);
    }
  }
  const types: [type: string | undefined, error: string, place: string][] = [
    [undefined, 'invalid_request', 'query'],
    ['', 'invalid_request', 'query'],
    ['nonsense', 'unsupported_response_type', 'query'],
    ['CODE', 'unsupported_response_type', 'query'],
    ['none', 'unsupported_response_type', 'query'],
    ['code nonsense', 'unsupported_response_type', 'query'],
    ['id_token nonsense', 'unsupported_response_type', 'fragment'],
    ...EVERY_TYPE.filter((type) => type !== 'code').map((type): [string, string, string] => [type, 'unauthorized_client', 'fragment']),
  ];
  for (const [type, error, place] of types) {
    const request = authorizeUrl(service, 'built-in', { client_id: narrow.clientId, response_type: type });
    const answer = delivered(await new UserAgent(service.baseUrl).visit(request));
    assert.deepEqual([answer.fields.error, answer.fields.state, answer.place], [error, 'some-state', place], String(type));
  }
  for (const [state, returned] of [
    ['a b', 'a b'],
    ['ä', undefined],
  ] as const) {
    const twofold = authorizeUrl(service, 'built-in', { client_id: narrow.clientId, response_type: 'nonsense', state });
    const { fields } = delivered(await new UserAgent(service.baseUrl).visit(twofold));
    assert.deepEqual([fields.error, fields.state], ['unsupported_response_type', returned], state);
  }
});

test('nonce is required in the implicit and hybrid flows, optional in the code flow, and returned in the ID token', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const client = await createClient(service, EVERYTHING);
  const request = (type: string, nonce?: string, scope = 'openid') =>
    authorizeUrl(service, 'built-in', { client_id: client.clientId, response_type: type, nonce, scope });
  const exchange = async (code = '') =>
    (await post(service, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK })).body.id_token;

  const { code } = answerOf(await browser.signIn(await browser.visit(request('code')), user));
  assert.equal(decodeJwt(await exchange(code)).nonce, undefined);
  for (const type of EVERY_TYPE.filter((type) => type !== 'code')) {
    for (const nonce of [undefined, '']) {
      const answer = answerOf(await browser.visit(request(type, nonce)));
      assert.deepEqual([answer.error, answer.state], ['invalid_request', 'some-state'], type);
      assert.match(answer.error_description ?? '', /nonce/, type);
    }
  }
  assert.equal(answerOf(await browser.visit(request('token', undefined, 'email'))).error, 'invalid_request', 'also without openid');
  assert.ok(answerOf(await browser.visit(request('token', 'n', 'email'))).access_token, 'where it has no meaning it is let be');
  const nonce = `n-<"'&${'x'.repeat(300)}`;
  assert.equal(decodeJwt(await exchange(answerOf(await browser.visit(request('code', nonce))).code)).nonce, nonce);
  assert.equal(decodeJwt(answerOf(await browser.visit(request('id_token', nonce))).id_token ?? '').nonce, nonce);
});

test('the profile openid of a server relaxes three rules: state, nonce, and userinfo for openid alone', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const { clientId } = await createClient(service, EVERYTHING);
  const setProfile = async (profile: string) => {
    const { status } = await service.api('PUT', '/authorizationServers/default', { name: 'default', profile });
    assert.equal(status, 200);
  };
  const ask = async (parameters: Record<string, string | undefined>, serverId = 'default') =>
    answerOf(await browser.visit(authorizeUrl(service, serverId, { client_id: clientId, response_type: 'token', ...parameters })));
  const userinfoStatus = async (token = '') =>
    (await fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: clientId })), user);
  const odd = 'a b/c?d="<e>&';

  const relaxed: [title: string, parameters: Record<string, string | undefined>][] = [
    ['no state', { state: undefined }],
    ['any VSCHAR in the state', { state: odd }],
    ['no nonce where no ID token comes from the authorize endpoint', { nonce: undefined }],
    ['no nonce in the hybrid flow without an ID token', { nonce: undefined, response_type: 'code token' }],
  ];
  const strict: [title: string, parameters: Record<string, string | undefined>, error: string][] = [
    ['a state beyond VSCHAR', { state: 'ä' }, 'invalid_request'],
    ['no nonce with an ID token', { nonce: undefined, response_type: 'id_token token' }, 'invalid_request'],
    ['unknown scope', { scope: 'openid nonsense' }, 'invalid_scope'],
    ['query for a token', { response_mode: 'query' }, 'unsupported_response_mode'],
    ['plain', { response_type: 'code', code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    ['ID token without openid', { response_type: 'id_token', scope: 'email' }, 'invalid_request'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
  ];
  for (const profile of ['service', 'openid', 'service']) {
    await setProfile(profile);
    for (const [title, parameters] of relaxed) {
      const answer = await ask(parameters);
      assert.equal(answer.error, profile === 'service' ? 'invalid_request' : undefined, `${profile}: ${title}`);
      if (profile === 'openid' && 'state' in parameters) assert.equal(answer.state, parameters.state, title);
    }
    for (const [title, parameters, error] of strict) assert.equal((await ask(parameters)).error, error, `${profile}: ${title}`);
    assert.equal(await userinfoStatus((await ask({})).access_token), profile === 'service' ? 403 : 200, profile);
  }
  await setProfile('openid');
  assert.equal((await ask({ state: undefined }, 'built-in')).error, 'invalid_request', 'a switch of that server alone');
  const { body: builtIn } = await service.api('GET', '/authorizationServers/built-in');
  const { body: changed } = await service.api('PUT', '/authorizationServers/built-in', { ...builtIn, profile: 'openid' });
  assert.equal(changed.profile, 'openid');
  assert.equal((await ask({ state: undefined }, 'built-in')).error, undefined, 'the built-in server has one, too');

  // What the application chooses counts above what its server says.
  const { body: app } = await service.api('GET', `/apps/${clientId}`);
  assert.equal(app.settings.oauthClient.profile, null);
  for (const [own, servers, isStrict] of [
    ['service', 'openid', true],
    ['openid', 'service', false],
    [null, 'service', true],
  ] as const) {
    await setProfile(servers);
    app.settings.oauthClient.profile = own;
    assert.equal((await service.api('PUT', `/apps/${clientId}`, app)).body.settings.oauthClient.profile, own);
    const title = `${own} on a server of profile ${servers}`;
    for (const [, parameters] of relaxed) assert.equal((await ask(parameters)).error, isStrict ? 'invalid_request' : undefined, title);
    assert.equal(await userinfoStatus((await ask({})).access_token), isStrict ? 403 : 200, title);
  }
});
