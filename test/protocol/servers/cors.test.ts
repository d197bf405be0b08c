/** Which origins may read what the OAuth endpoints answer: the CORS protocol of the Fetch standard (section 3.2), for single-page applications. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, type TestClient, tokensFor } from './relying-party.ts';

const OURS = 'https://spa.example';
const ANOTHERS = 'https://other.example:8443';
const STRANGERS = [
  'null',
  'http://spa.example',
  'https://spa.example:444',
  'https://www.spa.example',
  'https://spa.example.evil.example',
  'https://evil-spa.example',
  'https://spa.exampl',
  'https://SPA.example',
  'https://spa.example/',
  'https://app.example',
  '*',
  '["https://spa.example"]',
];

const allowedTo = (answer: Response): string | null => answer.headers.get('access-control-allow-origin');
const variesByOrigin = (answer: Response): boolean => /(^|,)\s*Origin\s*(,|$)/i.test(answer.headers.get('vary') ?? '');
const corsHeaders = (answer: Response): string[] => [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));

/** A single-page application at OURS, one of somebody else's at ANOTHERS, and tokens of the first. */
async function singlePage(service: Service, serverId: string) {
  const user = await service.createUser();
  const publicly = { token_endpoint_auth_method: 'none' };
  const client = await createClient(service, { application_type: 'browser', allowed_origins: [OURS] }, publicly);
  const other = await createClient(service, { application_type: 'browser', allowed_origins: [ANOTHERS] }, publicly);
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId });
  return { client, other, accessToken: String(body.access_token), refreshToken: String(body.refresh_token) };
}

const asked = (
  service: Service,
  serverId: string,
  endpoint: string,
  origin: string | undefined,
  init: RequestInit = {},
): Promise<Response> => {
  const headers = new Headers(init.headers);
  if (origin !== undefined) headers.set('origin', origin);
  return fetch(`${service.issuer(serverId)}/${endpoint}`, { ...init, headers });
};

const form = ({ clientId }: TestClient, fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams({ client_id: clientId, ...fields }),
});

