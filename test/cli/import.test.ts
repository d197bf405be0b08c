/** The command that imports users, from its first line to its exit code: a real process, real files, beside a running service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { onServer, testDatabase } from '../support/database.ts';
import {
  type Command,
  callCommand,
  dataDirectory,
  eventually,
  freePort,
  type Outcome,
  runCommand,
  runService,
} from '../support/process.ts';
import { newSecretKey, type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** The password of all hashes below. */
const PASSWORD = 'correct horse battery staple';
const HASHES = [
  { algorithm: 'BCRYPT', workFactor: 5, salt: 'abcdefghijklmnopqrstuu', value: 'FiPhXf1sVd3pCCRO.uVh34H/qI/ZsuS' },
  {
    algorithm: 'PBKDF2',
    digestAlgorithm: 'SHA256_HMAC',
    iterationCount: 10_000,
    keySize: 20,
    salt: 'AAECAwQFBgcICQoLDA0ODw==',
    value: '2flfZcLfnShdJogjAMpb4p4+1QA=',
  },
  { algorithm: 'SHA-256', salt: 'AAECAwQFBgcICQoLDA0ODw==', saltOrder: 'PREFIX', value: 'PT7NB1B2A4OlzWox1NgpSt0YKawNe+BkcIP3OEfdMl4=' },
];

const person = (login: string, hash: unknown = HASHES[0]) => ({
  profile: { login, firstName: 'Ада', lastName: 'לאבלייס' },
  credentials: { password: { hash } },
});

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-import-'));
  afterwards(t, () => rmSync(made, { recursive: true }));
  return made;
}

/** @param lines values as JSON, or text as it is */
function fileOf(t: TestContext, lines: readonly unknown[]): string {
  const file = path.join(folder(t), 'users.ndjson');
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return file;
}

async function serviceToImportInto(
  t: TestContext,
): Promise<{ service: Service; begin(...args: string[]): Command; call(...args: string[]): Promise<Outcome> }> {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const secretKey = newSecretKey();
  const service = await startService(t, { beside: { database, secretKey } });
  const env = { DATABASE_URL: database.url, SECRET_KEY: secretKey };
  return {
    service,
    begin: (...args) => runCommand(t, 'import', env, ...args),
    call: (...args) => callCommand(env, 'import', ...args),
  };
}

const count = (service: Service, where: string) =>
  onServer(service.database.url, async (client) => Number((await client.query(`SELECT count(*) FROM users WHERE ${where}`)).rows[0].count));

test('a thousand users are imported beside the running service, can sign in at once, and are left as they are the second time', async (t) => {
  const { service, begin, call } = await serviceToImportInto(t);
  const file = fileOf(
    t,
    Array.from({ length: 1000 }, (_, n) => person(`person-${n}`, HASHES[n % HASHES.length])),
  );

  const first = begin(file);
  assert.equal(await first.ended, 0, first.output.stderr);
  assert.match(first.output.stdout, /^1000 imported, 0 refused in [\d.]+ s \(\d+ users a second\)\.\n$/);
  assert.equal(await count(service, "login LIKE 'person-%' AND status = 'ACTIVE'"), 1000);
  for (const login of ['person-0', 'person-1', 'person-2']) {
    const browser = new UserAgent(service.baseUrl);
    assert.equal((await browser.signIn(await browser.visit('/signin'), { login, password: PASSWORD })).url.pathname, '/account');
  }
  const { body } = await service.api('GET', '/users/person-999');
  assert.deepEqual(body.profile, { login: 'person-999', firstName: 'Ада', lastName: 'לאבלייס' });
  await onServer(service.database.url, async (client) => {
    const events = await client.query(
      "SELECT actor->>'id' AS actor, event_type, debug_context::text AS context FROM audit_events WHERE target->0->>'id' = $1",
      [body.id],
    );
    assert.deepEqual(
      events.rows.map(({ actor, event_type }) => [actor, event_type]),
      [['system', 'user.lifecycle.create']],
    );
    assert.doesNotMatch(events.rows[0].context, /sha256|hash/i);
  });

  const second = await call(file);
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /^0 imported, 0 refused, 1000 existed already in .*\nNothing changed: everything existed already\.\n$/);
  assert.equal(await count(service, "login LIKE 'person-%'"), 1000);
});

