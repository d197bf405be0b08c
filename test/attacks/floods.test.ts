/**
 * Requests by which anybody could fill the memory, the log or the event loop (OWASP ASVS 5.0 V15.2.2, V16.2.5; CWE-400, CWE-770; CVE-2022-21698): metrics
 * labels, unknown fields, large bodies, malformed packets, ports behind a proxy.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { pino } from 'pino';
import { API_RESOURCES } from '../../src/api/index.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { countPendingSignIns } from '../../src/features/sign-in/failure-limits.service.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { Services } from '../../src/platform/database/dependencies.ts';
import { observeRequests } from '../../src/platform/http/requests.ts';
import { REQUEST_BATCH, UnauthenticatedRequests } from '../../src/protocol/authorize/unauthenticated-requests.ts';
import { createAdministrator, createOrganization } from '../pages/console/administrators.ts';
import { answerOf, authorizeUrl, createClient, post, type TestClient } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { dataDirectory, eventually, runService } from '../support/process.ts';
import { API_TOKEN, STARTED, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

test('10,000 random paths and methods leave the number of metrics series as it was (CVE-2022-21698)', async (t) => {
  const observer = observeRequests(pino({ level: 'silent' }), { trustProxy: 0, telemetry: undefined }, API_RESOURCES);
  const server = createServer((req, res) => {
    void observer.observe(req, res, async () => void res.end());
  }).listen(0, '127.0.0.1');
  afterwards(t, () => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const series = async () => (await observer.registry.metrics()).split('\n').filter((line) => !line.startsWith('#')).length;
  const send = async (requests: readonly (readonly [method: string, path: string])[]) => {
    const socket = connect(port, '127.0.0.1');
    socket.end(
      requests
        .map(
          ([method, path], n) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${n === requests.length - 1 ? 'Connection: close\r\n' : ''}\r\n`,
        )
        .join(''),
    );
    socket.resume();
    await once(socket, 'close');
  };
  const word = () => randomBytes(8).toString('hex').replace(/[0-9]/g, 'z');
  const methods = ['GET', 'PURGE', 'PROPFIND'];
  const random = (n: number) =>
    [`/api/v1/${word()}`, `/oauth/${word()}configuration`, `/oauth/v1/${word()}/token`, `/${word()}`][n % 4] ?? '/';
  const requests = (count: number) => Array.from({ length: count }, (_, n) => [methods[n % 3] ?? 'GET', random(n)] as const);
  await send(requests(24));
  const before = await series();
  await send(requests(10_000));
  assert.equal(await series(), before);
  await send([['GET', '/api/v1/users']]);
  assert.match(await observer.registry.metrics(), /family="\/api\/v1\/users"/);
});

test('an operation without a token takes at most 16 KiB, others 64 KiB, and is read no further than its first unknown field', async (t) => {
  const { listensAt, api } = await startService(t);
  const authn = async (body: string) => {
    const response = await fetch(`${listensAt}/api/v1/authn`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    // biome-ignore lint/suspicious/noExplicitAny: a response of the API
    return { status: response.status, body: (await response.json()) as any };
  };
  const large = await authn(JSON.stringify({ username: 'x', password: 'y'.repeat(16 * 1024) }));
  assert.deepEqual([large.status, /larger than 16 KiB/.test(JSON.stringify(large.body))], [400, true]);
  const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, 1]));
  for (const body of [
    { username: 'x', password: 'y', ...unknown },
    { username: 'x', ...unknown, password: 7 },
  ]) {
    const many = await authn(JSON.stringify(body));
    assert.deepEqual([many.status, many.body.errorCauses], [400, [{ errorSummary: 'k0: is not a field of this resource' }]]);
  }
  const group = await api('POST', '/groups', { profile: { name: 'x', description: 'y'.repeat(64 * 1024) } });
  assert.match(JSON.stringify(group.body), /larger than 64 KiB/);
});

test('a packet that Node cannot parse is one short line of the log, without its bytes', async (t) => {
  const service = await runService(t, { ...STARTED, DATA_DIR: dataDirectory(t), LOG_LEVEL: 'trace' });
  const { hostname, port } = new URL(service.listensAt);
  const secret = `Secret-${randomBytes(12).toString('hex')}`;
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.resume();
  const first = JSON.stringify({ username: 'ada', password: secret });
  socket.write(
    `POST /api/v1/authn HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: SSWS ${secret}\r\nContent-Type: application/json\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${first.length.toString(16)}\r\n${first}\r\nZZ\r\n${secret}\r\n`,
  );
  await eventually(() => /HPE_/.test(service.output.stdout), 'the malformed packet is logged');
  await service.stop();
  const printed = service.output.stdout + service.output.stderr;
  // A Buffer in JSON is a list of decimal bytes.
  const decoded = printed.replace(/\[(\d{1,3}(?:,\d{1,3})*)\]/g, (_, bytes: string) =>
    Buffer.from(bytes.split(',').map(Number)).toString(),
  );
  assert.ok(!decoded.includes(secret), 'the secret is not in the log, in whichever form');
  assert.ok(!/rawPacket/.test(printed));
  const line = service.output.stdout.split('\n').find((one) => one.includes('HPE_')) ?? '';
  assert.deepEqual(Object.keys(JSON.parse(line)), ['level', 'time', 'pid', 'code', 'msg'], line);
});

test('behind a proxy that adds the port, limits count the address (CWE-307)', async (t) => {
  const { listensAt, api } = await startService(t, { env: { TRUST_PROXY: '1' } });
  const statuses = new Set<number>();
  for (let n = 0; n < 110; n += 1) {
    const response = await fetch(`${listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.9:${1024 + n}` },
      body: JSON.stringify({ username: `nobody-${n}`, password: 'wrong' }),
    });
    await response.arrayBuffer();
    statuses.add(response.status);
  }
  assert.deepEqual([...statuses], [401, 429]);
  const { body: events } = await api('GET', '/logs?limit=1&sortOrder=DESCENDING');
  assert.ok(!JSON.stringify(events).includes('203.0.113.9:'), JSON.stringify(events));
});

test('metrics are for administrators of the whole service, not of one organization', async (t) => {
  const service = await startService(t);
  const administrator = await createAdministrator(service, 'ORG_ADMIN', await createOrganization(service, 'A'));
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const { value } = await createApiToken({ database } as Services, { name: 'metrics', userId: administrator.id }, SYSTEM);
  const status = async (token: string) => {
    // A forwarded request does not count as one from this machine.
    const response = await fetch(`${service.listensAt}/metrics`, { headers: { via: '1.1 proxy', authorization: `SSWS ${token}` } });
    await response.arrayBuffer();
    return response.status;
  };
  assert.deepEqual([await status(value), await status(API_TOKEN)], [401, 200]);
});

test('a cursor is opaque, and belongs to one list and one caller: nobody counts the rows of others by it', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Own');
  for (const login of ['a', 'b', 'c']) await service.api('POST', '/users', { profile: { login: `${login}-own` }, orgId });
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const administrator = async () => {
    const { id } = await createAdministrator(service, 'ORG_ADMIN', orgId);
    const { value } = await createApiToken({ database } as Services, { name: 'lists', userId: id }, SYSTEM);
    return (path: string) => fetch(`${service.baseUrl}/api/v1${path}`, { headers: { authorization: `SSWS ${value}` } });
  };
  const [ada, bob] = [await administrator(), await administrator()];
  const cursorOf = async (get: typeof ada, path: string) => {
    const { status, headers } = await get(`${path}?limit=1`);
    assert.equal(status, 200, path);
    return new URL(/<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '').searchParams.get('after') ?? '';
  };
  const members = `/account/org/${orgId}/member`;
  const cursor = await cursorOf(ada, '/users');
  const another = await cursorOf(ada, '/users');
  assert.ok(cursor !== another && cursor.length === another.length, 'the same place looks different each time');
  const go = async (get: typeof ada, path: string, after: string) => {
    const response = await get(`${path}?after=${after}`);
    const body = (await response.json()) as { length: number; errorCauses: { errorSummary: string }[] };
    return response.status === 200 ? body.length : body.errorCauses[0]?.errorSummary;
  };
  assert.equal(typeof (await go(ada, '/users', cursor)), 'number');
  const refusal = 'after: must come from the link to the next page';
  const turned = cursor.at(-5) === 'A' ? 'B' : 'A';
  for (const altered of ['2147483648', '1', '', `${cursor}A`, cursor.slice(0, -5) + turned + cursor.slice(-4), 'x'.repeat(200)])
    assert.equal(await go(ada, '/users', altered), refusal, altered);
  assert.equal(await go(ada, members, cursor), refusal, 'of another list');
  assert.equal(await go(bob, '/users', cursor), refusal, 'of another caller');
});

test('an authorization request is bounded before it is stored, stored once, and kept for a quarter of an hour (CWE-770)', async (t) => {
  const service = await startService(t);
  const client = await createClient(service, { response_types: ['code', 'id_token'] });
  const ask = async (parameters: Record<string, string>) =>
    answerOf(await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters })));
  const tooLong = { login_hint: 'x'.repeat(321), nonce: 'x'.repeat(2049), state: 'x'.repeat(2049) };
  for (const [name, value] of Object.entries(tooLong)) {
    const { error, error_description } = await ask({ [name]: value });
    assert.deepEqual([error, error_description?.includes(name)], ['invalid_request', true], `${name}: ${error_description}`);
  }
  const required = await ask({ nonce: 'x'.repeat(2049), response_type: 'id_token' });
  assert.match(required.error_description ?? '', /nonce is longer than 2048 characters/);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`x${n}`, 'y'.repeat(1000)]));
  assert.equal((await ask(many)).error, 'invalid_request');

  const hint = `hint-${randomBytes(8).toString('hex')}@example.com`;
  await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: client.clientId, login_hint: hint }));
  const [row, ...others] = await onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query<{ payload: object; seconds: number }>(
      'SELECT payload, extract(epoch FROM expires_at - now())::integer AS seconds FROM oidc_payload WHERE payload::text LIKE $1',
      [`%${hint}%`],
    );
    return rows;
  });
  assert.ok(row !== undefined && others.length === 0);
  assert.equal(JSON.stringify(row.payload).split(hint).length - 1, 1, 'the hint is stored once');
  assert.ok(row.seconds <= 900, `${row.seconds} seconds`);
});

test('requests of one network without a session are limited, at all processes together (CWE-770)', async (t) => {
  const service = await startService(t);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const shared: Promise<unknown>[] = [];
  const process = () =>
    new UnauthenticatedRequests({
      rateLimits: true,
      countShared(network, requests) {
        const told = countPendingSignIns({ config: { rateLimits: true }, database } as Services, network, requests);
        shared.push(told);
        return told;
      },
    });
  const [first, second, third] = [process(), process(), process()];
  const send = async (to: UnauthenticatedRequests, network: string, requests: number) => {
    for (let n = 0; n < requests; n += 1) to.count(network);
    await Promise.all(shared.splice(0));
  };
  const refused = { error: 'temporarily_unavailable' };
  await send(first, '192.0.2.1', 1000);
  await send(second, '192.0.2.1', 999);
  // One more is the two thousandth: the process that counts it hears no further one, and another hears so with its next portion.
  await send(second, '192.0.2.1', 1);
  assert.throws(() => second.count('192.0.2.1'), refused);
  await send(first, '192.0.2.1', REQUEST_BATCH);
  assert.throws(() => first.count('192.0.2.1'), refused);
  await send(third, '192.0.2.1', REQUEST_BATCH);
  assert.throws(() => third.count('192.0.2.1'), refused);
  await send(first, '192.0.2.2', 1);

  await send(first, '127.0.0.1', 2000 - REQUEST_BATCH);
  const { clientId } = await createClient(service);
  const ask = async () =>
    answerOf(await new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: clientId }))).error;
  for (let n = 0; n < REQUEST_BATCH; n += 1) assert.equal(await ask(), undefined, `request ${n}`);
  await eventually(async () => (await ask()) === 'temporarily_unavailable', 'the service itself hears no more from here');

  const withoutDatabase = new UnauthenticatedRequests({ rateLimits: true, countShared: () => Promise.reject(new Error('away')) });
  await send(withoutDatabase, '192.0.2.1', 2000);
  assert.throws(() => withoutDatabase.count('192.0.2.1'), refused);
});

test('codes for devices that anybody can ask for are counted once each, by network; an application that proves itself is not (RFC 8628 section 5.2, CWE-770)', async (t) => {
  const service = await startService(t);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const grants = { grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'authorization_code'] };
  const [anybody, proven] = [await createClient(service, { ...grants, application_type: 'native' }), await createClient(service, grants)];
  const codeFor = async (by: TestClient) =>
    (await post(service, 'default', 'device_authorization', by, { client_id: by.clientId, scope: 'openid' })).body;
  await countPendingSignIns({ config: { rateLimits: true }, database } as Services, '127.0.0.1', 2000 - REQUEST_BATCH);
  for (let n = 0; n < REQUEST_BATCH; n += 1) assert.ok((await codeFor(anybody)).device_code, `code ${n}`);
  await eventually(async () => (await codeFor(anybody)).error === 'temporarily_unavailable', 'no more from here');
  assert.ok((await codeFor(proven)).device_code);
});
