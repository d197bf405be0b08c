/**
 * What is said in headers of a request (RFC 9700 section 4.13; OWASP ASVS 5.0 V4.1 and V4.2; OWASP WSTG, "Host Header Injection", "HTTP Splitting Smuggling",
 * web cache poisoning and deception; CVE-2025-64101): no address of the service follows them, nothing that may be kept depends on them, and no limit.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../protocol/servers/relying-party.ts';
import { API_TOKEN, type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const EVIL = 'evil.example';
/** All by which programs behind proxies are told who they are, where they are, and what was asked for. */
const POISON: Readonly<Record<string, string>> = {
  host: EVIL,
  forwarded: `for=192.0.2.1;host=${EVIL};proto=${EVIL}`,
  'x-forwarded-host': EVIL,
  'x-forwarded-server': EVIL,
  'x-forwarded-port': '6666',
  'x-forwarded-proto': EVIL,
  'x-forwarded-scheme': EVIL,
  'x-forwarded-prefix': `/${EVIL}`,
  'x-forwarded-path': `/${EVIL}`,
  'x-original-host': EVIL,
  'x-host': EVIL,
  'x-original-url': `/${EVIL}`,
  'x-rewrite-url': `/${EVIL}`,
  'x-http-method-override': 'DELETE',
  'x-method-override': 'DELETE',
  referer: `https://${EVIL}/`,
};

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** `fetch` lets nobody set Host. */
async function ask(service: Service, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const request = http.get(new URL(service.listensAt), { path, headers });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** What is different at each answer. */
const withoutChance = (value: string): string =>
  value
    .replace(/name="csrf" value="[^"]*"/g, '')
    .replace(/(interaction|authorize)\/(default|built-in)?\/?[\w-]{43}/g, '$1')
    .replace(/[\w-]{43}/g, '')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replace(/id="request-id">[^<]*/g, '');

async function paths(service: Service): Promise<Record<string, Record<string, string>>> {
  const { clientId } = await createClient(service);
  const { clientId: posting } = await createClient(service);
  const authorize = (parameters: Record<string, string>) => {
    const url = authorizeUrl(service, 'default', parameters);
    return `${url.pathname}${url.search}`;
  };
  const token = { authorization: `SSWS ${API_TOKEN}` };
  return {
    '/': {},
    '/signin': {},
    '/forgot-password': {},
    '/account': {},
    '/account/security': {},
    '/admin': {},
    '/admin/users': {},
    '/choose-password/none': {},
    '/verify-email/none': {},
    '/code/none': {},
    '/signup': {},
    '/.well-known/passkey-endpoints': {},
    '/nowhere': {},
    '/favicon.ico': {},
    '/assets/gatehouse.css': {},
    '/.well-known/change-password': {},
    '/oauth/v1/.well-known/openid-configuration': {},
    '/oauth/v1/default/.well-known/oauth-authorization-server': {},
    '/.well-known/oauth-authorization-server/oauth/v1/default': {},
    '/oauth/v1/keys': {},
    '/oauth/v1/default/logout': {},
    '/oauth/v1/none/authorize': {},
    [authorize({ client_id: clientId })]: {},
    [authorize({ client_id: clientId, prompt: 'none' })]: {},
    [authorize({ client_id: posting, prompt: 'none', response_mode: 'form_post' })]: {},
    [authorize({ client_id: 'nobody' })]: {},
    '/api/v1/openapi.json': {},
    '/api/v1/docs': {},
    '/api/v1/users?limit=1': token,
    '/api/v1/apps?limit=1': token,
    '/api/v1/account/org': {},
  };
}

for (const TRUST_PROXY of ['off', '1']) {
  test(`no answer follows what a header says of where the service is, with TRUST_PROXY=${TRUST_PROXY}`, async (t) => {
    const service = await startService(t, { env: { BASE_URL: 'https://id.example', TRUST_PROXY } });
    await service.createUser();
    for (const [path, headers] of Object.entries(
      await paths({ ...service, issuer: (id) => `https://id.example/oauth/v1${id === 'built-in' ? '' : `/${id}`}` }),
    )) {
      const plain = await ask(service, path, { host: 'id.example', ...headers });
      const poisoned = await ask(service, path, { ...headers, ...POISON });
      const told = JSON.stringify([poisoned.headers, poisoned.text]);
      assert.ok(
        !told.includes(EVIL) && !told.includes(':6666'),
        `${path}: ${told.slice(Math.max(0, told.indexOf(EVIL) - 200)).slice(0, 400)}`,
      );
      assert.equal(poisoned.status, plain.status, path);
      assert.ok(plain.status < 500, path);
      // Whatever a cache may keep is the same to the letter.
      if (/no-store/.test(poisoned.headers['cache-control'] ?? '')) continue;
      assert.equal(withoutChance(poisoned.text), withoutChance(plain.text), path);
      assert.equal(poisoned.headers['set-cookie'], undefined, path);
    }
  });
}

test('a page of somebody is kept by no cache, under whatever name it is asked for (web cache deception)', async (t) => {
  const service = await startService(t);
  const agent = new UserAgent(service.baseUrl);
  await agent.signIn(await agent.visit('/signin'), { login: 'admin', password: 'the-administrators-password' });
  for (const home of ['/account', '/account/profile', '/account/security', '/admin', '/admin/users', '/api/v1/sessions/me']) {
    for (const end of [
      '',
      '/x.css',
      '/x.js',
      '.css',
      ';x.css',
      '%2fx.css',
      '%00.css',
      '?x.css',
      '/..%2fassets%2fgatehouse.css',
      '/%2e%2e/assets/x.css',
    ]) {
      const answer = await agent.send(home + end);
      assert.match(answer.headers.get('cache-control') ?? '', /no-store/, home + end);
    }
  }
});

test('a request is one request (RFC 9112 section 11.2, request smuggling)', async (t) => {
  const service = await startService(t);
  const { hostname, port } = new URL(service.listensAt);
  /** How many answers come, and the first one's status. */
  const send = async (lines: readonly string[]): Promise<{ status: string; answers: number }> => {
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.setTimeout(60_000, () => socket.destroy());
    socket.end(lines.join('\r\n'));
    let received = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      received += data;
    });
    await once(socket, 'close');
    return { status: /^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? '', answers: received.split('HTTP/1.1 ').length - 1 };
  };
  const smuggled = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const head = ['POST /oauth/v1/default/token HTTP/1.1', 'Host: x', 'Content-Type: application/x-www-form-urlencoded'];
  assert.deepEqual(await send(['GET /health/live HTTP/1.1', 'Host: x', 'Connection: close', '', '']), { status: '200', answers: 1 });
  for (const framing of [
    [`Content-Length: ${smuggled.length + 5}`, 'Transfer-Encoding: chunked', '', '0', '', smuggled],
    ['Content-Length: 6', `Content-Length: ${smuggled.length}`, '', smuggled],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', '', '0', '', smuggled],
    ['Transfer-Encoding: xchunked', 'Content-Length: 0', '', smuggled],
    ['Transfer-Encoding : chunked', '', '0', '', smuggled],
    ['X: y', ' Transfer-Encoding: chunked', '', '0', '', smuggled],
    ['Content-Length: +5', '', 'a=b&c', smuggled],
    ['Content-Length: 0x5', '', 'a=b&c', smuggled],
    ['X: a\rTransfer-Encoding: chunked', '', '0', '', smuggled],
  ]) {
    assert.deepEqual(await send([...head, ...framing]), { status: '400', answers: 1 }, framing[0]);
  }
});

test('whoever guesses is one address, whatever he says of himself (OWASP ASVS 5.0 V6.3.1)', async (t) => {
  for (const [TRUST_PROXY, forwarded] of [
    ['off', (turn: number) => `198.51.100.${turn}`],
    ['1', (turn: number) => `198.51.100.${turn}, 203.0.113.9`],
  ] as const) {
    const service = await startService(t, { env: { TRUST_PROXY } });
    const { clientId, clientSecret = '' } = await createClient(service, { grant_types: ['authorization_code', 'client_credentials'] });
    const guess = async (turn: number, secret: string, address = forwarded(turn)) => {
      const response = await fetch(`${service.issuer('default')}/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: secret }),
        headers: {
          'x-forwarded-for': address,
          forwarded: `for=${address}`,
          'x-real-ip': address,
          'client-ip': address,
          'true-client-ip': address,
        },
      });
      return response.status;
    };
    for (let turn = 0; turn < 101; turn += 1) await guess(turn, 'a-wrong-secret-0123456789-0123456789');
    assert.equal(await guess(200, clientSecret), 429, TRUST_PROXY);
    if (TRUST_PROXY === '1') assert.equal(await guess(0, clientSecret, '203.0.113.10'), 200, 'another one, as the proxy says');
  }
});
