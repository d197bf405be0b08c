/** Upgrade (docs/how-to/upgrade.md): from the first schema with data of its time to today's, by the service's own start; and processes of before run on beside it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type pg from 'pg';
import { pino } from 'pino';
import { completeFirstStart, migrateSchema } from '../../src/cli/startup.ts';
import { sealBatch } from '../../src/features/audit/audit-seals.service.ts';
import { verifyAuditLog } from '../../src/features/audit/audit-verification.service.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { Keyring } from '../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { answerOf, authorizeUrl, post } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { moveClock } from '../support/clock.ts';
import { emptyDatabase, onServer, type TestDatabase, testDatabase } from '../support/database.ts';
import { type Service, startService } from '../support/service.ts';
import { FIRST_RELEASE } from './first-release.ts';

const folder = (name: string): URL => new URL(`../../../${name}/`, import.meta.url);
const DUMP = readFileSync(new URL('first-release.sql', folder('test/operations')), 'utf8');
const { baseUrl, secretKey, apiToken, users, applications, cookies, tokens } = FIRST_RELEASE;

async function freshDatabase(t: TestContext, make: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await make();
  afterwards(t, () => database.drop());
  return database;
}

/** Columns and indexes, each in one line. */
async function schemaOf(sql: pg.Client): Promise<string[]> {
  const columns = await sql.query<{ line: string }>(
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity, generation_expression) AS line
      FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const indexes = await sql.query<{ line: string }>("SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public'");
  const constraints = await sql.query<{ line: string }>(
    "SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'",
  );
  return [...columns.rows, ...indexes.rows, ...constraints.rows].map(({ line }) => line).sort();
}

interface Row {
  readonly table: string;
  readonly content: string;
}

async function allRows(sql: pg.Client): Promise<Row[]> {
  const tables = await sql.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'knex%' ORDER BY 1",
  );
  const rows: Row[] = [];
  for (const { name } of tables.rows) {
    const found = await sql.query<{ content: string }>(`SELECT to_jsonb(r)::text AS content FROM ${name} r`);
    rows.push(...found.rows.map(({ content }) => ({ table: name, content })));
  }
  return rows;
}

