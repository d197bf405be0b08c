import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { Keyring } from '../../../src/platform/crypto/secrets.ts';
import { createFormTokens, ForgedForm, fromOwnPage, refuseCrossSite } from '../../../src/platform/http/csrf.ts';
import { readForm } from '../../../src/platform/http/forms.ts';

const BASE = 'https://id.example';
const SECURE = loadConfig({ BASE_URL: BASE });
const LOCAL = loadConfig({});
const KEYRING = new Keyring([Buffer.alloc(32, 1)]);

for (const [origin, secFetchSite, accepted] of [
  [BASE, 'same-origin', true],
  [BASE, '', true],
  ['https://evil.example', 'cross-site', false],
  ['https://evil.example', 'same-origin', false],
  ['https://sub.id.example', 'same-site', false],
  ['http://id.example', '', false],
  ['null', 'same-origin', false],
  ['', 'same-origin', true],
  ['', 'none', true],
  ['', 'same-site', false],
  ['', 'cross-site', false],
  ['', '', true],
] as const) {
  test(`a post with Origin "${origin}" and Sec-Fetch-Site "${secFetchSite}" is ${accepted ? 'accepted' : 'refused'} (RFC 6454, Fetch Metadata)`, () => {
    assert.equal(fromOwnPage(BASE, { origin, secFetchSite }), accepted);
  });
}

/** GET gives the field, POST answers the form when it is accepted. */
async function serve(t: TestContext, config = LOCAL): Promise<string> {
  const tokens = createFormTokens(config, KEYRING);
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof ForgedForm)) throw error;
      ctx.status = 403;
      ctx.body = error.reason;
    }
  });
  app.use(refuseCrossSite(config));
  app.use(async (ctx) => {
    if (ctx.method === 'GET') ctx.body = tokens.field(ctx);
    else {
      const form = await readForm(ctx);
      tokens.verify(ctx, form);
      ctx.body = [...form];
    }
  });
  const server = http.createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

interface Shown {
  readonly cookie: string;
  readonly field: string;
}

async function show(url: string, cookie = ''): Promise<Shown> {
  const answer = await fetch(url, { headers: { cookie } });
  const { value } = (await answer.json()) as { value: string };
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', field: value };
}

const post = (
  url: string,
  cookie: string,
  form: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { cookie, ...headers }, body: typeof form === 'string' ? form : new URLSearchParams(form) });

test('a form is accepted from the browser it was shown in, in any of its tabs', async (t) => {
  const url = await serve(t);
  const first = await show(url);
  const second = await show(url, first.cookie);
  assert.equal(second.cookie, first.cookie);
  for (const { field } of [first, second]) assert.equal((await post(url, first.cookie, { csrf: field })).status, 200);
});

test('a form is refused without its token, without its cookie, and with those of another browser (RFC 9700 section 4.7)', async (t) => {
  const url = await serve(t);
  const mine = await show(url);
  const theirs = await show(url);
  const random = mine.cookie.split('=')[1] ?? '';
  for (const [cookie, csrf] of [
    [mine.cookie, ''],
    [mine.cookie, 'x'],
    [mine.cookie, theirs.field],
    [mine.cookie, random],
    ['', mine.field],
    ['gatehouse-form=', mine.field],
    ['gatehouse-form=short', mine.field],
  ] as const) {
    const answer = await post(url, cookie, { csrf });
    assert.equal(answer.status, 403);
    assert.equal(await answer.text(), 'token');
  }
});

test('a form of another site is refused even with a right token', async (t) => {
  const url = await serve(t);
  const { cookie, field } = await show(url);
  const answer = await post(url, cookie, { csrf: field }, { origin: 'https://evil.example' });
  assert.equal(await answer.text(), 'cross-site');
});

test('the cookie is HttpOnly and SameSite, on https also Secure and bound to the host (RFC 6265bis section 4.1.3.2)', async (t) => {
  const [plain] = (await fetch(await serve(t))).headers.getSetCookie();
  assert.match(plain ?? '', /^gatehouse-form=[\w-]{43}; path=\/; samesite=lax; httponly$/i);
  const [secure] = (await fetch(await serve(t, SECURE))).headers.getSetCookie();
  assert.match(secure ?? '', /^__Host-gatehouse-form=[\w-]{43}; path=\/; samesite=lax; secure; httponly$/i);
});

test('a form has names and strings: brackets and dots build nothing', async (t) => {
  const url = await serve(t);
  const { cookie, field } = await show(url);
  const answer = await post(url, cookie, { csrf: field, 'a[b][]': '1', '__proto__.x': '2', 'c.d': '3' });
  assert.deepEqual(await answer.json(), [
    ['csrf', field],
    ['a[b][]', '1'],
    ['__proto__.x', '2'],
    ['c.d', '3'],
  ]);
});

test('a body that is no form counts as an empty one, and one above 64 KiB is refused', async (t) => {
  const url = await serve(t);
  const { cookie, field } = await show(url);
  assert.equal((await post(url, cookie, JSON.stringify({ csrf: field }), { 'content-type': 'application/json' })).status, 403);
  assert.equal((await post(url, cookie, { csrf: field, filler: 'x'.repeat(65_536) })).status, 413);
});
