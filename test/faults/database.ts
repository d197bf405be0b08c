/**
 * The ways in which a database fails a running service, from outside, against the real command: what each kind of caller is told (issue 12, "Faults"),
 * how long it takes at most, and that nothing needs a restart. A database that is stopped and started is the matter of test/faults/outage.test.ts.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { authorizeUrl, createClient, post, type TestClient, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { startedDatabase } from '../support/database.ts';
import { dataDirectory, eventually, type RunningService, runService } from '../support/process.ts';
import { API_TOKEN, STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { openDoor } from './door.ts';

const CONNECTIONS = 40;
/** Connections of a process of the service. */
const POOL_SIZE = 10;
/** Seconds in which every request is answered (docs/reference/failures.md), whatever the database does, and where it hangs. */
const LIMIT = 30;
const LIMIT_OF_SILENCE = 12;
/** Seconds that a busy machine adds: at least these, and so many times what it takes in the same run to answer when all is well. */
const BUSY = 5;
const BUSY_TIMES = 10;

interface Reported {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly seconds: number;
}

interface Callers {
  readonly service: RunningService;
  readonly client: TestClient;
  readonly browser: UserAgent;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** A sign-in that waits for its user. */
  readonly waiting: { readonly browser: UserAgent; readonly address: URL };
}

async function callersOf(service: RunningService): Promise<Callers> {
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
  const browser = new UserAgent(service.baseUrl);
  const { body } = await tokensFor(service, browser, await service.createUser(), client);
  const newcomer = new UserAgent(service.baseUrl);
  const { url } = await newcomer.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId }));
  const waiting = { browser: newcomer, address: url };
  return { service, client, browser, accessToken: body.access_token, refreshToken: body.refresh_token, waiting };
}

