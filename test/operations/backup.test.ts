/** Backup and restore rehearsed (docs/how-to/back-up-and-restore.md): of the embedded database beside the running service, and of a PostgreSQL server by its own tools. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post, type TestClient, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { emptyDatabase, onServer, startedDatabase } from '../support/database.ts';
import { codeOf, type Enrolled, enrolledUser } from '../support/factors.ts';
import { dataDirectory, freePort, type RunningService, runCommand, runService } from '../support/process.ts';
import { newSecretKey, STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** What must be there after a restore. */
interface Kept {
  readonly user: { readonly id: string; readonly login: string; readonly password: string };
  readonly factored: Enrolled;
  readonly client: TestClient;
  readonly browser: UserAgent;
  // biome-ignore lint/suspicious/noExplicitAny: tokens as they came
  readonly tokens: any;
  readonly keys: string;
}

const keysOf = async (service: RunningService) => (await fetch(`${service.issuer('built-in')}/keys`)).text();

async function fill(service: RunningService): Promise<Kept> {
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const { body: tokens } = await tokensFor(service, browser, user, client);
  return { user, client, browser, tokens, factored: await enrolledUser(service), keys: await keysOf(service) };
}

async function assertKept(service: RunningService, { user, factored, client, browser, tokens, keys }: Kept): Promise<void> {
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.profile.login, user.login, 'data and API token');
  assert.equal(await keysOf(service), keys, 'signing keys');
  const silent = answerOf(await browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'none' })));
  assert.ok(silent.code !== undefined, `the session: ${JSON.stringify(silent)}`);
  assert.equal(
    (await post(service, 'built-in', 'introspect', client, { token: tokens.access_token })).body.active,
    true,
    'the access token',
  );
  const refreshed = await post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  assert.equal(refreshed.status, 200, `refresh token, sealed secrets: ${JSON.stringify(refreshed.body)}`);
  const fresh = new UserAgent(service.baseUrl);
  const asked = await fresh.signIn(await fresh.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId })), factored);
  assert.ok(
    answerOf(await fresh.submit(asked, 'factor-form', { passCode: codeOf(factored.secret, 1) })).code,
    'password and sealed second factor',
  );
}

async function done(t: TestContext, name: string, env: Record<string, string>, ...args: string[]): Promise<string> {
  const command = runCommand(t, name, env, ...args);
  assert.equal(await command.ended, 0, command.output.stderr);
  return command.output.stdout;
}