test('lines that cannot be imported are refused by number and reason, and the others are imported', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const lines: [line: unknown, reason?: string][] = [
    [`\uFEFF${JSON.stringify(person('after-a-byte-order-mark'))}\r`],
    ['nonsense', 'The request body was not well-formed: it is not a JSON object'],
    [''],
    [[], 'body: must be of type object'],
    [{ profile: { login: '' } }, 'profile.login: must not be empty'],
    [{ profile: { login: 'x'.repeat(10_000) } }, 'profile.login: must have at most 255 characters'],
    [{ profile: { login: 'a\u0007b' } }, 'profile.login: must not contain control characters'],
    [
      person('weak', { ...HASHES[0], algorithm: 'MD5' }),
      'credentials.password.hash.algorithm: must be ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512',
    ],
    [person('dear', { ...HASHES[0], workFactor: 31 }), 'credentials.password.hash.workFactor: must be at most 14'],
    [
      { profile: { login: 'both' }, credentials: { password: { value: 'long enough', hash: HASHES[0] } } },
      'credentials.password: must contain only one of value, hash and hook',
    ],
    [
      { profile: { login: 'short' }, credentials: { password: { value: 'short' } } },
      'credentials.password.value: must have at least 8 characters',
    ],
    [{ profile: { login: 'colour' }, colour: 'red' }, 'colour: is not a field of this resource'],
    [
      { profile: { login: 'status' }, status: 'LOCKED_OUT' },
      'status: must be ACTIVE or STAGED or PROVISIONED or PASSWORD_EXPIRED or SUSPENDED or DEPROVISIONED',
    ],
    [{ profile: { login: 'lost' }, orgId: 'org_none' }, 'orgId: does not exist'],
    [
      {
        profile: { login: 'apps' },
        factors: [
          { type: 'TOTP', secret: 'A'.repeat(32) },
          { type: 'TOTP', secret: 'B'.repeat(32) },
        ],
      },
      'factors: must be a single authenticator app. Remove the others from the file',
    ],
    [{ profile: { login: 'verified', email: 'v@example.com', emailVerified: true } }],
    [person('<b>last</b>')],
  ];
  const file = fileOf(
    t,
    lines.map(([line]) => line),
  );
  const refused = path.join(folder(t), 'refused.ndjson');
  const { code, stdout, stderr } = await call(file, '--refused', refused);
  assert.equal(code, 1, stderr);
  assert.equal(stderr, '');
  assert.match(stdout, /^3 imported, 13 refused/);
  const told = readFileSync(refused, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.line - b.line);
  assert.deepEqual(
    told,
    lines.flatMap(([, reason], n) => (reason === undefined ? [] : [{ line: n + 1, reasons: [reason] }])),
  );
  assert.equal(await count(service, "login = 'verified' AND email_verified"), 1);
  assert.equal(await count(service, "login IN ('after-a-byte-order-mark', '<b>last</b>')"), 2);
});

test('a file that is not UTF-8 mangles no names', async (t) => {
  const { call } = await serviceToImportInto(t);
  const file = fileOf(t, []);
  writeFileSync(file, Buffer.from('{"profile":{"login":"ren\xe9"}}', 'latin1'));
  const { code, stderr } = await call(file);
  assert.equal(code, 1);
  assert.equal(stderr, 'Line 1 is refused: The request body was not well-formed: it is not UTF-8\n');
});

test('of one login twenty times, once is imported', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const { code, stdout } = await call(
    fileOf(
      t,
      Array.from({ length: 20 }, (_, n) => person(n % 2 === 0 ? 'Twin' : 'tWIN')),
    ),
  );
  assert.equal(code, 1);
  assert.match(stdout, /^1 imported, 19 refused/);
  assert.equal(await count(service, "lower(login) = 'twin'"), 1);
});

test('a dry run finds names of earlier batches, and values that other users have', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const card = { title: 'Card', type: 'string', unique: 'UNIQUE_VALIDATED' };
  await service.api('POST', '/meta/schemas/user/default', {
    definitions: { custom: { id: '#custom', type: 'object', properties: { card } } },
  });
  assert.equal((await service.api('POST', '/users', { profile: { login: 'there', card: 'A7' } })).status, 200);
  const users = Array.from({ length: 500 }, (_, n) => ({ profile: { login: `user ${n}`, email: `mail${n}@example.com` } }));
  const refused = [
    { profile: { login: 'User 3' } },
    { profile: { login: 'MAIL4@example.com' } },
    { profile: { login: 'with a login', email: 'user 5@example.com' } },
    { profile: { login: 'with a card', card: 'a7' } },
  ];
  const file = fileOf(t, [{ profile: { login: 'user 5@example.com' } }, ...users, ...refused, { profile: { login: 'free' } }]);
  const plan = await call(file, '--dry-run');
  assert.match(plan.stdout, /^502 users would be imported, 4 refused/m);
  const { stdout, stderr } = await call(file);
  assert.match(stdout, /^502 imported, 4 refused/m);
  assert.equal(plan.stderr, stderr, 'for the same reasons');
});