/** Requests that need the database, and those of them that write. */
function requests({ service, client, browser, accessToken, refreshToken, waiting }: Callers) {
  const own = service.issuer('built-in');
  const form = (endpoint: string, fields: Record<string, string>, serverId = 'built-in') =>
    fetch(`${service.issuer(serverId)}/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { authorization: `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}` },
    });
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${service.baseUrl}/api/v1${path}`, {
      ...init,
      headers: { authorization: `SSWS ${API_TOKEN}`, 'content-type': 'application/json', ...init.headers },
    });
  const visit = (agent: UserAgent, address: string | URL) => async () => {
    const { status, headers, text } = await agent.window().visit(address);
    return new Response(text, { status, headers });
  };
  const request = authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'login' });
  const writing = {
    token: () => form('token', { grant_type: 'client_credentials' }, 'default'),
    refresh: () => form('token', { grant_type: 'refresh_token', refresh_token: refreshToken }),
    authorize: visit(new UserAgent(service.baseUrl), request),
    create: () => api('/users?activate=false', { method: 'POST', body: JSON.stringify({ profile: { login: `u${Math.random()}` } }) }),
  };
  const reading = {
    introspect: () => form('introspect', { token: accessToken }),
    revoke: () => form('revoke', { token: 'no such token' }),
    userinfo: () => fetch(`${own}/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } }),
    account: visit(browser, '/account'),
    interaction: visit(waiting.browser, waiting.address),
    logout: visit(browser, `${own}/logout`),
    list: () => api('/users?limit=1'),
    problem: () => api('/users?limit=1', { headers: { accept: 'application/problem+json' } }),
  };
  return { writing, all: { ...writing, ...reading } };
}

const PAGES = new Set(['authorize', 'account', 'interaction', 'logout']);
const API = new Set(['create', 'list', 'problem']);

/** Makes all the requests at once. @returns what each was told */
async function answersTo(all: Record<string, () => Promise<Response>>): Promise<Record<string, Reported>> {
  const entries = Object.entries(all).map(async ([name, ask]) => {
    const begun = performance.now();
    const response = await ask();
    const { status, headers } = response;
    const [type, retryAfter] = [headers.get('content-type') ?? '', headers.get('retry-after')];
    const told = { status, type, retryAfter, text: await response.text(), seconds: (performance.now() - begun) / 1000 };
    return [name, told] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Everybody in his own terms: RFC 6749 section 5.2 as JSON, the API's error or problem, a page that says when to come again. */
function assertUnavailable(answers: Record<string, Reported>, when: string): void {
  for (const [name, { status, type, retryAfter, text }] of Object.entries(answers)) {
    const what = `${when}, ${name}: ${status} ${text.slice(0, 300)}`;
    assert.equal(status, 503, what);
    assert.match(retryAfter ?? '', /^\d+$/, what);
    if (PAGES.has(name)) {
      assert.match(type, /^text\/html/, what);
      assert.match(text, /<h1[^>]*>The service is not available at the moment/, what);
    } else if (API.has(name)) {
      assert.match(type, name === 'problem' ? /^application\/problem\+json/ : /^application\/json/, what);
      assert.equal(JSON.parse(text).errorCode, 'E0000009', what);
    } else {
      assert.match(type, /^application\/json/, what);
      assert.equal(JSON.parse(text).error, 'temporarily_unavailable', what);
    }
  }
}

const readiness = async ({ baseUrl }: RunningService) => (await fetch(`${baseUrl}/health/ready`)).status;

async function assertNotReady(service: RunningService, when: string): Promise<void> {
  await eventually(async () => (await readiness(service)) === 503, `${when}: not ready`);
  assert.equal((await fetch(`${service.baseUrl}/health/live`)).status, 200, `${when}: alive`);
}

/** Everything is answered as before, by the same process. @returns the seconds that the slowest took */
async function assertRecovered(callers: Callers, when: string): Promise<number> {
  const { service, client, accessToken } = callers;
  await eventually(async () => (await readiness(service)) === 200, `${when}: ready again`);
  const { refresh: _, ...all } = requests(callers).all;
  const answers = await answersTo(all);
  for (const [name, { status, text }] of Object.entries(answers)) {
    assert.ok(status < 300, `${when}, ${name}: ${status} ${text.slice(0, 300)}`);
  }
  assert.equal((await post(service, 'built-in', 'introspect', client, { token: accessToken })).body.active, true, when);
  assert.equal(service.child.exitCode, null);
  return Math.max(...Object.values(answers).map(({ seconds }) => seconds));
}

/** A service whose database lies behind the door; each request that follows the door's closing is a new one to the caches, too. */
async function serviceBehindDoor(t: TestContext, url: string) {
  const door = await openDoor(t, url);
  const service = await runService(t, { DATABASE_URL: door.url, ...STARTED, LOG_LEVEL: 'silent' });
  return { door, callers: await callersOf(service) };
}

/** A database that cuts connections, has none left, is read-only, has no room, and holds statements up. */
export async function refusals(t: TestContext): Promise<void> {
  const database = await startEmbeddedPostgres({
    dataDir: dataDirectory(t),
    say: () => {},
    settings: { max_connections: String(CONNECTIONS), fsync: 'off' },
  });
  afterwards(t, () => database.stop());
  const { user, password, host = '', port } = database.superuser;
  const url = `postgres://${user}:${password}@localhost:${port}/postgres?host=${encodeURIComponent(host)}`;
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    afterwards(t, () => client.end());
    return client;
  };
  const operator = await connect();
  const { door, callers } = await serviceBehindDoor(t, url);
  const { service } = callers;

  door.set('cut');
  await assertNotReady(service, 'cut');
  assertUnavailable(await answersTo(requests(callers).all), 'cut');

  const others: pg.Client[] = [];
  await assert.rejects(async () => {
    for (;;) others.push(await connect());
  }, /too many clients|remaining connection slots/);
  door.set('open');
  await assertNotReady(service, 'no connection left');
  assertUnavailable(await answersTo(requests(callers).all), 'no connection left');
  await Promise.all(others.map((other) => other.end()));
  await assertRecovered(callers, 'connections again');

  // As managed databases do when their disk is full. Connections that were opened before do not know of it.
  await operator.query('ALTER DATABASE postgres SET default_transaction_read_only = on');
  door.set('cut');
  door.set('open');
  const { introspect } = requests(callers).all;
  await eventually(async () => (await introspect()).status === 200, 'what only reads is answered');
  assert.equal(await readiness(service), 503, 'read-only: not ready');
  assertUnavailable(await answersTo(requests(callers).writing), 'read-only');
  await operator.query('SET default_transaction_read_only = off');
  await operator.query('ALTER DATABASE postgres RESET default_transaction_read_only');
  // Nothing is cut now: the connections that were opened meanwhile would be read-only for as long as they live.
  for (let refused = 0; (await requests(callers).writing.create()).status === 503; refused += 1) {
    assert.ok(refused < POOL_SIZE, 'each connection is refused once at most');
  }
  await assertRecovered(callers, 'writable again');

  // What PostgreSQL says when a table cannot grow; a disk that is full indeed is tried by test/long/disk-full.test.ts, which not every machine can make.
  await operator.query(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  for (const table of ['users', 'oidc_payload'])
    await operator.query(`CREATE TRIGGER full_disk BEFORE INSERT ON ${table} EXECUTE FUNCTION no_room()`);
  assertUnavailable(await answersTo(requests(callers).writing), 'no room');
  await operator.query('DROP FUNCTION no_room CASCADE');
  await assertRecovered(callers, 'room again');

  // Others' work holds up every statement, until the limit for one is reached.
  await operator.query('BEGIN');
  await operator.query('LOCK TABLE oidc_payload, users, api_tokens IN ACCESS EXCLUSIVE MODE');
  const held = await answersTo(requests(callers).all);
  assertUnavailable(held, 'held up');
  await operator.query('ROLLBACK');
  assertInTime(held, LIMIT, await assertRecovered(callers, 'no longer held up'));
  assert.equal(await service.stop(), 0);
}

/** A database that is slow, and then does not answer. @param stopsInSilence the process is stopped while it does not */
export async function silence(t: TestContext, { stopsInSilence }: { stopsInSilence: boolean }): Promise<void> {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const { door, callers } = await serviceBehindDoor(t, database.url);
  const { service } = callers;

  door.set({ late: 20 });
  await assertRecovered(callers, 'slow');

  door.set('silent');
  const { all } = requests(callers);
  // More than there are connections, so that most wait for one.
  const crowd = Array.from({ length: 3 }, (_, index) =>
    Object.entries(all).map(([name, ask]) => [`${name} ${index}`, ask] as const),
  ).flat();
  const [answers, many] = await Promise.all([answersTo(all), answersTo(Object.fromEntries(crowd)), assertNotReady(service, 'silent')]);
  assertUnavailable(answers, 'silent');
  for (const [name, { status }] of Object.entries(many)) assert.equal(status, 503, `silent: ${name}`);
  door.set('open');
  assertInTime({ ...many, ...answers }, LIMIT_OF_SILENCE, await assertRecovered(callers, 'answering again'));
  // What is under way at the database cannot be waited for: the process ends all the same.
  if (stopsInSilence) door.set('silent');
  assert.equal(await service.stop(), 0);
}

/** @param usual the seconds that a request takes on this machine when nothing is wrong */
function assertInTime(answers: Record<string, Reported>, limit: number, usual: number): void {
  const late = Object.entries(answers).filter(([, { seconds }]) => seconds > limit + Math.max(BUSY, BUSY_TIMES * usual));
  assert.deepEqual(
    late.map(([name, { seconds }]) => `${name} after ${seconds} s`),
    [],
  );
}