for (const serverId of ['built-in', 'default']) {
  test(`answers are for the application’s own origins, errors included: ${serverId} server (Fetch section 3.2.3)`, async (t) => {
    const service = await startService(t);
    const { client, accessToken, refreshToken } = await singlePage(service, serverId);
    const bearer = { headers: { authorization: `Bearer ${accessToken}` } };
    const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const table: readonly [what: string, endpoint: string, init: RequestInit, status: number][] = [
      ['userinfo', 'userinfo', bearer, 200],
      ['userinfo, posted', 'userinfo', { method: 'POST', body: new URLSearchParams({ access_token: accessToken }) }, 200],
      ['introspect', 'introspect', form(client, { token: accessToken }), 200],
      ['introspect, client_id in the query', `introspect?client_id=${client.clientId}`, form(client, { token: accessToken }), 200],
      ['token', 'token', form(client, refresh), 200],
      [
        'token: wrong code',
        'token',
        form(client, { grant_type: 'authorization_code', code: 'nonsense', redirect_uri: 'https://x.example/' }),
        400,
      ],
      ['token: unknown grant type', 'token', form(client, { grant_type: 'magic' }), 400],
      ['token: grant type not for the application', 'token', form(client, { grant_type: 'client_credentials' }), 400],
      ['revoke: no token named', 'revoke', form(client, {}), 400],
      ['revoke', 'revoke', form(client, { token: 'gone' }), 200],
    ];
    for (const [what, endpoint, init, status] of table) {
      const answer = await asked(service, serverId, endpoint, OURS, init);
      assert.equal(answer.status, status, `${what}: ${await answer.text()}`);
      assert.equal(allowedTo(answer), OURS, what);
      assert.equal(answer.headers.get('access-control-allow-credentials'), null, what);
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /WWW-Authenticate/, what);
      assert(variesByOrigin(answer), what);

      const plain = await asked(service, serverId, endpoint, undefined, init);
      assert.deepEqual(corsHeaders(plain), [], `${what}, no browser`);
      assert(variesByOrigin(plain), `${what}: a cache may not give this answer to a browser`);
    }
  });

  test(`requests from other origins are carried out as from no page, and may be read by none: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const { client, accessToken, refreshToken } = await singlePage(service, serverId);
    const bearer = { headers: { authorization: `Bearer ${accessToken}` } };
    let token = refreshToken;
    for (const origin of [ANOTHERS, ...STRANGERS]) {
      for (const [endpoint, init] of [
        ['token', form(client, { grant_type: 'refresh_token', refresh_token: token })],
        ['introspect', form(client, { token: accessToken })],
        ['revoke', form(client, { token: 'gone' })],
        ['userinfo', bearer],
      ] as const) {
        const answer = await asked(service, serverId, endpoint, origin, init);
        assert.equal(answer.status, 200, `${endpoint} from ${origin}`);
        if (endpoint === 'token') token = ((await answer.json()) as { refresh_token: string }).refresh_token;
        assert.deepEqual(corsHeaders(answer), [], `${endpoint} from ${origin}`);
        assert(variesByOrigin(answer));
      }
    }
  });
}

test('where no client is known the answer is for any registered origin: errors that come before its name', async (t) => {
  const service = await startService(t);
  await singlePage(service, 'default');
  const unknown = { clientId: 'nobody', clientSecret: undefined };
  const large = form(unknown, { token: 'x'.repeat(60_000) });
  const table: readonly [what: string, endpoint: string, init: RequestInit, status: number][] = [
    ['an access token that is over or unknown', 'userinfo', { headers: { authorization: 'Bearer nonsense' } }, 401],
    ['no access token', 'userinfo', {}, 401],
    ['an unknown client', 'token', form(unknown, { grant_type: 'refresh_token', refresh_token: 'x' }), 401],
    ['no client', 'token', { method: 'POST', body: new URLSearchParams({ grant_type: 'refresh_token' }) }, 400],
    ['no form', 'introspect', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }, 400],
    ['a body too large', 'introspect', large, 400],
    ['a body too large', 'revoke', large, 400],
  ];
  for (const [what, endpoint, init, status] of table) {
    for (const origin of [OURS, ANOTHERS]) {
      const answer = await asked(service, 'default', endpoint, origin, init);
      assert.equal(answer.status, status, `${what}: ${await answer.text()}`);
      assert.equal(allowedTo(answer), origin, what);
      assert(variesByOrigin(answer), what);
    }
    for (const origin of STRANGERS)
      assert.deepEqual(corsHeaders(await asked(service, 'default', endpoint, origin, init)), [], `${what}: ${origin}`);
  }
  const refused = await asked(service, 'default', 'userinfo', OURS, { headers: { authorization: 'Bearer nonsense' } });
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer error="invalid_token"/);
});

test('a preflight names no client: registered origins of any application pass, others get no header (Fetch section 3.2.2)', async (t) => {
  const service = await startService(t);
  await singlePage(service, 'built-in');
  const preflight = (serverId: string, endpoint: string, origin: string, method: string) =>
    asked(service, serverId, endpoint, origin, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': method, 'access-control-request-headers': 'authorization,content-type' },
    });
  for (const serverId of ['built-in', 'default']) {
    for (const endpoint of ['token', 'introspect', 'revoke', 'userinfo']) {
      const method = endpoint === 'userinfo' ? 'GET' : 'POST';
      for (const origin of [OURS, ANOTHERS]) {
        const answer = await preflight(serverId, endpoint, origin, method);
        assert.equal(answer.status, 204);
        assert.equal(allowedTo(answer), origin);
        assert(answer.headers.get('access-control-allow-methods')?.split(',').includes(method));
        assert.equal(answer.headers.get('access-control-allow-headers'), 'authorization,content-type');
        assert.match(answer.headers.get('access-control-max-age') ?? '', /^\d+$/);
        assert.equal(answer.headers.get('access-control-allow-credentials'), null);
        assert(variesByOrigin(answer));
      }
      for (const origin of STRANGERS) {
        const answer = await preflight(serverId, endpoint, origin, method);
        assert.deepEqual(corsHeaders(answer), [], `${endpoint} from ${origin}`);
        assert(variesByOrigin(answer));
      }
    }
  }
});

test('an origin counts from the moment it is registered, and no longer than its application is active', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, { application_type: 'browser' }, { token_endpoint_auth_method: 'none' });
  const read = async () => {
    const answer = await asked(
      service,
      'default',
      'token',
      OURS,
      form({ clientId, clientSecret: undefined }, { grant_type: 'refresh_token', refresh_token: 'x' }),
    );
    const preflight = await asked(service, 'default', 'token', OURS, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'POST' },
    });
    return [allowedTo(answer), allowedTo(preflight)];
  };
  const { body: app } = await service.api('GET', `/apps/${clientId}`);
  app.settings.oauthClient.allowed_origins = [OURS];
  const changed = await service.api('PUT', `/apps/${clientId}`, app);
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.deepEqual(await read(), [OURS, OURS]);
  assert((await service.api('POST', `/apps/${clientId}/lifecycle/deactivate`)).status < 300);
  assert.deepEqual(await read(), [null, null]);
});

test('discovery in all its forms and the keys are public: any origin reads them, without credentials (RFC 8414 section 3)', async (t) => {
  const service = await startService(t);
  for (const [serverId, path] of [
    ['built-in', '/oauth/v1'],
    ['default', '/oauth/v1/default'],
  ] as const) {
    const issuer = service.issuer(serverId);
    for (const address of [
      `${issuer}/.well-known/openid-configuration`,
      `${issuer}/.well-known/oauth-authorization-server`,
      `${service.baseUrl}/.well-known/oauth-authorization-server${path}`,
      `${issuer}/keys`,
    ]) {
      for (const origin of [OURS, 'null', 'http://localhost:5173']) {
        const answer = await fetch(address, { headers: { origin } });
        assert.equal(answer.status, 200);
        assert(['*', origin].includes(allowedTo(answer) ?? ''), address);
        assert.equal(answer.headers.get('access-control-allow-credentials'), null);
        const preflight = await fetch(address, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } });
        assert.equal(preflight.status, 204);
        assert(['*', origin].includes(allowedTo(preflight) ?? ''), address);
        assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET');
      }
    }
  }
});

test('what people visit is for no other page to read: authorize, logout, the hosted pages and the management API', async (t) => {
  const service = await startService(t);
  await singlePage(service, 'default');
  for (const address of [
    `${service.issuer('default')}/authorize`,
    `${service.issuer('default')}/logout`,
    `${service.baseUrl}/signin`,
    `${service.baseUrl}/api/v1/users`,
  ]) {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: OURS, ...(method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {}) };
      const answer = await fetch(address, { method, headers, redirect: 'manual' });
      assert.deepEqual(corsHeaders(answer), [], `${method} ${address}`);
    }
  }
});
