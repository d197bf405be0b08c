/**
 * Requests that are cheap to send and dear to answer (RFC 6819 sections 4.4.1.11 and 4.4.1.12; OWASP ASVS 5.0 V1.3.12, V4.2.5, V6.2.9 and V15.2.2; CWE-400, CWE-409,
 * CWE-1333): packed bodies, long passwords, deep and wide values, expressions that run for ever. Each is answered as wrong, and others are served beside it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { authorizeUrl, createClient, post } from '../protocol/servers/relying-party.ts';
import { holdHashes } from '../support/held-hashes.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** Whatever takes longer is taken for what never ends. */
const END_MS = 60_000;
const MEGABYTE = 1024 * 1024;
const token = { authorization: `SSWS ${API_TOKEN}` };

test('requests that are dear to answer', async (t) => {
  const service = await startService(t);
  const client = await createClient(service, { grant_types: ['authorization_code', 'password', 'client_credentials'] });
  const user = await service.createUser();
  const send = async (path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> => {
    const response = await fetch(service.baseUrl + path, { redirect: 'manual', ...init, signal: AbortSignal.timeout(END_MS) });
    return { status: response.status, text: await response.text() };
  };
  const json = (path: string, body: string | Buffer | URLSearchParams, headers: Record<string, string> = {}) =>
    send(`/api/v1${path}`, { method: 'POST', headers: { ...token, 'content-type': 'application/json', ...headers }, body });
  const form = (path: string, body: string | Buffer | URLSearchParams, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: { origin: service.baseUrl, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
    });

  await t.test('a packed body is not unpacked beyond what a plain one may have (CWE-409)', async () => {
    const bomb = Buffer.alloc(8 * MEGABYTE, ' ');
    const name = (what: string) => Buffer.concat([Buffer.from(what), bomb]);
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', (data: Buffer) => brotliCompressSync(data)],
    ] as const) {
      const packed = await json('/groups', pack(name('{"profile":{"name":"x"}}')), { 'content-encoding': encoding });
      assert.deepEqual([packed.status, /larger than 64 KiB/.test(packed.text)], [400, true], `${encoding}: ${packed.text}`);
      // Who sends on after he was refused may find the connection closed.
      const refused = ({ status }: { status: number }) => status >= 400 && status < 500;
      const closed = (error: unknown) => error instanceof TypeError;
      const bodies = [
        ['/signin', 'username=x&password='],
        ['/oauth/v1/default/token', `client_id=${client.clientId}&x=`],
      ] as const;
      for (const [path, body] of bodies) {
        assert.ok(await form(path, pack(name(body)), { 'content-encoding': encoding }).then(refused, closed), `${path} ${encoding}`);
      }
      assert.equal((await send('/health/live')).status, 200);
    }
  });

  await t.test(
    'a password longer than any is refused at every door, by the API without being hashed, one of 1024 characters is not (OWASP ASVS 5.0 V6.2.9)',
    async (t) => {
      const long = randomBytes(30_000).toString('base64url');
      const browser = new UserAgent(service.baseUrl);
      const shown = await browser.signIn(await browser.visit('/signin'), { login: user.login, password: long });
      assert.match(shown.text, /id="sign-in-form"/);
      const grant = await post(service, 'default', 'token', client, { grant_type: 'password', username: user.login, password: long });
      assert.equal(grant.body.error, 'invalid_grant');
      // The answer waits for no hash.
      const release = holdHashes(t);
      assert.equal((await json('/authn', JSON.stringify({ username: user.login, password: long }))).status, 400);
      assert.equal(
        (await json('/users', JSON.stringify({ profile: { login: 'long' }, credentials: { password: { value: long } } }))).status,
        400,
      );
      await release();
      const longest = randomBytes(768).toString('base64url');
      const made = await json('/users', JSON.stringify({ profile: { login: 'longest' }, credentials: { password: { value: longest } } }));
      assert.equal(made.status, 200, made.text);
      assert.equal((await json('/authn', JSON.stringify({ username: 'longest', password: longest }))).status, 200);
      assert.equal(
        (await json('/authn', JSON.stringify({ username: 'longest', password: `${longest.slice(0, -1)}.` }))).status,
        401,
        'to its last character',
      );
    },
  );

  await t.test('deep, wide and endless values are refused in their turn (CWE-1333)', async () => {
    const many = (part: string, times: number) => part.repeat(times);
    const wide = `{"profile":{"login":"x",${Array.from({ length: 40_000 }, (_, n) => `"a${n}":1`).join()}}}`;
    const filters = [
      many('(', 5000),
      `login eq "x"${many(' or login eq "x"', 300)}`,
      many('not (', 1000),
      `login sw "${many('%', 2000)}"`,
      `profile.${many('a.', 1500)} pr`,
    ];
    const words = `${many('a', 3000)}!`;
    const requests: [what: string, run: () => Promise<{ status: number; text: string }>][] = [
      ['deep JSON', () => json('/users', many('{"a":', 100_000) + many('}', 100_000))],
      ['deep arrays', () => json('/users', many('[', 500_000))],
      ['wide JSON', () => json('/users', wide)],
      ['a long login', () => json('/users', JSON.stringify({ profile: { login: many('x@', 100_000) } }))],
      [
        'a long e-mail address',
        () => json('/users', JSON.stringify({ profile: { login: 'e', email: `${many('a.', 60_000)}@${many('b.', 60_000)}` } })),
      ],
      [
        'a long address',
        () =>
          json('/apps', JSON.stringify({ label: 'x', settings: { oauthClient: { redirect_uris: [`https://${many('a', 100_000)}/`] } } })),
      ],
      [
        'many addresses',
        () =>
          json(
            '/apps',
            JSON.stringify({ label: 'x', settings: { oauthClient: { redirect_uris: Array(20_000).fill('https://a.example/') } } }),
          ),
      ],
      ...filters.map((filter, n): (typeof requests)[number] => [
        `filter ${n}`,
        () => send(`/api/v1/users?filter=${encodeURIComponent(filter)}`, { headers: token }),
      ]),
      ['many parameters', () => form('/oauth/v1/default/token', many('a=b&', 12_000))],
      ['one parameter a thousand times', () => form('/oauth/v1/default/token', many('scope=a&', 6000))],
      ['brackets in a form', () => form('/signin', `username${many('[a]', 5000)}=x&password=y`)],
      [
        'many scopes',
        () =>
          form(
            '/oauth/v1/default/token',
            `grant_type=client_credentials&client_id=${client.clientId}&client_secret=${client.clientSecret}&scope=${many('a%20', 12_000)}`,
          ),
      ],
      ['a long request object', () => form('/oauth/v1/default/authorize', `client_id=${client.clientId}&request=${many('a.', 25_000)}`)],
      [
        'deep claims',
        () =>
          form(
            '/oauth/v1/default/authorize',
            new URLSearchParams({
              ...Object.fromEntries(authorizeUrl(service, 'default', { client_id: client.clientId }).searchParams),
              claims: many('{"a":', 5000),
            }),
          ),
      ],
      [
        'a long token',
        () =>
          form(
            '/oauth/v1/default/introspect',
            `client_id=${client.clientId}&client_secret=${client.clientSecret}&token=${many('e.', 25_000)}`,
          ),
      ],
      ['many languages', () => send('/signin', { headers: { 'accept-language': many('de;q=0.5,', 1500) } })],
      ['a language that is none', () => send('/signin', { headers: { 'accept-language': words } })],
      ['many cookies', () => send('/account', { headers: { cookie: many('a=b; ', 2500) } })],
      ['a browser of many words', () => send('/signin', { headers: { 'user-agent': many('Mozilla/5.0 (', 1000) } })],
      ['an Accept header of many types', () => send('/oauth/v1/default/authorize', { headers: { accept: many('text/html;q=0.1,', 900) } })],
      ['an Authorization header of many spaces', () => send('/api/v1/users', { headers: { authorization: `SSWS${many(' ', 8000)}x` } })],
      ['a long path', () => send(`/admin/${many('a/', 5000)}`)],
      ['a path of percents', () => send(`/account/${many('%25', 3000)}`)],
      ['more headers than are read', () => send('/signin', { headers: { 'x-long': many('x', 20_000) } })],
    ];
    for (const [what, run] of requests) {
      const [{ status, text }, live] = await Promise.all([run(), send('/health/live')]);
      assert.ok(status < 500 && status >= 200, `${what}: ${status} ${text.slice(0, 300)}`);
      assert.equal(live.status, 200, `${what}: others are served`);
    }
  });

  await t.test('codes and tokens that are made up are refused without a trace (RFC 6819 section 4.4.1.12)', async () => {
    const made = () => randomBytes(32).toString('base64url');
    const tries = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        post(
          service,
          'default',
          'token',
          client,
          n % 2 === 0
            ? { grant_type: 'authorization_code', code: made(), redirect_uri: 'https://app.example/callback' }
            : { grant_type: 'refresh_token', refresh_token: made() },
        ),
      ),
    );
    assert.deepEqual([...new Set(tries.map(({ status }) => status))], [400]);
    assert.equal((await post(service, 'default', 'token', client, { grant_type: 'client_credentials' })).status, 200);
  });
});
