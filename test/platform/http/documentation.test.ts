/** The documentation site at /docs: the files of its folder and no other, under a policy without foreign sources. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import Koa from 'koa';
import { documentation } from '../../../src/platform/http/documentation.ts';
import { afterwards } from '../../support/afterwards.ts';

async function site(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const parent = mkdtempSync(path.join(tmpdir(), 'gatehouse-docs-'));
  writeFileSync(path.join(parent, 'secret.json'), '"secret"');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(parent, 'docs', name)), { recursive: true });
    writeFileSync(path.join(parent, 'docs', name), text);
  }
  const koa = new Koa();
  koa.use(documentation(new URL('docs/', pathToFileURL(`${parent}/`))));
  koa.use((ctx) => {
    ctx.status = 404;
    ctx.body = 'the next middleware';
  });
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** fetch would normalize the path and ask for a fresh response. */
const raw = (base: string, address: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<string>((resolve, reject) => {
    request({ host: '127.0.0.1', port: new URL(base).port, path: address, headers }, async (response) => {
      let body = '';
      for await (const part of response.setEncoding('utf8')) body += part;
      resolve(`${response.statusCode} ${body}`);
    })
      .on('error', reject)
      .end();
  });

const SITE = {
  'index.html': '<script>one()</script><script src="/docs/assets/a.js"></script>',
  'how-to/deploy.html': 'Deploy',
  'decisions/index.html': 'Decisions',
  'assets/a.js': 'a()',
  '404.html': 'No such page',
  'notes.txt': 'not a type of the site',
};

test('pages have clean addresses, scripts of the page run by their hash, and what is not there is 404', async (t) => {
  const base = await site(t, SITE);
  const seen = async (address: string) => {
    const { status, headers } = await fetch(base + address, { redirect: 'manual' });
    return [status, headers.get('location')?.replace(base, ''), headers.get('content-type')];
  };
  const html = 'text/html; charset=utf-8';
  assert.deepEqual(await seen('/docs'), [302, '/docs/', 'text/html; charset=utf-8']);
  assert.deepEqual(await seen('/docs/'), [200, undefined, html]);
  assert.deepEqual(await seen('/docs/how-to/deploy'), [200, undefined, html]);
  assert.deepEqual(await seen('/docs/decisions'), [302, '/docs/decisions/', html]);
  assert.deepEqual(await seen('/docs/notes.txt'), [404, undefined, html]);
  assert.deepEqual(await seen('/docsomething'), [404, undefined, 'text/plain; charset=utf-8']);
  const page = await fetch(`${base}/docs/`);
  const policy = page.headers.get('content-security-policy') ?? '';
  // printf 'one()' | openssl dgst -sha256 -binary | base64
  assert.match(policy, /script-src 'self' 'sha256-[\w+/]{43}='; style-src 'self' 'unsafe-inline'/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe|https?:|\*/);
  assert.equal(await raw(base, '/docs/', { 'if-none-match': page.headers.get('etag') ?? '' }), '304 ');
  assert.match((await fetch(`${base}/docs/assets/a.js`)).headers.get('cache-control') ?? '', /immutable/);
  assert.equal((await fetch(`${base}/docs/`, { method: 'POST' })).status, 404);
});

test('no path leads out of the folder (CWE-22)', async (t) => {
  const base = await site(t, SITE);
  for (const address of [
    '/docs/../secret.json',
    '/docs/%2e%2e/secret.json',
    '/docs/..%2fsecret.json',
    '/docs/assets/../../secret.json',
    '/docs//etc/passwd',
  ]) {
    assert.equal(await raw(base, address), '404 No such page', address);
  }
});

test('a service without a built site says how to build it', async (t) => {
  const response = await fetch(`${await site(t, {})}/docs/`);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /npm run docs/);
});
