/** What the doctor says of the installation: configuration, database and mail, each wrong in one way. Without an API token it tries no flow. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { freePort, runCommand } from '../support/process.ts';
import { type Service, STARTED, startService } from '../support/service.ts';
import { outcomes } from './altered-service.ts';

async function examine(t: TestContext, service: Service, env: Readonly<Record<string, string>>) {
  const own = { DATABASE_URL: service.database.url, SECRET_KEY: STARTED.SECRET_KEY, BASE_URL: service.baseUrl };
  const { output, ended } = runCommand(t, 'doctor', { ...own, ...env });
  assert.equal(await ended, 1, 'without a token nothing is said of the flows');
  const lineOf = (id: string) => output.stdout.split('\n').find((line) => line.includes(`  ${id}: `)) ?? '';
  return { ...outcomes(output.stdout), lineOf, text: output.stdout + output.stderr };
}

async function startMailServer(t: TestContext): Promise<{ readonly host: string; readonly mails: () => number }> {
  let mails = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, callback) =>
      callback(username === 'gate' && password === 'the-right-one' ? null : new Error('no'), { user: username }),
    onMailFrom(_address, _session, callback) {
      mails += 1;
      callback(null);
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  afterwards(t, () => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = listening.address() as { port: number };
  return { host: `127.0.0.1:${port}`, mails: () => mails };
}

test('the installation', async (t) => {
  const service = await startService(t);
  const isDurable = await onServer(service.database.url, async (client) => (await client.query('SHOW fsync')).rows[0].fsync === 'on');
  // The database of the tests is thrown away afterwards: where nothing has to survive, the doctor says so.
  const always = isDurable ? [] : ['database.durability'];

  await t.test('mail: the login is tried and nothing is sent', async () => {
    const server = await startMailServer(t);
    const MAIL_FROM = 'Gatehouse <id@gatehouse.dev>';
    const right = await examine(t, service, { SMTP_URL: `smtp://gate:the-right-one@${server.host}`, MAIL_FROM });
    assert.deepEqual(right.FAIL, always, right.text);
    assert.ok(right.ok.includes('mail.server') && right.ok.includes('mail.from'));
    const wrong = await examine(t, service, { SMTP_URL: `smtp://gate:the-wrong-one@${server.host}`, MAIL_FROM });
    assert.deepEqual(wrong.FAIL, [...always, 'mail.server']);
    assert.match(wrong.lineOf('mail.server'), /— login: /);
    assert.ok(!wrong.text.includes('the-wrong-one') && !right.text.includes('the-right-one'));
    const gone = await examine(t, service, { SMTP_URL: `smtp://127.0.0.1:${await freePort()}`, MAIL_FROM: 'id@localhost' });
    assert.deepEqual(gone.FAIL, [...always, 'mail.server', 'mail.from']);
    assert.match(gone.lineOf('mail.server'), /— not-reached: .*ECONNREFUSED/);
    assert.equal(server.mails(), 0);
  });

  await t.test('database: room for its connections', async () => {
    const { FAIL, lineOf } = await examine(t, service, { WORKERS: '256' });
    assert.deepEqual(FAIL, [...always, 'database.connections']);
    assert.match(lineOf('database.connections'), /2816 are needed, \d+ are there/);
  });

  await t.test('database: the newest schema', async () => {
    const forgotten = await onServer(service.database.url, async (client) => {
      const { rows } = await client.query('DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations) RETURNING *');
      return rows[0];
    });
    const { FAIL, lineOf } = await examine(t, service, {});
    assert.deepEqual(FAIL.sort(), [...always, 'database.migrations'].sort());
    assert.ok(lineOf('database.migrations').includes(`not carried out yet: ${forgotten.name}`));
    await onServer(service.database.url, (client) =>
      client.query('INSERT INTO knex_migrations SELECT * FROM json_populate_record(NULL::knex_migrations, $1)', [
        JSON.stringify(forgotten),
      ]),
    );
  });

  await t.test('data: logins that nobody is found by, and who is found instead', async () => {
    const user = async (login: string): Promise<string> => (await service.api('POST', '/users', { profile: { login } })).body.id;
    const [composed, other, alone] = [await user('jos\u00e9@example.com'), await user('other@example.com'), await user('zoe@example.com')];
    // As migration 018 leaves the one, and a process of the version before it may write the other.
    await onServer(service.database.url, async (client) => {
      for (const [id, login] of [
        [other, 'Jose\u0301@example.com'],
        [alone, 'zoe\u0308@example.com'],
      ])
        await client.query('UPDATE users SET login = $2 WHERE id = $1', [id, login]);
    });
    const { FAIL, lineOf } = await examine(t, service, {});
    assert.deepEqual(FAIL, [...always, 'data.logins']);
    const named = `${other} "Jose\u0301@example.com" (which finds ${composed}), ${alone} "zoe\u0308@example.com". Give each another login`;
    assert.ok(lineOf('data.logins').includes(named), lineOf('data.logins'));

    for (const [id, login] of [
      [other, 'other@example.com'],
      [alone, 'zoe\u0308@example.com'],
    ])
      assert.equal((await service.api('POST', `/users/${id}`, { profile: { login } })).status, 200);
    assert.deepEqual((await examine(t, service, {})).FAIL, always);
  });

  await t.test('data: what SECRET_KEY does not open, and what a former key opens', async () => {
    const another = Buffer.alloc(32, 7).toString('base64url');
    const { lineOf: lineRight } = await examine(t, service, { SECRET_KEY: `${STARTED.SECRET_KEY},${another}` });
    const [, all] = /\((\d+) values\)$/.exec(lineRight('data.sealed')) ?? [];
    assert.ok(Number(all) > 3, lineRight('data.sealed'));
    const { FAIL, lineOf } = await examine(t, service, { SECRET_KEY: another });
    assert.deepEqual(FAIL, [...always, 'data.sealed']);
    assert.match(
      lineOf('data.sealed'),
      /it does not open \d+ values in signing_keys \(key [\w-]{8}\).*\. Add the key of then behind the others/,
    );
    const former = await examine(t, service, { SECRET_KEY: `${another},${STARTED.SECRET_KEY}` });
    assert.ok(former.ok.includes('data.sealed'));
    assert.ok(former.lineOf('data.sealed').endsWith(`(${all} values, ${all} of them with a former key: npm run reseal before it goes)`));
  });

  await t.test('database: not there, told without its password', async () => {
    const { FAIL, text } = await examine(t, service, { DATABASE_URL: `postgres://gate:the-password@127.0.0.1:${await freePort()}/gate` });
    assert.deepEqual(
      FAIL,
      [
        ...['database.version', 'database.migrations', 'database.durability', 'database.connections'],
        ...['data.logins', 'data.sealed', 'clock.database'],
      ],
      text,
    );
    assert.ok(!text.includes('the-password'));
  });

  await t.test('configuration: each mistake is told', async () => {
    const wrong = await examine(t, service, { RATE_LIMITS: 'off' });
    assert.deepEqual(wrong.FAIL, ['configuration.failures-counted', ...always]);
    const none = runCommand(t, 'doctor', { WORKERS: 'many', PORT: 'x' }, '--url', service.baseUrl);
    assert.equal(await none.ended, 1);
    assert.match(none.output.stdout, /^FAIL {2}configuration\.right: .* — PORT must be .*; WORKERS must be /m);
  });

  await t.test('service: not there', async () => {
    const { FAIL } = await examine(t, service, { BASE_URL: `http://localhost:${await freePort()}` });
    assert.deepEqual(FAIL, ['configuration.ready', 'configuration.base-url', ...always, 'clock.service']);
  });
});
