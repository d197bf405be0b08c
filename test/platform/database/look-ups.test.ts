/** The hot path's look-ups go by their indexes whatever PostgreSQL knows of the tables, by plans that it keeps (PostgreSQL manual, "PREPARE"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { selectAssignments } from '../../../src/features/applications/application-assignments.store.ts';
import { listAuditEvents } from '../../../src/features/audit/audit.store.ts';
import type { AuditEvent } from '../../../src/features/audit/events.resource.ts';
import { listLinks } from '../../../src/features/identity-providers/identity-providers.store.ts';
import { findOrganizationDesign } from '../../../src/features/organization-branding/organization-branding.store.ts';
import { findDomainProviders, findRequiredProvider } from '../../../src/features/organization-providers/home-realm.store.ts';
import { findDomainConnection } from '../../../src/features/organization-providers/organization-providers.store.ts';
import { findMemberNamed, listSignInOrganizations } from '../../../src/features/organizations/memberships.store.ts';
import { findOrganization } from '../../../src/features/organizations/organizations.store.ts';
import { consumeSessionToken } from '../../../src/features/sessions/browser-sessions.store.ts';
import { findCandidate, signInPlainly } from '../../../src/features/sign-in/sign-ins.store.ts';
import { applyWordsOfUser, USER_ORDERS } from '../../../src/features/users/user-orders.store.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { Window } from '../../../src/platform/database/paging.ts';
import { findModel, findSession } from '../../../src/protocol/storage/protocol-state.store.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';

/** More than PostgreSQL would read one after the other, were it to find one by the index. */
const MANY = 3000;
/** Autovacuum must not come in between: a table that it has counted but not analyzed yet has other plans, for a moment. */
const CALM = [
  ...['users', 'oidc_payload', 'passkeys', 'user_devices', 'organizations', 'memberships'],
  ...['organization_domains', 'identity_providers', 'organization_providers', 'organization_provider_domains'],
].map((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
const USERS = `INSERT INTO users (id, login, email, status, profile, created, last_updated)
  SELECT 'user-' || n, 'login-' || n, n || '@example.com', 'ACTIVE', '{}', now(), now() FROM generate_series(1, ${MANY}) n`;
const FILL = [
  ...CALM,
  USERS,
  `INSERT INTO oidc_payload (id, model, server_key, payload, account_id, uid, expires_at, exp_hour)
    SELECT kind || n, model, server_key, '{}', 'user-' || n, CASE model WHEN 1 THEN 'uid-' || n END, now() + interval '1 day', 1
    FROM generate_series(1, ${MANY}) n, (VALUES ('token-', 3, 1), ('session-', 1, 0)) AS kinds (kind, model, server_key)`,
  `INSERT INTO passkeys (id, user_id, credential_id, public_key, transports, multi_device, backed_up, aaguid, name, created, sign_count)
    SELECT n, 'user-' || n, n, '', '{}', false, false, '', '', now(), 0 FROM generate_series(2, ${MANY}) n`,
  `INSERT INTO user_devices (user_id, device_hash, expires_at)
    SELECT 'user-' || n, 'device-' || d, now() + n * interval '1 minute' FROM generate_series(1, ${MANY}) n, generate_series(1, 10) d`,
  `INSERT INTO organizations (id, name, created, last_updated) SELECT 'org-' || n, 'Organization ' || n, now(), now() FROM generate_series(1, ${MANY}) n`,
  `INSERT INTO memberships (org_id, user_id, created) SELECT 'org-' || n, 'user-' || n, now() FROM generate_series(1, ${MANY}) n`,
  `INSERT INTO organization_domains (org_id, domain, challenge, created, verified)
    SELECT 'org-' || n, 'customer' || n || '.example', '', now(), now() FROM generate_series(1, ${MANY}) n`,
  `INSERT INTO identity_providers (id, name, type, protocol, of_organization, created, last_updated)
    SELECT 'idp-' || n, 'Provider ' || n, 'OIDC', '{}', true, now(), now() FROM generate_series(1, ${MANY}) n`,
  `INSERT INTO organization_providers (org_id, idp_id, mode, auto_join, created, last_updated)
    SELECT 'org-' || n, 'idp-' || n, 'REQUIRED', true, now(), now() FROM generate_series(1, ${MANY}) n`,
  `INSERT INTO organization_provider_domains (org_id, idp_id, domain, spelling, required)
    SELECT 'org-' || n, 'idp-' || n, 'customer' || n || '.example', 'customer' || n || '.example', true FROM generate_series(1, ${MANY}) n`,
];

let devices = 0;
/** The only one who has no passkey, each time in another browser. */
async function signInAnew(pool: pg.Pool): Promise<boolean> {
  const address = { key: 'key', most: 1 };
  const deviceHash = `device ${++devices}`;
  const { candidate: user } = await findCandidate(pool, { name: 'login-1', deviceHash, address, now: 0 });
  const now = new Date();
  const event: AuditEvent = {
    ...{ published: now, eventType: 'user.session.start', severity: 'INFO', displayMessage: 'User login' },
    ...{ actor: { id: 'user-1', type: 'User', displayName: 'login-1' }, client: {}, outcome: { result: 'SUCCESS' } },
    ...{ target: [], debugContext: {} },
  };
  return user !== undefined && signInPlainly(pool, { user, deviceHash, deviceExpires: now, address, now, event, notice: undefined });
}

test('no look-up of a token, a session or a user reads a table from end to end, before the tables were analyzed or after', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  // One connection, so that its plans can be looked at.
  const { pool, close } = await openDatabase({ connection: own.connection, poolSize: 1, onError: () => {} });
  afterwards(t, close);
  for (const statement of FILL) await pool.query(statement);
  const asked = (id: string) => `ARRAY['${id}'], ARRAY[1], ARRAY[0], 1`;
  const looks: [name: string, look: () => Promise<unknown>, values: string][] = [
    ['find-models', () => findModel(pool, 'token-7', 1, 0), asked('token-7')],
    ['find-sessions-by-id', () => findSession(pool, { id: 'session-7' }, 1, 0), asked('session-7')],
    ['find-sessions-by-uid', () => findSession(pool, { uid: 'uid-7' }, 1, 0), asked('uid-7')],
    [
      'find-candidates',
      () => findCandidate(pool, { name: 'login-7', deviceHash: 'device', address: { key: 'key', most: 1 }, now: 0 }),
      `'login-7', 'device', 'key', 0, 1, ''`,
    ],
    ['sign-in-plainly', () => signInAnew(pool), `'user-1', 'device', now(), NULL, now(), 'key', 0, 1, now(), '{}', '{}'`],
    ['find-domain-providers', async () => (await findDomainProviders(pool, 'customer7.example')).length === 1, `'customer7.example'`],
    ['take-session-token', async () => (await consumeSessionToken(pool, 'none', 0)) === undefined, `'none', 0`],
  ];
  for (const when of ['before', 'after']) {
    if (when === 'after') await pool.query('ANALYZE');
    for (const [name, look, values] of looks) {
      for (let times = 0; times < 10; times += 1) assert.ok(await look(), name);
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE "${name}" (${values})`);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(
        plan,
        /Seq Scan on (users|oidc_payload|passkeys|user_devices|organization_provider_domains|identity_providers)|user_devices_by_expiry/,
        `${name}, ${when}:\n${plan}`,
      );
      const kept = await pool.query('SELECT generic_plans > 0 AS kept FROM pg_prepared_statements WHERE name = $1', [name]);
      assert.deepEqual(kept.rows, [{ kept: true }], `${name} is planned anew each time, ${when}`);
    }
  }
});

test('what a sign-in and an administrator ask of organizations is one read by an index each, with thousands of each', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { pool, knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  for (const statement of FILL) await pool.query(statement);
  await pool.query("UPDATE users SET email = 'ada@customer7.example' WHERE id = 'user-7'");
  await pool.query(`UPDATE organizations SET branding = '{"name": "Seven"}' WHERE id = 'org-7'`);
  // One organization that everybody is in.
  await pool.query(`INSERT INTO organizations (id, name, created, last_updated) VALUES ('org-large', 'Large', now(), now())`);
  await pool.query(`INSERT INTO memberships (org_id, user_id, created) SELECT 'org-large', id, now() FROM users WHERE id <> 'user-7'`);
  await pool.query('ANALYZE');
  let statements: { sql: string; bindings: unknown[] }[] = [];
  knex.on('query', (statement: { sql: string; bindings: unknown[] }) => statements.push(statement));
  const looks: Readonly<Record<string, () => Promise<unknown>>> = {
    'the organization and its exact member count': async () => (await findOrganization(knex, 'org-7'))?.memberCount === 1,
    'the brand by ID': async () => (await findOrganizationDesign(knex, 'org-7'))?.name === 'Seven',
    'the brand by name': async () => (await findOrganizationDesign(knex, 'Organization 7'))?.name === 'Seven',
    'the organizations of a user': async () => (await listSignInOrganizations(knex, 'user-7', {})).length === 1,
    'the organization that is named': async () =>
      (await listSignInOrganizations(knex, 'user-7', { wanted: 'Organization 7' })).length === 1,
    'the provider that a user must use': async () => (await findRequiredProvider(knex, 'user-7'))?.id === 'idp-7',
    'the organization of an address at a provider': async () =>
      (await findDomainConnection(knex, 'idp-7', 'customer7.example'))?.orgId === 'org-7',
    'a member by user name': async () => (await findMemberNamed(knex, 'LOGIN-8', new Set(['org-large'])))?.id === 'user-8',
    'a member by ID': async () => (await findMemberNamed(knex, 'user-8', new Set(['org-large', 'org-9'])))?.login === 'login-8',
    'a user who is no member': async () => (await findMemberNamed(knex, 'login-7', new Set(['org-large']))) === undefined,
  };
  for (const [name, look] of Object.entries(looks)) {
    statements = [];
    assert.ok(await look(), name);
    const [statement, ...more] = statements;
    assert.deepEqual(more, [], `${name}: one statement`);
    const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
      `EXPLAIN ${statement?.sql.replaceAll(/\$\d+/g, '?')}`,
      statement?.bindings as string[],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.doesNotMatch(
      plan,
      /Seq Scan on (users|organizations|organization_(domains|providers|provider_domains)|memberships|member_counts|identity_providers) /,
      `${name}:\n${plan}`,
    );
  }
});

test('a search of users finds them by the index of their names, also for a short page in the order of another index', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  for (const statement of [...CALM, USERS, 'ANALYZE users']) await knex.raw(statement);
  const query = knex('users').select('id').orderByRaw(`${USER_ORDERS.name}, seq`).limit(5);
  applyWordsOfUser('users.id')(query, 'login 77');
  const plan = await knex.transaction(async (trx) => {
    // As if sorting cost too much, which is what PostgreSQL thinks of it among very many users.
    await trx.raw('SET LOCAL enable_sort = off');
    const { rows } = await trx.raw(`EXPLAIN ${query.toString()}`);
    return rows.map((row: { 'QUERY PLAN': string }) => row['QUERY PLAN']).join('\n');
  });
  assert.match(plan, /Bitmap Index Scan on users_by_words/);
  assert.doesNotMatch(plan, /Filter: .*search_words/);
  assert.deepEqual(await query.pluck('id'), ['user-77', ...[0, 1, 2, 3].map((n) => `user-77${n}`)]);
});

test('the users of an application and of an identity provider are read in the order of an index, and counted without the table of users', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  for (const statement of FILL) await knex.raw(statement);
  await knex.raw(`INSERT INTO applications (id, label, settings, created, last_updated) VALUES ('app-1', 'Everybody', '{}', now(), now())`);
  const everybody = `FROM generate_series(1, ${MANY}) n`;
  await knex.raw(
    `INSERT INTO application_users (application_id, user_id, created) SELECT 'app-1', 'user-' || n, now() - n * interval '1 second' ${everybody}`,
  );
  await knex.raw(
    `INSERT INTO identity_provider_links (idp_id, subject, user_id, created) SELECT 'idp-1', 'subject-' || n, 'user-' || n, now() ${everybody}`,
  );
  await knex.raw('ANALYZE');
  let statements: { sql: string; bindings: unknown[] }[] = [];
  knex.on('query', (statement: { sql: string; bindings: unknown[] }) => statements.push(statement));
  const assigned = (window: Window) => selectAssignments(knex, 'app-1', 'user', window);
  const linked = (window: Window) => listLinks(knex, 'idp-1', window);
  const lists = [
    ...[undefined, 'name', 'created'].map((by) => ({ by, read: assigned })),
    ...[undefined, 'login', 'subject', 'created'].map((by) => ({ by, read: linked })),
  ];
  for (const { by, read } of lists)
    for (const descending of [false, true]) {
      const name = `${read === assigned ? 'assigned' : 'linked'} by ${by}${descending ? ', backwards' : ''}`;
      statements = [];
      const sort = by === undefined ? undefined : { by, descending, isText: by !== 'created' };
      const { items, total } = await read({ limit: 5, page: 2, sort });
      assert.deepEqual([items.length, total], [5, MANY], name);
      const [places, count] = statements;
      const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
        `EXPLAIN ${places?.sql.replaceAll(/\$\d+/g, '?')}`,
        places?.bindings as string[],
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, /Seq Scan|(?<!Incremental )Sort {2}\(/, `${name}:\n${plan}`);
      assert.match(count?.sql ?? '', /count\(\*\)/, name);
      assert.doesNotMatch(count?.sql ?? '', /"users"/, name);
    }
  statements = [];
  const found = await assigned({ limit: 5, page: 1, words: { by: ['name'], typed: 'login 77' } });
  assert.deepEqual([found.items.length, found.total], [5, 11]);
  assert.equal(statements.filter(({ sql }) => sql.includes('search_query')).length, 1, 'the words are searched once');
  const beyond = await assigned({ limit: 5, page: 9, words: { by: ['name'], typed: 'login 77' } });
  assert.deepEqual([beyond.items.length, beyond.total], [0, 11]);
});

test('the events of an application are found by the indexes of their objects, whichever target it is', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  const party = (id: string, type: string) => `jsonb_build_object('id', ${id}, 'type', '${type}', 'displayName', '')`;
  const targets = `jsonb_build_array(${party(`'usr_' || n`, 'UserGroup')}, ${party(`'app_' || n % 1000`, 'AppInstance')})`;
  const reversed = `jsonb_build_array(${party(`'app_' || n % 1000`, 'PublicClientApp')})`;
  await knex.raw(`INSERT INTO audit_events (uuid, published, event_type, display_message, actor, client, outcome, target)
    SELECT gen_random_uuid(), now() - n * interval '1 second', 'test.event', '', '{}', '{}', '{}', CASE n % 2 WHEN 0 THEN ${targets} ELSE ${reversed} END
    FROM generate_series(1, ${MANY * 5}) n`);
  await knex.raw('ANALYZE audit_events');
  const statements: { sql: string; bindings: unknown[] }[] = [];
  knex.on('query', (statement: { sql: string; bindings: unknown[] }) => statements.push(statement));
  const isApplication = (value: string) => ({ op: 'eq' as const, attribute: 'application.id', value });
  for (const id of ['app_7', 'app_8']) {
    const { items } = await listAuditEvents(knex, { filter: isApplication(id), newestFirst: true }, { limit: 50, after: undefined });
    assert.equal(items.length, 15, id);
    const { sql = '', bindings = [] } = statements.at(-1) ?? {};
    const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(`EXPLAIN ${sql.replaceAll(/\$\d+/g, '?')}`, bindings as string[]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    for (const index of ['audit_events_by_first_object', 'audit_events_by_second_object']) assert.match(plan, new RegExp(index), plan);
    assert.doesNotMatch(plan, /Seq Scan/, plan);
  }
});