test('the embedded database, backed up while it is written to, restored into another DATA_DIR', { timeout: 600_000 }, async (t) => {
  const env = { DATA_DIR: dataDirectory(t), PORT: await freePort() };
  const place = dataDirectory(t);
  const before = await runService(t, env);
  const kept = await fill(before);
  // Acknowledged before the backup begins: there afterwards. Later ones may be there, and must be whole.
  const acknowledged: string[] = [];
  const writing = new AbortController();
  const writers = Array.from({ length: 3 }, async () => {
    while (!writing.signal.aborted) acknowledged.push((await before.createUser()).id);
  });
  while (acknowledged.length < 5) await Promise.race([new Promise((resolve) => setImmediate(resolve)), ...writers]);
  const promised = [...acknowledged];
  const folder = path.join(place, 'backups', 'of-today');
  assert.match(await done(t, 'backup', env, folder), /^Backed up: .*\nThe backup contains the secret key/);
  writing.abort();
  await Promise.all(writers);
  t.diagnostic(`${acknowledged.length - promised.length} users were made meanwhile`);
  assert.deepEqual(readdirSync(path.dirname(folder)), ['of-today'], 'nothing unfinished stays');
  assert.equal(statSync(folder).mode & 0o077, 0, 'nobody else reads it');
  assert.equal(readFileSync(path.join(folder, 'secret.key'), 'utf8'), readFileSync(path.join(env.DATA_DIR, 'secret.key'), 'utf8'));
  const again = runCommand(t, 'backup', env, folder);
  assert.equal(await again.ended, 1);
  assert.match(again.output.stderr, /already exists/);
  const SECRET_KEY = readFileSync(path.join(folder, 'secret.key'), 'utf8');
  const keyless = path.join(place, 'keyless');
  assert.match(await done(t, 'backup', { ...env, SECRET_KEY }, keyless), /does not contain SECRET_KEY/);
  assert.ok(!existsSync(path.join(keyless, 'secret.key')));
  assert.equal(await before.stop(), 0);

  const other = { ...env, DATA_DIR: path.join(dataDirectory(t), 'restored') };
  const wrong = runCommand(t, 'restore', { ...env, DATA_DIR: path.join(dataDirectory(t), 'wrong'), SECRET_KEY: newSecretKey() }, keyless);
  assert.equal(await wrong.ended, 1);
  assert.match(
    wrong.output.stderr,
    /SECRET_KEY does not have the key that encrypted the secrets in this database[\s\S]*Do not restore again\.\n$/,
  );
  for (const [from, words] of [
    [place, /is not a backup/],
    [keyless, /does not contain the secret key/],
  ] as const) {
    const refused = runCommand(t, 'restore', other, from);
    assert.equal(await refused.ended, 1);
    assert.match(refused.output.stderr, words);
    assert.ok(!existsSync(other.DATA_DIR), 'nothing is restored');
  }
  assert.match(await done(t, 'restore', other, folder), /^Restored into .*: \d+ users\. Start the service now\.\n$/);
  const over = runCommand(t, 'restore', other, folder);
  assert.equal(await over.ended, 1, 'never over a database that is there');
  assert.match(over.output.stderr, /already has a database or its key/);
  // The key of DATA_DIR may be several, as SECRET_KEY: the restored service goes on with a new one before the former.
  const file = path.join(other.DATA_DIR, 'secret.key');
  writeFileSync(file, `${newSecretKey()},${readFileSync(file, 'utf8')}`);
  const after = await runService(t, other);
  assert.ok(!after.output.stdout.includes('administrator'), 'no first start');
  for (const id of promised) assert.equal((await after.api('GET', `/users/${id}`)).status, 200, 'acknowledged before the backup');
  await assertKept(after, kept);
  assert.match(await done(t, 'audit', other, 'verify'), /The audit log is unchanged/);
  assert.equal(await after.stop(), 0);
});

test('on a PostgreSQL server both commands name its own tools', async (t) => {
  const env = { DATABASE_URL: 'postgres://nobody@localhost/nothing', SECRET_KEY: newSecretKey() };
  for (const [name, words] of [
    ['backup', /pg_dump/],
    ['restore', /pg_restore/],
  ] as const) {
    const command = runCommand(t, name, env, path.join(dataDirectory(t), 'x'));
    assert.equal(await command.ended, 1);
    assert.match(command.output.stderr, words);
  }
});

/** The version of PostgreSQL's tools here; 0: none. */
function toolsVersion(): number {
  try {
    const versions = ['pg_dump', 'pg_restore'].map((tool) =>
      Number(/\) (\d+)/.exec(execFileSync(tool, ['--version'], { encoding: 'utf8' }))?.[1]),
    );
    return Math.min(...versions);
  } catch {
    return 0;
  }
}

test('a PostgreSQL server, by pg_dump and pg_restore into an empty database', { timeout: 600_000 }, async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const { rows } = await onServer(database.url, (sql) =>
    sql.query<{ version: number }>("SELECT current_setting('server_version_num')::int / 10000 AS version"),
  );
  const needed = rows[0]?.version ?? 0;
  // A tool of an older version refuses a newer server; the embedded database brings none.
  if (toolsVersion() < needed) return t.diagnostic(`PostgreSQL's tools of version ${needed} are not here`);
  const env = { DATABASE_URL: database.url, SECRET_KEY: STARTED.SECRET_KEY, PORT: await freePort() };
  const before = await runService(t, env);
  const kept = await fill(before);
  const file = path.join(dataDirectory(t), 'gatehouse.dump');
  execFileSync('pg_dump', ['--format=custom', '--no-owner', `--file=${file}`, database.url]);
  assert.equal(await before.stop(), 0);
  const empty = await emptyDatabase();
  afterwards(t, () => empty.drop());
  execFileSync('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${empty.url}`, file]);
  const after = await runService(t, { ...env, DATABASE_URL: empty.url });
  await assertKept(after, kept);
});
