/** `gatehouse doctor` against a service that is all right: a line for every rule, nothing secret told, and nothing left behind. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SPECIFICATION } from '../../src/doctor/rules/specification.ts';
import { RULES, SEEN_RULES } from '../support/doctor-rules.ts';
import { runCommand } from '../support/process.ts';
import { API_TOKEN, type Service, STARTED } from '../support/service.ts';
import { type Alter, doctor, everything, faultsOfServer, mustLeaveNothing, outcomes, startAltered } from './altered-service.ts';

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
  const { ok, FAIL } = outcomes(command.output.stdout);
  assert.deepEqual(FAIL, await faultsOfServer(service.database.url), command.output.stdout);
  const seen = ['configuration.https', 'configuration.failures-counted', 'database.version', 'database.migrations', 'database.connections'];
  for (const id of [...seen, 'keys.next', 'clock.database']) assert.ok(ok.includes(id), id);
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