/** As the applications of that time call it. */
async function call(service: Service, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${service.listensAt}/api/v1${path}`, { headers: { authorization: `SSWS ${apiToken}` } });
  return { status: response.status, body: await response.json() };
}

test('a database of the first version is brought to today’s by the start, and everybody goes on with what he has', {
  timeout: 600_000,
}, async (t) => {
  const database = await freshDatabase(t, emptyDatabase);
  await onServer(database.url, (sql) => sql.query(DUMP));
  const before = await onServer(database.url, allRows);
  assert.ok(before.length > 70, `${before.length} rows`);
  // Ten minutes later, so that sessions and tokens of then are still of use.
  moveClock(t, (FIRST_RELEASE.at - Date.now()) / 1000 + 600);

  const connection = { connectionString: database.url };
  const config = loadConfig({ DATABASE_URL: database.url, SECRET_KEY: secretKey, BASE_URL: baseUrl });
  const log = pino({ level: 'silent' });
  const foundation = { config, log, pooled: connection, direct: connection };
  await migrateSchema(foundation);
  await completeFirstStart(foundation, () => assert.fail('the first start is not repeated'));

  await t.test('the schema is that of a new database, and every row of then is there', async (t) => {
    const fresh = await freshDatabase(t, testDatabase);
    assert.deepEqual(await onServer(database.url, schemaOf), await onServer(fresh.url, schemaOf));
    await onServer(database.url, async (sql) => {
      for (const { table, content } of before) {
        // The service's own application follows the configuration.
        if (table === 'applications' && JSON.parse(content).system) continue;
        const { rowCount } = await sql.query(`SELECT 1 FROM ${table} r WHERE to_jsonb(r) @> $1::jsonb`, [content]);
        assert.equal(rowCount, 1, `${table}: ${content}`);
      }
    });
  });

  const started = await startService(t, { beside: { database, secretKey }, env: { BASE_URL: baseUrl } });
  const service: Service = { ...started, issuer: (id) => started.issuer(id).replace(baseUrl, started.listensAt) };

  await t.test('the browser session signs in silently', async () => {
    const cookie = Object.entries(cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
    const url = authorizeUrl(service, 'built-in', { client_id: 'shop', prompt: 'none', code_challenge: 'x'.repeat(43) });
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    const answer = answerOf({ url: new URL(response.headers.get('location') ?? 'about:blank') });
    assert.ok(answer.code !== undefined, JSON.stringify(answer));
  });

  for (const [server, { access_token, refresh_token }] of Object.entries(tokens)) {
    const app = server === 'orders' ? applications.careful : applications.shop;
    await t.test(`tokens of ${server}: active, of use, refreshed; signatures verify`, async () => {
      assert.equal((await post(service, server, 'introspect', app, { token: access_token })).body.active, true);
      const keys = createRemoteJWKSet(new URL(`${service.issuer(server)}/keys`));
      const issuer = started.issuer(server);
      if (access_token.includes('.')) await jwtVerify(access_token, keys, { issuer, currentDate: new Date() });
      const refreshed = await post(service, server, 'token', app, { grant_type: 'refresh_token', refresh_token });
      assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
      await jwtVerify(refreshed.body.id_token, keys, { issuer, subject: users.ada.id, currentDate: new Date() });
    });
  }

  await t.test('passwords, API token, consents, organizations and groups', async () => {
    for (const { login, password } of Object.values(users)) {
      const body = JSON.stringify({ username: login, password });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      assert.equal((await fetch(`${service.listensAt}/api/v1/authn`, init)).status, 200, login);
    }
    const user = await call(service, `/users/${users.ada.id}`);
    assert.equal(user.status, 200);
    assert.match(JSON.stringify(user.body), /"status":"ACTIVE".*"email":"ada@example.com"/);
    assert.match(JSON.stringify((await call(service, `/users/${users.ada.id}/grants`)).body), /profile/);
    assert.match(
      JSON.stringify((await call(service, '/account/org/org_00000000000000000001')).body),
      /Analytical Engines.*"memberCount":1/,
    );
    assert.match(JSON.stringify((await call(service, '/groups')).body), /Mathematicians/);
  });

  await t.test('the audit log of then is sealed with the rest', async (t) => {
    const opened = await openDatabase({ connection, onError: () => {} });
    afterwards(t, () => opened.close());
    const services = { database: opened, log, keyring: new Keyring([Buffer.from(secretKey, 'base64url')]) };
    await sealBatch(services);
    const { mistake, events } = await verifyAuditLog(services);
    assert.deepEqual([mistake, events >= before.filter(({ table }) => table === 'audit_events').length], [undefined, true]);
  });
});

test('what a process of the first version writes, today’s schema takes: columns that it does not know have defaults', async (t) => {
  const database = await freshDatabase(t, testDatabase);
  let waiting = [...DUMP.matchAll(/^INSERT INTO public\.(?!knex|settings)[\s\S]*?\);$/gm)].map(([statement]) => statement);
  assert.ok(waiting.length > 70);
  await onServer(database.url, async (sql) => {
    // In whatever order the references ask for.
    for (let before = Number.POSITIVE_INFINITY; waiting.length > 0 && waiting.length < before; ) {
      before = waiting.length;
      const refused: string[] = [];
      for (const statement of waiting) {
        await sql.query(statement).catch((error: pg.DatabaseError) => {
          if (error.code !== '23503') throw new Error(`${error.message}: ${statement}`);
          refused.push(statement);
        });
      }
      waiting = refused;
    }
  });
  assert.deepEqual(waiting, []);
});

/** Indexes that are unique without keeping out anything that could be written before. */
const HARMLESS_INDEXES = ['consents_by_id'];

/** @returns what of a migration would break a process of the version before */
function breaches(source: string): string[] {
  const text = source.replace(/\/\*[\s\S]*?\*\/|^\s*(--|\/\/).*$/gm, '');
  const statements = text.split(/;|`|'(?=\))/).map((statement) => statement.replace(/\s+/g, ' ').trim());
  const created = new Set([...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table));
  const found: string[] = [];
  for (const statement of statements) {
    const [, altered] = /ALTER TABLE (\w+)/.exec(statement) ?? [];
    if (
      /\b(DROP (TABLE|COLUMN|TYPE|DEFAULT)|RENAME|TRUNCATE|DELETE FROM)\b|ALTER COLUMN \w+ (SET DATA )?TYPE|SET NOT NULL/i.test(statement)
    )
      found.push(statement);
    const dropped = /DROP CONSTRAINT (\w+)/.exec(statement)?.[1];
    // Put back wider: what was allowed must be so still, which is for the eye to see.
    if (dropped !== undefined && !new RegExp(`ADD CONSTRAINT ${dropped}\\b`).test(text)) found.push(statement);
    const added = /ADD CONSTRAINT (\w+)/.exec(statement)?.[1];
    if (added !== undefined && !new RegExp(`DROP CONSTRAINT ${added}\\b`).test(text)) found.push(statement);
    if (altered !== undefined && !created.has(altered)) {
      for (const [column] of statement.matchAll(/ADD COLUMN (?:(?!, ADD COLUMN).)*/g)) {
        if (/NOT NULL/.test(column) && !/DEFAULT|GENERATED/.test(column)) found.push(column);
        if (/\bUNIQUE\b/.test(column)) found.push(column);
      }
    }
    const [, index, table] = /CREATE UNIQUE INDEX (\w+) ON (\w+)/.exec(statement) ?? [];
    if (index !== undefined && !created.has(table ?? '') && !HARMLESS_INDEXES.includes(index)) found.push(statement);
  }
  return found;
}

test('every migration after the first only adds: no process of the version before is disturbed', () => {
  const later = readdirSync(folder('migrations'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('001-'))
    .sort();
  assert.ok(later.length >= 15);
  for (const file of later) assert.deepEqual(breaches(readFileSync(new URL(file, folder('migrations')), 'utf8')), [], file);
  for (const breach of [
    'ALTER TABLE users DROP COLUMN email',
    'ALTER TABLE users RENAME COLUMN email TO mail',
    'ALTER TABLE users ADD COLUMN shoe_size integer NOT NULL',
    'ALTER TABLE users ADD COLUMN a text, ADD COLUMN b text NOT NULL',
    'ALTER TABLE users ALTER COLUMN login TYPE varchar(10)',
    'ALTER TABLE users ALTER COLUMN email SET NOT NULL',
    'ALTER TABLE users ADD CONSTRAINT short CHECK (length(login) < 5)',
    'ALTER TABLE users DROP CONSTRAINT users_pkey',
    'CREATE UNIQUE INDEX users_by_name ON users (name)',
    'DROP TABLE users',
  ]) {
    assert.equal(breaches(`await knex.raw(\`${breach};\`)`).length, 1, breach);
  }
});
