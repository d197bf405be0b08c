import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { securityHeaders } from '../../../src/platform/http/security-headers.ts';
import { publicFiles, publicPath } from '../../../src/platform/http/static.ts';
import { createPages, type PageOptions } from '../../../src/platform/http/views.ts';

const VIEWS = new URL('../../../../views/', import.meta.url);
const LOCAL = loadConfig({});
const HTTPS = loadConfig({ BASE_URL: 'https://id.example' });
const FACTS = {
  heading: '',
  title: 'T',
  text: (key: string) => key,
  advice: '',
  help: '/docs/reference/errors#teapot',
  code: 'c',
  description: { text: 'd', lang: 'en' },
  lang: 'en',
};

async function serve(t: TestContext, middleware: Koa.Middleware, config = LOCAL): Promise<string> {
  const app = new Koa();
  app.silent = true;
  app.use(securityHeaders(config)).use(publicFiles).use(middleware);
  const server = http.createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const errorPageWith = (options: PageOptions, config = LOCAL): Koa.Middleware => {
  const pages = createPages({ config });
  return (ctx) => pages.render(ctx, 'error', { ...FACTS, application: undefined, startPage: false }, options);
};

const policyOf = (answer: Response): Map<string, string> =>
  new Map(
    (answer.headers.get('content-security-policy') ?? '').split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(' ');
      return [name, sources.join(' ')];
    }),
  );

test('a page is HTML that nobody stores, guesses at, frames or names as a referrer', async (t) => {
  const answer = await fetch(await serve(t, errorPageWith({ status: 418 })));
  assert.equal(answer.status, 418);
  const expected = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'strict-transport-security': null,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name);
  assert.match(answer.headers.get('permissions-policy') ?? '', /camera=\(\)/);
});

test('HSTS is sent on https only (RFC 6797 section 7.2)', async (t) => {
  const answer = await fetch(await serve(t, errorPageWith({}, HTTPS), HTTPS));
  assert.equal(answer.headers.get('strict-transport-security'), 'max-age=31536000');
});

test('the content security policy allows nothing but the service itself (CSP level 3)', async (t) => {
  const policy = policyOf(await fetch(await serve(t, errorPageWith({}))));
  assert.deepEqual(Object.fromEntries(policy), {
    'default-src': "'none'",
    'style-src': "'self'",
    'script-src': "'self'",
    'img-src': "'self' data:",
    'font-src': "'none'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  });
});

test('form-action names the origin or scheme of the validated redirect URI, img-src that of the logo', async (t) => {
  const options = { formAction: ['https://app.example:8443', 'com.example.app:'], images: ['https://cdn.example'] };
  const policy = policyOf(await fetch(await serve(t, errorPageWith(options))));
  assert.equal(policy.get('form-action'), "'self' https://app.example:8443 com.example.app:");
  assert.equal(policy.get('img-src'), "'self' data: https://cdn.example");
});

test('a native application on an IPv6 loopback address is named by its scheme: CSP knows no IPv6 (RFC 8252 section 7.3)', async (t) => {
  const policy = policyOf(await fetch(await serve(t, errorPageWith({ formAction: ['http://[::1]:49152'] }))));
  assert.equal(policy.get('form-action'), "'self' http:");
});

test('an origin cannot add a directive of its own to the policy', async (t) => {
  const answer = await fetch(await serve(t, errorPageWith({ formAction: ['https://a;script-src *', 'https://b.example'] })));
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /form-action 'self' https:\/\/b\.example;/);
  assert.ok(!policy.includes('script-src *'), policy);
});

/** Another view, which is looked at itself. */
const PARTIAL = /^<%- include\('(?:(?:\.\.\/)?partials|admin)\/[a-z-]+'(, \{[^{}]*\})?\) -?%>$/;

/** Drawings of our own, by names that the service knows (icons.ts). */
const ICON = /^<%- icon\((?:'[a-zA-Z]+'|[a-zA-Z.]+)\) %>$/;

/** Elements that the service writes from a date alone (platform/i18n/times.ts). */
const TIME = /^<%- time\([a-zA-Z.]+\) %>$/;

test('no view prints anything unescaped; only icons, times, and the layout and a frame the body', () => {
  const views = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ejs'));
  assert.ok(views.includes('sign-in.ejs'));
  for (const view of views) {
    const printed = readFileSync(new URL(view, VIEWS), 'utf8').match(/<%-[^%]*%>/g) ?? [];
    const unescaped = printed.filter((tag) => ![PARTIAL, ICON, TIME].some((trusted) => trusted.test(tag)));
    assert.deepEqual(unescaped, ['layout.ejs', 'admin/frame.ejs', 'account/frame.ejs'].includes(view) ? ['<%- body -%>'] : [], view);
  }
});

test('no view holds a style or a script of its own, nor a handler (CSP without unsafe-inline); a mail holds its style', () => {
  for (const view of readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ejs'))) {
    const whole = readFileSync(new URL(view, VIEWS), 'utf8');
    const source = view === 'mail/mail.ejs' ? whole.replace(/<style>.*?<\/style>/s, '') : whole;
    assert.doesNotMatch(source, /<style|\sstyle=|\son[a-z]+\s*=|javascript:|<script(?![^>]*\ssrc=)/i, view);
  }
});

test('a public file is served for ever under its hash, and only while it is that file', async (t) => {
  const origin = await serve(t, (ctx) => ctx.throw(404));
  const path = publicPath('gatehouse.css');
  const answer = await fetch(origin + path);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');

  const etag = answer.headers.get('etag') ?? '';
  assert.equal((await fetch(origin + path, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } })).status, 304);
  assert.equal((await fetch(origin + path, { method: 'HEAD' })).status, 200);
  assert.equal((await fetch(origin + path, { method: 'POST' })).status, 404);
  assert.equal((await fetch(`${origin}/assets/gatehouse.css?v=old`)).headers.get('cache-control'), 'no-cache');
});

