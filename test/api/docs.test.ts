/** The readable page of the management API's description: all of it is there, without a script, on any screen, for everybody. */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { z } from 'zod';
import { type ApiDescription, docsPage } from '../../src/api/docs.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { describeApi } from '../../src/api/openapi.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { createPages } from '../../src/platform/http/views.ts';
import { assertAccessible, assertFits } from '../support/accessibility.ts';
import { afterwards } from '../support/afterwards.ts';
import { inBrowser } from '../support/browser.ts';
import { serve, testServices } from '../support/management-api.ts';

const BASE = `${loadConfig({}).baseUrl}/api/v1`;
const described = docsPage(JSON.parse(JSON.stringify(describeApi(ENDPOINTS))) as ApiDescription, BASE);
const operations = described.resources.flatMap((resource) => resource.operations);

describe('GET /api/v1/docs (management API)', () => {
  let parts: Awaited<ReturnType<typeof testServices>>;
  let server: Awaited<ReturnType<typeof serve>>;
  let html = '';
  before(async () => {
    parts = await testServices();
    server = await serve(parts.services);
    const answer = await fetch(`${server.base}/docs`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.match(answer.headers.get('x-rate-limit-limit') ?? '', /^\d+$/);
    html = await answer.text();
  });
  after(async () => {
    server.close();
    await parts.close();
  });

  it('has every operation, once, under its resource', () => {
    const told = operations.map(({ method, path }) => `${method} ${path}`);
    const declared = ENDPOINTS.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    assert.deepEqual(told.sort(), [...declared, 'GET /openapi.json'].sort());
    for (const { id, summary } of operations) {
      assert.equal(html.split(`<h3 id="${id}">`).length, 2, id);
      assert.ok(html.includes(escaped(summary)), summary);
    }
  });

  it('tells what each takes, with constraints, and what it answers', () => {
    const create = operations.find(({ id }) => id === 'createApiToken');
    assert.deepEqual(create?.body?.fields, [
      { name: 'name', type: 'text', schema: undefined, constraints: ['1 to 255 characters'], required: true, description: '' },
      {
        name: 'type',
        type: 'API or SCIM',
        schema: undefined,
        constraints: [],
        required: false,
        description: 'SCIM: only for provisioning at /scim/v2. Default: API',
      },
      {
        name: 'orgId',
        type: 'text',
        schema: undefined,
        constraints: ['1 to 255 characters', 'or null'],
        required: false,
        description: 'SCIM tokens only: limits the token to the members of this organization. Absent or null: the whole service',
      },
      {
        name: 'expiresAt',
        type: 'time',
        schema: undefined,
        constraints: ['or null'],
        required: false,
        description: 'Must be in the future. Absent or null: never expires',
      },
    ]);
    assert.deepEqual(
      create?.answers.map(({ status, schema }) => [status, schema]),
      [
        ['200', 'CreatedApiToken'],
        ['400', undefined],
        ['401', undefined],
        ['403', undefined],
        ['409', undefined],
        ['other', undefined],
      ],
    );
    const limit = operations.find(({ id }) => id === 'listUsers')?.parameters.find(({ name }) => name === 'limit');
    assert.deepEqual([limit?.type, limit?.constraints], ['whole number in the query', ['1 to 200', 'default 20']]);
    const app = operations.find(({ id }) => id === 'createApp');
    const leeway = app?.body?.fields.find(({ name }) => name === 'settings.oauthClient.refresh_token.leeway');
    assert.deepEqual([leeway?.type, leeway?.constraints], ['whole number', ['at most 60']]);
    const roles = operations.find(({ id }) => id === 'deleteGroup');
    assert.equal(roles?.description, 'For SUPER_ADMIN.');
  });

  it('names every schema that it refers to', () => {
    const schemas = new Set(described.schemas.map(({ name }) => name));
    const named = [...html.matchAll(/href="#([^"]+)"/g)].map(([, name = '']) => name);
    for (const name of named) assert.ok(html.includes(`id="${name}"`), name);
    for (const name of named.filter((one) => one.startsWith('schema-'))) assert.ok(schemas.has(name.slice('schema-'.length)), name);
  });

  for (const { id, method, path, example } of operations) {
    it(`has an example of ${id} that a shell understands and the operation takes`, () => {
      assert.ok(html.includes(escaped(example)), example);
      assert.match(example, /^curl (-X (POST|PUT|DELETE) )?"http:\/\/localhost:3000\/api\/v1[\w/.$-]*"/);
      const declared = ENDPOINTS.find((one) => one.method === method && one.path.replace(/:(\w+)/g, '{$1}') === path);
      const body = /-d '(.*)'$/.exec(example)?.[1];
      assert.equal(body === undefined, declared?.body === undefined);
      if (body === undefined || declared?.body === undefined) return;
      const { success, error } = declared.body.safeParse(JSON.parse(body));
      assert.ok(success, error && z.prettifyError(error));
    });
  }
});

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' })[sign] ?? sign);

/** One view draws all operations and schemas. Leaves each way to nest elements five times, which spares axe-core 20,000 of them. */
const LEAVE_EACH_KIND = `
  const times = new Map();
  for (const article of document.querySelectorAll('article')) {
    const kinds = [...article.querySelectorAll('*')].map(({ tagName, className, parentElement }) => [parentElement.tagName, tagName, className].join(' '));
    if (kinds.every((kind) => times.get(kind) >= 5)) article.remove();
    for (const kind of new Set(kinds)) times.set(kind, (times.get(kind) ?? 0) + 1);
  }`;

test(
  'the description is readable in light and dark and on a phone, without a script (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const { services, close } = await testServices();
    const server = await serve(services);
    t.after(async () => {
      server.close();
      await close();
    });
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('requestfailed', (request) => problems.push(request.url()));
    await page.goto(`${server.base}/docs`);
    assert.equal(await page.locator('script').count(), 0);
    for (const width of [320, 1280]) await assertFits(page, 'docs', width);
    await page.evaluate(LEAVE_EACH_KIND);
    assert.ok((await page.locator('article').count()) >= 5);
    await assertAccessible(page, 'docs');
    await page.reload();
    await page.getByRole('navigation', { name: 'Resources' }).getByRole('link', { name: 'users' }).click();
    assert.equal(await page.evaluate("document.querySelector('#users').getBoundingClientRect().top < innerHeight"), true);
    assert.deepEqual(problems, []);
  }),
);

test('the page is drawn once, however often it is asked for (CWE-400)', async (t) => {
  const parts = await testServices();
  afterwards(t, parts.close);
  const real = createPages(parts.services);
  let reads = 0;
  const told = new Set<unknown>();
  const pages: typeof real = {
    render(ctx, view, locals, options) {
      told.add(locals.resources);
      const resources = new Proxy(locals.resources as object, {
        get(target, key) {
          reads += 1;
          return Reflect.get(target, key);
        },
      });
      return real.render(ctx, view, { ...locals, resources }, options);
    },
  };
  const server = await serve(parts.services, { pages });
  afterwards(t, async () => server.close());
  const page = async () => (await fetch(`${server.base}/docs`)).text();
  const first = await page();
  assert.ok(reads > 0);
  reads = 0;
  assert.equal(await page(), first);
  assert.deepEqual([reads, told.size], [0, 1]);
});
