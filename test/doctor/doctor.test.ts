/** `gatehouse doctor` against a service that is all right: a line for every rule, nothing secret told, and nothing left behind, however it ends. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SPECIFICATION } from '../../src/doctor/rules/specification.ts';
import { MODELS } from '../../src/protocol/storage/protocol-state.store.ts';
import { onServer } from '../support/database.ts';
import { RULES, SEEN_RULES } from '../support/doctor-rules.ts';
import { runCommand } from '../support/process.ts';
import { API_TOKEN, type Service, STARTED } from '../support/service.ts';
import { type Alter, doctor, outcomes, startAltered } from './altered-service.ts';

/** What opens something, wherever it stands in an answer. */
const SECRET =
  /"(?:access_token|refresh_token|id_token|client_secret|sessionToken)":"([^"]+)"|[?&#](?:code|access_token|id_token)=([^&#]+)|=([\w.-]{20,}); path/g;

/** @returns everything secret that the service has answered with, or was sent, while the doctor was there */
function watchSecrets(service: { alter(alter: Alter): void }): Set<string> {
  const seen = new Set<string>([API_TOKEN]);
  service.alter(({ form, headers }, { headers: answered, text }) => {
    const told = [text, answered.location, ...(answered['set-cookie'] ?? [])].join('\n');
    for (const [, ...values] of told.matchAll(SECRET)) for (const value of values) if (value !== undefined) seen.add(value);
    for (const name of ['code', 'code_verifier', 'password', 'refresh_token', 'client_secret']) seen.add(form.get(name) ?? '');
    seen.add(headers.authorization ?? '');
  });
  return seen;
}

/** Everything that the doctor may make, by its id. */
async function everything(service: Service): Promise<string[]> {
  const found: string[] = [];
  for (const path of ['/apps', '/users?filter=status pr', '/authorizationServers', '/groups']) {
    const { body } = await service.api('GET', `${path}${path.includes('?') ? '&' : '?'}limit=200`);
    found.push(...body.map(({ id }: { id: string }) => id));
  }
  const { body } = await service.api('GET', '/account/org?limit=200');
  return [...found, ...body.organizations.map(({ orgId }: { orgId: string }) => orgId)];
}

async function mustLeaveNothing(t: TestContext, service: Service, before: readonly string[]): Promise<void> {
  await t.test('and leaves nothing behind: no application, user, server, organization, session, token or mail', async () => {
    assert.deepEqual(await everything(service), before);
    await onServer(service.database.url, async (client) => {
      const state = await client.query('SELECT model, payload, expires_at FROM oidc_payload WHERE model <> $1', [MODELS.ReplayDetection]);
      assert.deepEqual(state.rows, [], 'but that a request JWT was used, for as long as it lives: a minute');
      const tables = await client.query(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'audit%' AND tablename <> 'failures_by_address'",
      );
      assert.ok(tables.rows.length > 20);
      for (const { name } of tables.rows) {
        const { rows } = await client.query(`SELECT * FROM "${name}" AS t WHERE t::text LIKE '%doctor%'`);
        assert.deepEqual(rows, [], name);
      }
      assert.deepEqual((await client.query('SELECT kind FROM outbox')).rows, [], 'no mail was written');
    });
  });
}

/** What a doctor left behind that was killed a day ago, and what is only called like it. */
async function leaveBehind(service: Service): Promise<{ readonly kept: string }> {
  const name = `doctor-${(Date.now() - 86_400_000).toString(36)}-0123456789ab`;
  await service.api('POST', '/authorizationServers', { id: name, name, audiences: ['https://old.invalid'] });
  await service.api('POST', '/users', { profile: { login: name } });
  await service.api('POST', '/users', { profile: { login: `${name}-visitor` } });
  const credentials = { oauthClient: { client_id: `${name}-other` } };
  const settings = { oauthClient: { application_type: 'service' } };
  await service.api('POST', '/apps', { label: 'Doctor (other)', credentials, settings });
  await service.api('POST', `/account/org?orgName=${name}`);
  const { body } = await service.api('POST', '/apps', { label: 'Doctor (who)', settings });
  return { kept: body.id };
}

test('every rule of the doctor holds at a service that is all right, at the built-in server and at a custom one', async (t) => {
  const service = await startAltered(t);
  const empty = await everything(service);
  const { kept } = await leaveBehind(service);
  assert.equal((await everything(service)).length, empty.length + 6);
  const before = await everything(service).then((all) => all.filter((id) => empty.includes(id) || id === kept));
  const secrets = watchSecrets(service);
  const { output, ended } = doctor(t, service);
  const code = await ended;
  const { ok, FAIL, skip } = outcomes(output.stdout);

  for (const { id, section, sentence } of RULES) {
    await t.test(`${id} (${section}): ${sentence}`, () => {
      const lines = output.stdout.split('\n').filter((line) => line.includes(`  ${id}: `));
      assert.equal(lines.length, 1, output.stdout + output.stderr);
      if (SEEN_RULES.has(id)) assert.match(String(lines), /^ok /);
      else assert.match(String(lines), /^skip .* \(.+\)/, 'says why it is not seen');
    });
  }
  assert.deepEqual([FAIL, code], [[], 0], output.stdout + output.stderr);
  assert.equal(ok.length + skip.length, RULES.length, 'and there is no other line');

  await t.test('tells nothing that is secret', () => {
    assert.ok(secrets.size > 500, `${secrets.size} were watched`);
    for (const secret of secrets) assert.ok(secret.length < 16 || !(output.stdout + output.stderr).includes(secret), secret);
  });
  await mustLeaveNothing(t, service, before);
});