test('no path under the public files leads to another file', async (t) => {
  const origin = await serve(t, (ctx) => ctx.throw(404));
  for (const name of ['', '../layout.ejs', '..%2Flayout.ejs', '%2e%2e/layout.ejs', 'gatehouse.css%00', 'constructor', '/etc/passwd']) {
    assert.equal((await fetch(`${origin}/assets/${name}`)).status, 404, name);
  }
});

test('the styles know no left and right, so that they serve both writing directions (CSS Logical Properties level 1)', () => {
  const styles = readFileSync(new URL('public/gatehouse.css', VIEWS), 'utf8');
  assert.doesNotMatch(styles, /\b(left|right)\b(?!-)|[\s{;](width|height|top|bottom)\s*:/i);
});

test('text has five sizes', () => {
  const sheets = readdirSync(new URL('public/', VIEWS)).filter((file) => file.endsWith('.css'));
  for (const sheet of sheets) {
    const sizes = readFileSync(new URL(`public/${sheet}`, VIEWS), 'utf8').matchAll(/font-size: ([\d.]+)rem/g);
    const others = [...sizes].map(([, size]) => Number(size) * 16).filter((size) => ![12, 14, 16, 20, 28].includes(size));
    assert.deepEqual(others, [], sheet);
  }
});

test('where browsers look for an icon by themselves they are led to it', async (t) => {
  const answer = await fetch(`${await serve(t, (ctx) => ctx.throw(404))}/favicon.ico`, { redirect: 'manual' });
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.get('location'), publicPath('gatehouse.svg'));
});

test('e-mails use the sizes of text and the spaces of the pages', () => {
  const mail = readFileSync(new URL('mail/mail.ejs', VIEWS), 'utf8');
  const sizes = (property: RegExp): number[] =>
    [...mail.matchAll(property)].flatMap(([, value = '']) => [...value.matchAll(/(\d+)px/g)].map(([, size]) => Number(size)));
  const spaces = sizes(/(?:padding|margin)[a-z-]*: ([^;]*);/g);
  assert.ok(spaces.length > 10);
  assert.deepEqual(
    spaces.filter((space) => ![4, 8, 12, 16, 24, 32].includes(space)),
    [],
  );
  assert.deepEqual(
    sizes(/font-size: ([^;]*);/g).filter((size) => ![12, 14, 16, 20, 28].includes(size)),
    [],
  );
});
