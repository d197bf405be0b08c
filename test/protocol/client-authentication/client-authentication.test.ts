/** How an application proves itself at token, introspect and revoke, and how it is told that it did not (RFC 6749 sections 2.3 and 5.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Service, startService } from '../../support/service.ts';
import { createClient, type JsonAnswer } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;
const ENDPOINTS = ['token', 'introspect', 'revoke'] as const;
type Endpoint = (typeof ENDPOINTS)[number];

interface Sent {
  readonly authorization?: string;
  readonly query?: Record<string, string>;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
  /** In place of the form. */
  readonly body?: string;
}

/** What each endpoint is asked for besides. */
const ASKED: Record<Endpoint, Record<string, string>> = {
  token: { grant_type: 'client_credentials' },
  introspect: { token: 'unknown' },
  revoke: { token: 'unknown' },
};

const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

async function send(service: Service, serverId: string, endpoint: Endpoint, sent: Sent): Promise<JsonAnswer & { text: string }> {
  const { authorization, query = {}, form = {}, headers = {} } = sent;
  const response = await fetch(`${service.issuer(serverId)}/${endpoint}?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(authorization === undefined ? {} : { authorization }),
      ...headers,
    },
    body: sent.body ?? new URLSearchParams({ ...ASKED[endpoint], ...form }).toString(),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

/** An error in exactly the promised form, with nothing besides. */
function assertError({ status, headers, body }: JsonAnswer, expected: [status: number, error: string], what: string): void {
  assert.deepEqual([status, body?.error], expected, `${what}: ${JSON.stringify(body)}`);
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description'], what);
  assert.ok(typeof body.error_description === 'string' && body.error_description !== '', what);
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8', what);
  assert.equal(headers.get('cache-control'), 'no-store', what);
  const challenge = headers.get('www-authenticate');
  if (status === 401) assert.match(challenge ?? '', /^Basic realm="[^"]+"/, what);
  else assert.equal(challenge, null, what);
}

function assertAccepted(answer: JsonAnswer & { text: string }, endpoint: Endpoint, what: string): void {
  assert.equal(answer.status, 200, `${what}: ${answer.text}`);
  assert.equal(answer.headers.get('cache-control'), 'no-store', what);
  assert.equal(answer.headers.get('www-authenticate'), null, what);
  if (endpoint === 'revoke') assert.deepEqual([answer.text, answer.headers.get('content-type')], ['', null], what);
  else assert.equal(answer.headers.get('content-type'), 'application/json;charset=UTF-8', what);
  if (endpoint === 'introspect') assert.deepEqual(answer.body, { active: false }, what);
}

async function applications(service: Service) {
  const machine = { application_type: 'service', grant_types: ['client_credentials'] };
  const { clientId: id, clientSecret: secret = '' } = await service.createApp(machine);
  const { clientId: postId, clientSecret: postSecret = '' } = await service.createApp(machine, {
    token_endpoint_auth_method: 'client_secret_post',
  });
  const { clientId: jwtId } = await service.createApp(machine, { token_endpoint_auth_method: 'client_secret_jwt' });
  const { clientId: publicId } = await createClient(service, {}, { token_endpoint_auth_method: 'none' });
  return { id, secret, postId, postSecret, jwtId, publicId };
}

for (const serverId of SERVERS) {
  test(`client authentication at token, introspect and revoke: nothing, both, malformed, unknown, wrong: ${serverId} server (RFC 6749 sections 2.3.1 and 5.2)`, async (t) => {
    const service = await startService(t);
    const { id, secret, postId, postSecret, jwtId, publicId } = await applications(service);
    const INVALID_REQUEST = [400, 'invalid_request'] as [number, string];
    const INVALID_CLIENT = [401, 'invalid_client'] as [number, string];
    const base64 = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const refused: [what: string, sent: Sent, expected: [number, string]][] = [
      ['nothing at all', {}, INVALID_REQUEST],
      ['a secret without an id', { form: { client_secret: secret } }, INVALID_REQUEST],
      ['header and form together', { authorization: basic(id, secret), form: { client_id: id, client_secret: secret } }, INVALID_REQUEST],
      ['header and a secret in the form', { authorization: basic(id, secret), form: { client_secret: secret } }, INVALID_REQUEST],
      ['header and another id in the form', { authorization: basic(id, secret), form: { client_id: postId } }, INVALID_REQUEST],
      [
        'a wrong header and a right form',
        { authorization: basic(id, 'x'), form: { client_id: id, client_secret: secret } },
        INVALID_REQUEST,
      ],
      ['a Basic header without credentials', { authorization: 'Basic' }, INVALID_REQUEST],
      ['a Basic header without a colon', { authorization: base64('nocolon') }, INVALID_REQUEST],
      ['a Basic header that is not base64', { authorization: 'Basic %%%%' }, INVALID_REQUEST],
      ['a wrong secret with a broken escape', { authorization: base64(`${id}:%zz`) }, INVALID_CLIENT],
      ['a Basic header of three parts', { authorization: `${basic(id, secret)} more` }, INVALID_REQUEST],
      ['client_id alone', { form: { client_id: id } }, INVALID_CLIENT],
      ['client_id alone, of client_secret_post', { form: { client_id: postId } }, INVALID_CLIENT],
      ['client_id alone, of client_secret_jwt', { form: { client_id: jwtId } }, INVALID_CLIENT],
      ['an unknown application, by header', { authorization: basic('nobody', secret) }, INVALID_CLIENT],
      ['an unknown application, by form', { form: { client_id: 'nobody', client_secret: secret } }, INVALID_CLIENT],
      ['an unknown application, without a secret', { form: { client_id: 'nobody' } }, INVALID_CLIENT],
      ['a wrong secret, by header', { authorization: basic(id, `${secret}x`) }, INVALID_CLIENT],
      ['a wrong secret, by form', { form: { client_id: id, client_secret: secret.slice(0, -1) } }, INVALID_CLIENT],
      ['another application’s secret', { authorization: basic(id, postSecret) }, INVALID_CLIENT],
      ['a secret of one that has none', { authorization: basic(publicId, 'anything') }, INVALID_CLIENT],
    ];
    for (const endpoint of ENDPOINTS) {
      for (const [what, sent, expected] of refused) {
        // At revoke an id alone names a public application.
        const isNamed = endpoint === 'revoke' && what === 'a Basic header without a colon';
        assertError(await send(service, serverId, endpoint, sent), isNamed ? INVALID_CLIENT : expected, `${endpoint}: ${what}`);
      }
    }

    const accepted: [what: string, sent: Sent][] = [
      ['by header', { authorization: basic(id, secret) }],
      ['by header, with the scheme in small letters', { authorization: basic(id, secret).replace('Basic', 'basic') }],
      ['by form', { form: { client_id: id, client_secret: secret } }],
      ['client_secret_post by form', { form: { client_id: postId, client_secret: postSecret } }],
      ['client_secret_post by header', { authorization: basic(postId, postSecret) }],
    ];
    for (const endpoint of ENDPOINTS) {
      for (const [what, sent] of accepted) {
        assertAccepted(await send(service, serverId, endpoint, sent), endpoint, `${endpoint}: ${what}`);
      }
    }
  });

  test(`a public application sends its client_id alone; at introspect in the query and without a header: ${serverId} server (RFC 6749 section 3.2.1)`, async (t) => {
    const service = await startService(t);
    const { id, secret, publicId } = await applications(service);
    for (const endpoint of ['introspect', 'revoke'] as const) {
      assertAccepted(await send(service, serverId, endpoint, { form: { client_id: publicId } }), endpoint, endpoint);
    }
    const code = { grant_type: 'authorization_code', code: 'unknown', redirect_uri: 'https://app.example/callback', client_id: publicId };
    assertError(await send(service, serverId, 'token', { form: code }), [400, 'invalid_grant'], 'known, the code is not');

    const byQuery = (query: Record<string, string>, more: Sent = {}) => send(service, serverId, 'introspect', { query, ...more });
    assertAccepted(await byQuery({ client_id: publicId }), 'introspect', 'in the query');
    assertError(await byQuery({ client_id: id }), [401, 'invalid_client'], 'a confidential one in the query');
    assertError(await byQuery({ client_id: 'nobody' }), [401, 'invalid_client'], 'an unknown one in the query');
    assertError(await byQuery({ client_id: id, client_secret: secret }), [401, 'invalid_client'], 'no secret counts in the query');
    assertError(await byQuery({ client_id: '' }), [400, 'invalid_request'], 'an empty one in the query');
    for (const endpoint of ['token', 'revoke'] as const) {
      assertError(await send(service, serverId, endpoint, { query: { client_id: publicId } }), [400, 'invalid_request'], endpoint);
    }
  });
}

test('a Basic header is read form-decoded and as it stands (RFC 6749 section 2.3.1)', async (t) => {
  const service = await startService(t);
  for (const secret of [
    'a+b%41 c/d~100%25+0123456789-0123456789',
    '100% of what nobody guesses %zz+0123456789',
    'a-secret:with:colons-0123456789-0123456789',
  ]) {
    const { clientId: id } = await service.createApp(
      { application_type: 'service', grant_types: ['client_credentials'] },
      { client_secret: secret },
    );
    const form = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
    for (const [reading, header] of [
      ['encoded as a form', basic(form(id), form(secret))],
      ['encoded as in a URL', basic(encodeURIComponent(id), encodeURIComponent(secret))],
      ['as it stands', basic(id, secret)],
    ] as const) {
      for (const endpoint of ENDPOINTS) {
        assertAccepted(await send(service, 'default', endpoint, { authorization: header }), endpoint, `${secret} ${reading}`);
      }
    }
    assertError(
      await send(service, 'default', 'token', { authorization: basic(id, `${secret}+`) }),
      [401, 'invalid_client'],
      'another one',
    );
  }
});

test('answers are JSON whatever the Accept header says, errors and results alike', async (t) => {
  const service = await startService(t);
  const { id, secret } = await applications(service);
  for (const accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/xml', 'image/*', '', 'nonsense']) {
    const headers = { accept };
    for (const endpoint of ENDPOINTS) {
      const wrong = await send(service, 'default', endpoint, { headers, authorization: basic('nobody', 'x') });
      assertError(wrong, [401, 'invalid_client'], `${endpoint} ${accept}`);
      assertAccepted(await send(service, 'default', endpoint, { headers, authorization: basic(id, secret) }), endpoint, accept);
    }
  }
});

test('token, introspect and revoke take URL-encoded forms by POST and nothing else, and each parameter once (RFC 6749 section 3.2)', async (t) => {
  const service = await startService(t);
  const { id, secret } = await applications(service);
  const authorization = basic(id, secret);
  for (const endpoint of ENDPOINTS) {
    const url = `${service.issuer('default')}/${endpoint}`;
    const [[name = '', value = ''] = []] = Object.entries(ASKED[endpoint]);
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      const body = type === 'application/json' ? JSON.stringify(ASKED[endpoint]) : `${name}=${value}`;
      const answer = await send(service, 'default', endpoint, { authorization, headers: { 'content-type': type }, body });
      assertError(answer, [400, 'invalid_request'], `${endpoint} ${type}`);
    }
    const withCharset = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    assertAccepted(
      await send(service, 'default', endpoint, { authorization, headers: withCharset }),
      endpoint,
      'a charset is no other type',
    );
    assertError(
      await send(service, 'default', endpoint, { authorization, query: ASKED[endpoint], body: '' }),
      [400, 'invalid_request'],
      `${endpoint}: parameters in the query`,
    );
    for (const twice of [
      `${name}=${value}&${name}=${value}`,
      `${name}=${value}&${name}=other`,
      `${name}=${value}&client_id=a&client_id=a`,
      `${name}=${value}&unheard_of=a&unheard_of=b`,
    ]) {
      assertError(
        await send(service, 'default', endpoint, { authorization, body: twice }),
        [400, 'invalid_request'],
        `${endpoint}: ${twice}`,
      );
    }
    assertError(
      await send(service, 'default', endpoint, { authorization, form: { [name]: '' } }),
      [400, 'invalid_request'],
      `${name} empty`,
    );
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
      const answer = await fetch(`${url}?${new URLSearchParams(ASKED[endpoint])}`, { method, headers: { authorization } });
      assert.ok(answer.status === 405 || answer.status === 404, `${method} ${endpoint}: ${answer.status}`);
    }
  }
});
