/** The command, from its first line to its exit code (documentation, "How it is started and configured"). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { authorizeUrl, createClient, post, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { emptyDatabase, onServer, startedDatabase } from '../support/database.ts';
import { dataDirectory, eventually, freePort, postmasterOf, type RunningService, run, runService } from '../support/process.ts';
import { ADMIN, API_TOKEN, newSecretKey, STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

test('a wrong configuration lists all its errors and ends with 1', async (t) => {
  const command = run(t, { PORT: 'x', WORKERS: '0', SECRET_KEY: 'much-too-short', DATABASE_URL: 'postgres://localhost/x' });
  assert.equal(await command.ended, 1);
  const [title, ...problems] = command.output.stderr.trimEnd().split('\n');
  assert.equal(title, 'The configuration has errors. Correct these environment variables:');
  assert.deepEqual(problems.map((line) => line.trim().split(' ', 1)[0]).sort(), ['PORT', 'SECRET_KEY', 'WORKERS']);
  assert.ok(!command.output.stderr.includes('much-too-short'));
  assert.equal(command.output.stdout, '');
});

for (const workers of ['1', '2']) {
  test(`a port in use is one clear line, exit code 1, and nothing stays behind (WORKERS=${workers})`, async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const address = taken.address();
    assert.ok(address !== null && typeof address === 'object');
    const DATA_DIR = dataDirectory(t);
    const env: Record<string, string> = { DATA_DIR, PORT: String(address.port), WORKERS: workers, LOG_LEVEL: 'silent' };
    // One start has the embedded PostgreSQL, which is stopped in the same way whoever serves.
    if (workers === '2') {
      const database = await startedDatabase();
      afterwards(t, () => database.drop());
      Object.assign(env, STARTED, { DATABASE_URL: database.url });
    }
    const command = run(t, env);
    assert.equal(await command.ended, 1);
    assert.equal(
      command.output.stderr,
      `Port ${address.port} on 127.0.0.1 is in use. Stop the process that uses it, or set PORT to another port.\n`,
    );
    assert.equal(postmasterOf(DATA_DIR), undefined, 'the embedded PostgreSQL is stopped again');
  });
}

test('a database that cannot be reached is one clear line without its password, and exit code 1', async (t) => {
  const DATABASE_URL = `postgres://gatehouse:the-password@localhost:${await freePort()}/gatehouse`;
  const command = run(t, { DATABASE_URL, SECRET_KEY: newSecretKey(), LOG_LEVEL: 'trace' });
  assert.equal(await command.ended, 1);
  assert.match(command.output.stderr, /^The database cannot be reached \(.*ECONNREFUSED.*\)\. [^\n]+\n$/);
  assert.ok(!JSON.stringify(command.output).includes('the-password'));
});

test('SIGTERM: a request under way is answered, no new one is taken, and the exit code is 0', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const service = await runService(t, { DATABASE_URL: database.url, ...STARTED });
  const { hostname, port } = new URL(service.baseUrl);
  // As browsers open some in advance, without a request.
  const silent = connect(Number(port), hostname);
  await once(silent, 'connect');
  const body = JSON.stringify({ profile: { login: 'begun-before' } });
  const head = [
    'POST /api/v1/users?activate=false HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: SSWS ${API_TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const socket = connect(Number(port), hostname);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data'); // 100 Continue: the request has arrived
  service.child.kill('SIGTERM');
  await eventually(() => refused(hostname, Number(port)), 'new connections are refused');
  assert.equal(service.child.exitCode, null);
  socket.write(body);
  assert.match(await text(socket), /^HTTP\/1\.1 20[01] /);
  assert.equal(await service.ended, 0);
  const { rowCount } = await onServer(database.url, (client) => client.query("SELECT 1 FROM users WHERE login = 'begun-before'"));
  assert.equal(rowCount, 1);
});

async function refused(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

for (const workers of ['1', '2']) {
  test(`nothing is printed as an error by a start and its first requests; the log gives each advice once (WORKERS=${workers})`, async (t) => {
    const database = await startedDatabase();
    afterwards(t, () => database.drop());
    const env = { DATABASE_URL: database.url, ...STARTED, LOG_LEVEL: 'info', WORKERS: workers };
    const service = await runService(t, env);
    const client = await createClient(service, { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] });
    // Its form is read before oidc-provider sees it.
    assert.equal((await post(service, 'default', 'token', client, { grant_type: 'client_credentials' })).status, 200);
    for (let n = 0; n < 4; n += 1)
      await fetch(`${service.listensAt}/health/live`, { headers: { 'X-Forwarded-For': '192.0.2.1', connection: 'close' } });
    assert.equal(await service.stop(), 0);
    assert.equal(service.output.stderr, '');
    assert.doesNotMatch(service.output.stdout, /oidc-provider/);
    const isOld = Number.parseInt(process.versions.node, 10) < 22;
    const times = (words: string) => service.output.stdout.split(words).length - 1;
    assert.equal(times('version 22 or later is recommended'), isOld ? 1 : 0);
    assert.equal(times('Gatehouse runs as root'), process.getuid?.() === 0 ? 1 : 0);
    assert.equal(times('SECRET_KEY is not random'), 0);
    const proxies = times('TRUST_PROXY is off');
    assert.ok(proxies >= 1 && proxies <= Number(workers), `${proxies} times`);
  });
}

test('two that start together on one empty database both come up; the first start happens once', async (t) => {
  const database = await emptyDatabase();
  afterwards(t, () => database.drop());
  const shared = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey(), LOG_LEVEL: 'error' };
  const ports = [await freePort(), await freePort()];
  const both = ports.map((PORT) => run(t, { ...shared, PORT }));
  await Promise.all(both.map((command) => command.printed('Gatehouse is ready:')));
  const told = both.flatMap(({ output }) => [...output.stdout.matchAll(/shown only now: (\S+)/g)]);
  assert.equal(told.length, 1, both.map(({ output }) => output.stdout).join('\n'));
  const keys = await Promise.all(ports.map(async (port) => (await fetch(`http://localhost:${port}/oauth/v1/keys`)).text()));
  assert.equal(keys[0], keys[1], 'the same signing keys');
});

test('a connection is kept: directly for a minute, behind a proxy longer than any proxy keeps it, and there even after SIGTERM until it has noticed', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const agent = new Agent({ keepAlive: true });
  afterwards(t, () => agent.destroy());
  const ask = (service: RunningService) =>
    new Promise<{ status: number | undefined; kept: unknown; socket: Socket }>((resolve, reject) => {
      const sent = get(`${service.listensAt}/health/live`, { agent }, (answer) => {
        const { statusCode: status, headers, socket } = answer;
        answer.resume().once('end', () => resolve({ status, kept: headers['keep-alive'], socket }));
      });
      sent.once('error', reject);
    });
  const env = { DATABASE_URL: database.url, ...STARTED, LOG_LEVEL: 'error' };
  const [direct, behindProxy] = await Promise.all([runService(t, env), runService(t, { ...env, TRUST_PROXY: '1' })]);
  const [ofDirect, ofProxy] = await Promise.all([ask(direct), ask(behindProxy)]);
  // As Node announces it, by its own timeout.
  assert.deepEqual([ofDirect.kept, ofProxy.kept], ['timeout=65', 'timeout=620']);
  const closed = once(ofDirect.socket, 'close');
  for (const { child } of [direct, behindProxy]) child.kill('SIGTERM');
  await closed;
  assert.equal((await ask(behindProxy)).status, 200);
  assert.deepEqual(await Promise.all([direct.ended, behindProxy.ended]), [0, 0]);
});

test('migrate brings the schema up to date and ends', async (t) => {
  const database = await emptyDatabase();
  afterwards(t, () => database.drop());
  for (const time of ['first', 'second']) {
    const command = run(t, { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() }, 'migrate');
    assert.equal(await command.ended, 0, command.output.stderr);
    assert.equal(command.output.stdout, 'The database schema is up to date.\n', time);
  }
  const { rows } = await onServer(database.url, (client) => client.query('SELECT count(*)::int AS users FROM users'));
  assert.deepEqual(rows, [{ users: 0 }], 'and does nothing else');
});

test('no secret is in the log, even at the level trace (RFC 9700 section 4.2.4)', async (t) => {
  const database = await emptyDatabase();
  afterwards(t, () => database.drop());
  const secretKey = newSecretKey();
  const service = await runService(t, { DATABASE_URL: database.url, SECRET_KEY: secretKey, LOG_LEVEL: 'trace' });
  const client = await createClient(service);
  const user = await service.createUser();
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId }));
  await browser.signIn(page, { ...user, password: 'a-wrong-password-nobody-may-read' });
  await new UserAgent(service.baseUrl).signIn(page, user);
  await tokensFor(service, new UserAgent(service.baseUrl), { login: ADMIN.username, password: ADMIN.password }, client);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default' });
  assert.ok(body.refresh_token !== undefined, JSON.stringify(body));
  await post(service, 'default', 'introspect', client, { token: body.access_token });
  await post(service, 'default', 'token', { ...client, clientSecret: 'a-wrong-secret-nobody-may-read' }, { grant_type: 'refresh_token' });
  const refreshed = await post(service, 'default', 'token', client, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.equal(refreshed.status, 200);
  await fetch(`${service.baseUrl}/health/ready?access_token=in-a-query-nobody-may-read`);
  await service.stop();

  const { stdout, stderr } = service.output;
  assert.match(stdout, /"path":"\/oauth\/v1\/default\/token"/, 'it does log');
  const secrets = {
    secretKey,
    apiToken: API_TOKEN,
    adminPassword: ADMIN.password,
    password: user.password,
    clientSecret: client.clientSecret,
    accessToken: body.access_token,
    refreshToken: body.refresh_token,
    idToken: body.id_token,
    session: browser.cookie('gatehouse-session'),
    databasePassword: decodeURIComponent(new URL(database.url).password) || undefined,
    anyOther: 'nobody-may-read',
  };
  for (const [name, value] of Object.entries(secrets)) {
    if (name !== 'databasePassword') assert.ok(value, name);
    if (value !== undefined) assert.ok(!(stdout + stderr).includes(value), `${name} is in the log`);
  }
});
