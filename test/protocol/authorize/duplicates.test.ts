/** Each parameter of the authorize endpoint at most once (RFC 6749 section 3.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../servers/relying-party.ts';

test('a parameter twice is invalid_request, of equal or other values, by GET and POST (RFC 6749 section 3.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token'] });
  const values: Record<string, string> = {
    response_type: 'token',
    scope: 'openid',
    state: 'some-state',
    nonce: 'n',
    response_mode: 'fragment',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    display: 'page',
    login_hint: 'ada',
    prompt: 'login',
    sessionToken: 'x',
    request: 'x',
    request_uri: 'https://app.example/request',
    registration: '{}',
    max_age: '1',
    acr_values: '0',
    ui_locales: 'de',
    claims_locales: 'de',
    claims: '{"id_token":{}}',
    id_token_hint: 'x',
    idp: 'x',
    idp_scope: 'x',
    unheard_of: 'x',
  };
  for (const [name, value] of Object.entries(values)) {
    for (const second of [value, 'another', '']) {
      for (const method of ['GET', 'POST']) {
        const url = authorizeUrl(service, 'built-in', { client_id: clientId, [name]: value });
        url.searchParams.append(name, second);
        const init = method === 'GET' ? {} : { method, body: url.searchParams };
        const page = await new UserAgent(service.baseUrl).visit(method === 'GET' ? url : url.origin + url.pathname, init);
        const title = `${method} ${name}: ${value}, then "${second}"`;
        assert.equal(page.url.origin + page.url.pathname, CALLBACK, `${title}: ${page.text}`);
        const answer = answerOf(page);
        assert.deepEqual([answer.error, answer.state], ['invalid_request', name === 'state' ? undefined : 'some-state'], title);
        assert.match(answer.error_description ?? '', new RegExp(name), title);
      }
    }
  }
  for (const name of ['client_id', 'redirect_uri']) {
    for (const second of [undefined, 'https://evil.example/callback']) {
      for (const turned of [false, true]) {
        const url = authorizeUrl(service, 'built-in', { client_id: clientId });
        const [one = '', two = one] = [url.searchParams.get(name) ?? '', second];
        url.searchParams.delete(name);
        for (const value of turned ? [two, one] : [one, two]) url.searchParams.append(name, value);
        const page = await new UserAgent(service.baseUrl).visit(url);
        assert.deepEqual([page.url.origin, page.status], [service.baseUrl, 400], `${name} twice is no redirect`);
        assert.match(page.text, />invalid_request</);
      }
    }
  }
});

test('values outside a list are invalid_request: a display, a response type with a word twice (OpenID Connect Core section 3.1.2.1)', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, {
    grant_types: ['authorization_code', 'implicit'],
    response_types: ['code', 'code token'],
  });
  for (const [parameters, word] of [
    [{ display: 'hologram' }, /display/],
    [{ display: 'Page' }, /display/],
    [{ response_type: 'code code' }, /response_type/],
    [{ response_type: 'code token code' }, /response_type/],
  ] as const) {
    const url = authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters });
    const { error, error_description, state } = answerOf(await new UserAgent(service.baseUrl).visit(url));
    assert.deepEqual([error, state], ['invalid_request', 'some-state'], JSON.stringify(parameters));
    assert.match(error_description ?? '', word);
  }
});
