/** `settings/password.breached`: new passwords are looked up at a server of ranges (k-anonymity), at every door; here at a real one that keeps what it was asked. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { CheckContext } from '../../../src/doctor/checks/check-context.ts';
import { passwordChecks } from '../../../src/doctor/checks/sign-in.ts';
import { rangeContains } from '../../../src/features/passwords/password.policy.ts';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { arriveAt } from '../../pages/account/arrival.ts';
import { enter, SUPER } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { API_TOKEN, type Service, STARTED, startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { UserAgent } from '../../support/user-agent.ts';

const LEAKED = 'a leaked long sentence';
const FRESH = 'a sentence of nobody else';
const sha1 = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();

interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

/** Answers as api.pwnedpasswords.com does; `behave` instead, where it is given. */
async function rangeServer(t: TestContext, behave?: (res: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((req, res) => {
    asked.push({ path: req.url ?? '', headers: req.headers });
    if (behave !== undefined) return behave(res);
    const prefix = (req.url ?? '').split('/').at(-1) ?? '';
    const digest = sha1(LEAKED);
    const lines = [`${'0'.repeat(34)}1:12`, ...(digest.startsWith(prefix) ? [`${digest.slice(5)}:7`] : []), `${sha1(FRESH).slice(5)}:0`];
    res.setHeader('content-type', 'text/plain').end(lines.join('\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/range/`, asked };
}

const turnOn = async (service: Service, breachedRangeUrl: string) =>
  assert.equal((await service.api('PUT', '/settings/password', { breached: 'RANGE_API', breachedRangeUrl })).status, 200);
const lookUps = async (service: Service, outcome: string): Promise<number> => {
  const text = await (await fetch(`${service.baseUrl}/metrics`, { headers: { authorization: `SSWS ${API_TOKEN}` } })).text();
  return Number(new RegExp(`^gatehouse_breached_password_lookups_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
};
const withPassword = (value: string) => ({ credentials: { password: { value } } });
const create = (service: Service, password: string) =>
  service.api('POST', '/users', { profile: { login: `user-${Math.random()}@example.com` }, ...withPassword(password) });

test('a breached password is refused wherever one is chosen, and only five digits of its SHA-1 leave the service', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const ranges = await rangeServer(t);

  await t.test('off by default: nothing is asked', async () => {
    assert.equal((await create(service, LEAKED)).status, 200);
    assert.deepEqual(ranges.asked, []);
  });
  await turnOn(service, ranges.url);

  await t.test('the API refuses it by name, with a request that names five digits and nothing of the user', async () => {
    const refused = await create(service, LEAKED);
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /credentials\.password\.value: is known from a data breach. Choose another one/);
    assert.equal(ranges.asked.length, 1);
    const [{ path, headers }] = ranges.asked as [Asked];
    assert.equal(path, `/range/${sha1(LEAKED).slice(0, 5)}`);
    assert.equal(headers['add-padding'], 'true');
    for (const name of ['cookie', 'authorization', 'x-forwarded-for', 'referer']) assert.equal(headers[name], undefined, name);
    assert.ok(!JSON.stringify(ranges.asked).includes(sha1(LEAKED).slice(5)), 'not the whole digest');
    assert.equal((await create(service, FRESH)).status, 200, 'seen 0 times is padding');
    assert.equal(await lookUps(service, 'found'), 1);
    assert.equal(await lookUps(service, 'clean'), 1);
  });

  await t.test('a password that the service itself refuses is not sent', async () => {
    const before = ranges.asked.length;
    assert.equal((await create(service, 'password1')).status, 400);
    assert.equal((await create(service, 'short')).status, 400);
    assert.equal(ranges.asked.length, before);
  });

  await t.test('by the link of an activation or a reset, and at the account page', async () => {
    const login = 'linked@example.com';
    const { id } = (await service.api('POST', '/users?activate=false', { profile: { login } })).body;
    for (const step of ['activate', 'reset_password']) {
      const { body } = await service.api('POST', `/users/${id}/lifecycle/${step}?sendEmail=false`);
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.visit(body.activationUrl ?? body.resetPasswordUrl);
      const refused = await browser.submit(page, 'choose-password-form', { password: LEAKED });
      assert.equal(refused.status, 400, step);
      assert.match(refused.text, /This password is known from a data breach/);
      assert.equal((await browser.submit(refused, 'choose-password-form', { password: `${FRESH} ${step}` })).status, 200, step);
    }
    const { browser, page } = await arriveAt(service, '/account/password', { id, login, password: `${FRESH} reset_password` });
    const refused = await browser.submit(page, 'password-form', { current: `${FRESH} reset_password`, password: LEAKED });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /This password is known from a data breach/);
  });

  await t.test('the console sets it; an address that is none is refused; the change is in the log', async () => {
    const { agent } = await enter(service, SUPER);
    const form = await agent.visit('/admin/security/passwords/edit');
    for (const breachedRangeUrl of [
      'http://ranges.example/',
      'https://ranges.example/range',
      'https://u:p@ranges.example/',
      'ftp://ranges.example/',
      'https://ranges.example/?q=/',
    ])
      assert.equal((await agent.submit(form, 'console-form', { breachedRangeUrl })).status, 400, breachedRangeUrl);
    const saved = await agent.submit(form, 'console-form', { breached: 'OFF', breachedRangeUrl: '' });
    assert.match(saved.text, /Not looked up/);
    const { body } = await service.api(
      'GET',
      `/logs?filter=${encodeURIComponent('eventType eq "system.settings.update"')}&sortOrder=DESCENDING`,
    );
    const { before, after } = body[0].debugContext;
    assert.deepEqual([before.breached, after.breached], ['RANGE_API', 'OFF']);
  });
});

test('while the range server does not answer as it should, passwords are accepted, counted and logged without the digits', async (t) => {
  const lines: string[] = [];
  const service = await startService(t, {
    env: { ALLOW_PRIVATE_NETWORK: 'true', LOG_LEVEL: 'warn' },
    onLog: (line) => lines.push(line),
  });
  withTimings(t, { breachedPasswords: 200 });
  const failing: Readonly<Record<string, (res: ServerResponse) => void>> = {
    'is silent': () => undefined,
    'answers 503': (res) => res.writeHead(503).end(),
    redirects: (res) => res.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    'answers a page': (res) => res.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>'),
    'answers endlessly': (res) => void res.write(`${'A'.repeat(35)}:1\r\n`.repeat(20_000)),
    breaks: (res) => res.destroy(),
  };
  let failed = 0;
  for (const [how, behave] of Object.entries(failing)) {
    const { url } = await rangeServer(t, behave);
    await turnOn(service, url);
    assert.equal((await create(service, LEAKED)).status, 200, how);
    failed += 1;
    assert.equal(await lookUps(service, 'failed'), failed, how);
  }
  assert.equal(lines.filter((line) => line.includes('breached-password server did not respond')).length, failed);
  assert.ok(!lines.join().includes(sha1(LEAKED).slice(0, 5)));
});

test('the range server is called by the guarded client: none of a private network without ALLOW_PRIVATE_NETWORK (SSRF)', async (t) => {
  const service = await startService(t);
  const ranges = await rangeServer(t);
  await turnOn(service, ranges.url);
  assert.equal((await create(service, LEAKED)).status, 200);
  assert.deepEqual(ranges.asked, []);
});

test('the doctor tries the range server with digits that tell nothing', async (t) => {
  const service = await startService(t);
  const ranges = await rangeServer(t);
  const [rule] = passwordChecks;
  const config = loadConfig({ DATABASE_URL: service.database.url, ...STARTED, BASE_URL: service.baseUrl, ALLOW_PRIVATE_NETWORK: 'true' });
  const database = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => undefined });
  afterwards(t, () => database.close());
  const ground = { url: service.baseUrl, config, database: async () => database } as unknown as CheckContext;
  await assert.rejects(async () => rule?.run(ground), /is off/);
  await turnOn(service, ranges.url);
  await rule?.run(ground);
  assert.deepEqual(
    ranges.asked.map(({ path }) => path),
    ['/range/00000'],
  );
  await turnOn(service, 'http://127.0.0.1:9/');
  await assert.rejects(async () => rule?.run(ground), /check breachedRangeUrl/);
});

test('a range is read line by line, whatever its ends and case', () => {
  const end = 'A'.repeat(35);
  for (const [range, held] of [
    [`${end}:3`, true],
    [`${'B'.repeat(35)}:1\r\n${end.toLowerCase()}:3\r\n`, true],
    [`${end}:0\n`, false],
    [`${end}`, false],
    [`X${end}:3`, false],
    ['', false],
  ] as const)
    assert.equal(rangeContains(range, end), held, range);
});