test('beside the service it checks configuration, database, keys, clock and mail, too', async (t) => {
  const service = await startAltered(t);
  const env = { DATABASE_URL: service.database.url, SECRET_KEY: STARTED.SECRET_KEY, BASE_URL: service.baseUrl, GATEHOUSE_TOKEN: API_TOKEN };
  const command = runCommand(t, 'doctor', env);
  await command.printed('ok    clock.service');
  command.stop('SIGINT');
  await command.ended;
  const isDurable = await onServer(service.database.url, async (client) => (await client.query('SHOW fsync')).rows[0].fsync === 'on');
  const { ok, FAIL } = outcomes(command.output.stdout);
  // The database of the tests is thrown away afterwards: where nothing has to survive, the doctor says so.
  assert.deepEqual(FAIL, isDurable ? [] : ['database.durability'], command.output.stdout);
  const seen = ['configuration.https', 'configuration.failures-counted', 'database.version', 'database.migrations', 'database.connections'];
  for (const id of [...seen, 'keys.next', 'clock.database']) assert.ok(ok.includes(id), id);
});

for (const [how, signal, args] of [
  ['Ctrl-C', 'SIGINT', []],
  ['SIGTERM', 'SIGTERM', []],
  ['the end of its time', undefined, ['--seconds', '2']],
] as const) {
  test(`${how} midway ends it with 1`, async (t) => {
    const service = await startAltered(t);
    const before = await everything(service);
    const command = doctor(t, service, ...args);
    if (signal !== undefined) {
      await command.printed('ok    introspection-result.active');
      command.child.kill(signal);
    }
    assert.equal(await command.ended, 1, command.output.stdout);
    assert.match(command.output.stdout, /\d+ could not be checked\.\n$/);
    assert.deepEqual(outcomes(command.output.stdout).FAIL, []);
    await mustLeaveNothing(t, service, before);
  });
}

test('what cannot be removed is told, and is not all right', async (t) => {
  const service = await startAltered(t);
  service.alter(({ method, url }, answered) => {
    if (method === 'DELETE' && url.pathname.startsWith('/api/v1/apps/')) answered.status = 500;
  });
  const command = doctor(t, service);
  await command.printed('ok    service.single-sign-on');
  command.child.kill('SIGINT');
  assert.equal(await command.ended, 1);
  assert.match(
    command.output.stdout,
    /^FAIL {2}doctor\.left: the application doctor-\S+-everything could not be removed\. Delete it in the console$/m,
  );
});

test('without an API token, or with a wrong one, it is not all right, and says what to do', async (t) => {
  const service = await startAltered(t);
  const without = runCommand(t, 'doctor', {}, '--url', service.baseUrl);
  assert.equal(await without.ended, 1);
  assert.match(without.output.stdout, /Set GATEHOUSE_TOKEN/);
  const wrong = runCommand(t, 'doctor', {}, '--url', service.baseUrl, '--token', 'a-token-that-nobody-has-made');
  assert.equal(await wrong.ended, 1);
  assert.ok(outcomes(wrong.output.stdout).FAIL.includes('configuration.token'));
  assert.ok(!wrong.output.stdout.includes('a-token-that-nobody-has-made'));
  const usage = runCommand(t, 'doctor', {}, '--nonsense');
  assert.equal(await usage.ended, 2);
  assert.match(usage.output.stderr, /^error: unknown option '--nonsense'\n[\s\S]*Usage: gatehouse doctor/);
});

test('every sentence of the specification has one line, but for what it calls "not shown"', () => {
  const map = readFileSync(fileURLToPath(new URL('../../../test/spec-coverage.md', import.meta.url)), 'utf8');
  let section = '';
  let count = 0;
  for (const line of map.split('\n')) {
    section = /^## (.*)$/.exec(line)?.[1] ?? section;
    const quote = /^- “(.+)”$/.exec(line)?.[1];
    if (quote === undefined) continue;
    const parts = quote.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
    const found = SPECIFICATION.filter((rule) => rule.section === section && pattern.test(rule.sentence));
    const isGap =
      found.length === 0 && /not shown|^Extension parameters|^Transitions of any other|^Which of the query|^Rate limits/.test(quote);
    assert.ok(found.length === 1 || isGap, `${section}: ${quote} has ${found.length} lines`);
    count += found.length;
  }
  const ours = SPECIFICATION.filter(({ id }) => id.startsWith('standards.'));
  assert.equal(count + ours.length, SPECIFICATION.length, 'and no line is about anything else');
});