test('nothing tells of a user who is refused for a value that another user has', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  const card = { title: 'Card', type: 'string', unique: 'UNIQUE_VALIDATED' };
  const defined = await service.api('POST', '/meta/schemas/user/default', {
    definitions: { custom: { id: '#custom', type: 'object', properties: { card } } },
  });
  assert.equal(defined.status, 200, JSON.stringify(defined.body));
  assert.equal((await service.api('POST', '/groups', { profile: { name: 'Staff' } })).status, 200);
  const lines = ['first', 'second'].map((login) => ({ profile: { login, card: '7' }, groups: ['Staff'] }));
  const { stdout } = await call(fileOf(t, lines));
  assert.match(stdout, /^1 imported, 1 refused/);
  await onServer(service.database.url, async (client) => {
    const { rows } = await client.query("SELECT event_type, target::text AS target FROM audit_events WHERE actor->>'id' = 'system'");
    const about = (login: string) => rows.filter(({ target }) => target.includes(`"${login}"`)).map(({ event_type }) => event_type);
    assert.deepEqual(about('first').sort(), ['group.user_membership.add', 'user.lifecycle.create']);
    assert.deepEqual(about('second'), []);
  });
});

test('an interrupt ends it after the users under way, and it says where', async (t) => {
  const { service, begin } = await serviceToImportInto(t);
  const command = begin(
    fileOf(
      t,
      Array.from({ length: 50_000 }, (_, n) => person(`person-${n + 1}`)),
    ),
  );
  await eventually(() => count(service, "login LIKE 'person-%'"), 'the import has begun');
  assert.equal(await command.stop('SIGINT'), 1, command.output.stderr);
  const [, line, imported] =
    /^Stopped after line (\d+)\. The lines after it were not imported\.\n(\d+) imported, 0 refused/.exec(command.output.stdout) ?? [];
  assert.ok(line !== undefined && Number(line) < 50_000, command.output.stdout);
  assert.equal(imported, line);
  assert.equal(await count(service, "login LIKE 'person-%'"), Number(line));
  assert.equal((await service.api('GET', `/users/person-${line}`)).status, 200);
});

test('what it cannot do at all is told in one line, with exit code 2', async (t) => {
  const { call } = await serviceToImportInto(t);
  const file = fileOf(t, [person('somebody')]);
  const directory = folder(t);
  const usage = /^error: .*\n[\s\S]*Usage: gatehouse import \[options\] \[format\] <file>/;
  const unused = await testDatabase();
  afterwards(t, () => unused.drop());
  const attempts: [outcome: Promise<Outcome>, words: RegExp][] = [
    [call(), usage],
    [call(file, file), usage],
    [call(file, '--wrong'), usage],
    [call(path.join(directory, 'none')), /^\S+none cannot be opened: ENOENT[^\n]*\n$/],
    [call(directory), /^\S+ is a directory\. Name a file\.\n$/],
    [call(file, '--refused', file), /^\S+ cannot be opened: EEXIST[^\n]*\n$/],
    [
      callCommand({ WORKERS: '0' }, 'import', file),
      /^The configuration has errors\. Correct these environment variables:\n {2}WORKERS [^\n]*\n$/,
    ],
    [
      callCommand({ DATABASE_URL: `postgres://localhost:${await freePort()}/none`, SECRET_KEY: newSecretKey() }, 'import', file),
      /^The database cannot be reached \([^\n]*\n$/,
    ],
    [
      callCommand({ DATABASE_URL: unused.url, SECRET_KEY: newSecretKey() }, 'import', file),
      /^The service has not been started yet\. Start it once, then import users\.\n$/,
    ],
  ];
  for (const [outcome, words] of attempts) {
    const { code, stdout, stderr } = await outcome;
    assert.equal(code, 2, stderr);
    assert.match(stderr, words);
    assert.equal(stdout, '');
  }
  assert.ok(readFileSync(file, 'utf8').includes('somebody'), 'the file that was to be imported is untouched');
});

test('a database that goes away in the middle is told with what was imported, exit code 2', async (t) => {
  const { service, begin } = await serviceToImportInto(t);
  const command = begin(
    fileOf(
      t,
      Array.from({ length: 50_000 }, (_, n) => person(`person-${n}`)),
    ),
  );
  await eventually(() => count(service, "login LIKE 'person-%'"), 'the import has begun');
  await service.database.drop();
  assert.equal(await command.ended, 2, command.output.stderr);
  assert.match(command.output.stdout, /^[1-9]\d* imported, 0 refused/);
  assert.match(command.output.stderr, /^Gatehouse stopped because of an error: /m);
});

test('it joins the embedded database that a running service uses, and leaves it running', async (t) => {
  const DATA_DIR = dataDirectory(t);
  const service = await runService(t, { DATA_DIR });
  const command = runCommand(t, 'import', { DATA_DIR }, fileOf(t, [person('newcomer')]));
  assert.equal(await command.ended, 0, command.output.stderr);
  assert.equal((await service.api('GET', '/users/newcomer')).body.status, 'ACTIVE');
});
