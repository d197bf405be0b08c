/** Which methods an endpoint takes, and how it says so (RFC 9110 sections 9.3.7 and 15.5.6); no secret in a Basic header (RFC 6749 section 5.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { createClient } from './relying-party.ts';

const PROGRAMS = { token: 'POST, OPTIONS', introspect: 'POST, OPTIONS', revoke: 'POST, OPTIONS', userinfo: 'GET, POST, OPTIONS' };
const DOCUMENTS = ['keys', '.well-known/openid-configuration', '.well-known/oauth-authorization-server'];
const JSON_TYPE = 'application/json;charset=UTF-8';

test('each endpoint on both servers: what it takes, what it does not, and OPTIONS', async (t) => {
  const service = await startService(t);
  for (const serverId of ['built-in', 'default']) {
    const send = (endpoint: string, method: string, headers: Record<string, string> = {}) =>
      fetch(`${service.issuer(serverId)}/${endpoint}`, { method, headers, redirect: 'manual' });
    const documents = DOCUMENTS.map((name) => [name, 'GET, HEAD, OPTIONS'] as const);
    for (const [endpoint, allow] of [...Object.entries(PROGRAMS), ...documents]) {
      for (const headers of [{}, { origin: 'https://app.example' }, { 'access-control-request-method': 'POST' }]) {
        const options = await send(endpoint, 'OPTIONS', headers);
        assert.deepEqual([options.status, options.headers.get('allow'), await options.text()], [204, allow, ''], `OPTIONS ${endpoint}`);
        assert.equal(options.headers.get('access-control-allow-origin'), null);
      }
    }
    const visited = ['authorize', 'logout'].map((name) => [name, 'GET, POST'] as const);
    for (const [endpoint, allow] of [...Object.entries(PROGRAMS), ...documents, ...visited]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((name) => !allow.includes(name))) {
        const answer = await send(endpoint, method);
        const body = await answer.text();
        assert.deepEqual(
          [answer.status, answer.headers.get('allow'), answer.headers.get('content-type')],
          [405, allow, JSON_TYPE],
          `${method} ${endpoint}`,
        );
        if (method !== 'HEAD') assert.equal(JSON.parse(body).error, 'invalid_request');
      }
    }
  }
  const nobody = await fetch(`${service.issuer('nobody')}/token`, { method: 'OPTIONS' });
  assert.deepEqual([nobody.status, nobody.headers.get('content-type')], [404, JSON_TYPE]);
});

test('an id without a secret in a Basic header is 401 invalid_client with a challenge; a malformed header is 400 invalid_request', async (t) => {
  const service = await startService(t);
  const client = await createClient(service, { grant_types: ['client_credentials'] });
  const spa = await createClient(service, { application_type: 'browser', grant_types: ['authorization_code'] }).catch(() => undefined);
  const post = async (serverId: string, endpoint: string, authorization: string, form: Record<string, string> = {}) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', token: 'some-token', ...form });
    const answer = await fetch(`${service.issuer(serverId)}/${endpoint}`, { method: 'POST', headers: { authorization }, body });
    return {
      status: answer.status,
      challenge: answer.headers.get('www-authenticate'),
      error: ((await answer.json()) as { error: string }).error,
    };
  };
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const serverId of ['built-in', 'default']) {
    for (const endpoint of ['token', 'introspect', 'revoke']) {
      for (const id of [client.clientId, 'nobody', '%zz', ...(spa === undefined ? [] : [spa.clientId])]) {
        for (const header of [basic(`${id}:`), basic(`${id}:`).replace(/=+$/, '').replace('Basic', 'basic')]) {
          const { status, error, challenge } = await post(serverId, endpoint, header);
          assert.deepEqual([status, error], [401, 'invalid_client'], `${endpoint} ${id}`);
          assert.match(challenge ?? '', /^Basic realm="/);
        }
      }
      for (const header of [
        'Basic',
        'Basic !',
        basic('no-colon'),
        basic(':'),
        basic(''),
        `${basic(`${client.clientId}:`)} x`,
        // No base64 in its one form: bits that mean nothing, padding where none belongs, a blank (RFC 4648 sections 3.2 and 3.5).
        'Basic YTp=',
        'Basic YWI6=',
        'Basic YT o=',
      ]) {
        const { status, error } = await post(serverId, endpoint, header);
        // Okta's libraries name a public application by its id alone when they revoke.
        const expected = header === basic('no-colon') && endpoint === 'revoke' ? [401, 'invalid_client'] : [400, 'invalid_request'];
        assert.deepEqual([status, error], expected, `${endpoint} ${header}`);
      }
      const twice = await post(serverId, endpoint, basic(`${client.clientId}:`), { client_secret: client.clientSecret ?? '' });
      assert.deepEqual([twice.status, twice.error], [400, 'invalid_request'], 'header and form');
    }
  }
});
