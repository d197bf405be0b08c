/** A real streaming replica that introspection and userinfo read: what it may answer while its replay stands still, and what becomes of requests when it is lost. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { postgres } from '../rehearsals/programs.ts';
import { callCommand, eventually, runService } from '../support/process.ts';
import { API_TOKEN, newSecretKey } from '../support/service.ts';

const MAX_LAG = 3000;

/** Also where several processes share the replica, each with a heartbeat of its own, and are told of changes by polling. */
for (const more of [{}, { WORKERS: '2', NOTIFICATIONS: 'poll' }])
  test(`introspection at a streaming replica ${JSON.stringify(more)}`, (t) => readsReplica(t, more));

async function readsReplica(t: TestContext, more: Readonly<Record<string, string>>): Promise<void> {
  const primary = await postgres(t);
  const standby = await primary.standby('reader');
  const env = {
    DATABASE_URL: primary.url,
    READ_DATABASE_URL: standby.url,
    READ_DATABASE_MAX_LAG_MS: String(MAX_LAG),
    SECRET_KEY: newSecretKey(),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'info',
    ...more,
  };
  const service = await runService(t, env);
  const client = await createClient(service, { grant_types: ['client_credentials'] });
  const token = async (): Promise<string> =>
    (await post(service, 'built-in', 'token', client, { grant_type: 'client_credentials' })).body.access_token;
  const introspect = async (token: string): Promise<boolean> =>
    (await post(service, 'built-in', 'introspect', client, { token })).body.active;
  const metrics = async () => (await fetch(`${service.baseUrl}/metrics`)).text();
  const reads = async (outcome: string): Promise<number> =>
    Number(new RegExp(`^gatehouse_read_replica_reads_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(await metrics())?.[1] ?? 0);
  await eventually(() => service.output.stdout.includes('the read replica is in use'), 'the replica is used');

  await t.test('a new token is active at once, whether the replica has it yet or not', async () => {
    for (let n = 0; n < 50; n += 1) assert.equal(await introspect(await token()), true);
    assert.ok((await reads('used')) > 0, await metrics());
  });

  await t.test('the doctor measures it', async () => {
    const { stdout } = await callCommand(
      { ...env, GATEHOUSE_TOKEN: API_TOKEN, BASE_URL: service.baseUrl },
      ...['doctor', '--url', service.baseUrl, '--seconds', '60'],
    );
    assert.match(stdout, /The read replica receives committed data within READ_DATABASE_MAX_LAG_MS.*\d+ ms/);
  });

  await t.test('while the replay stands still a revoked token is active for the bound and no longer', async () => {
    const revoked = await token();
    await eventually(async () => {
      const before = await reads('used');
      assert.equal(await introspect(revoked), true);
      return (await reads('used')) > before;
    }, 'the replica has it');
    await standby.query('SELECT pg_wal_replay_pause()');
    await eventually(
      async () => (await standby.query<{ at: string }>('SELECT pg_get_wal_replay_pause_state() AS at'))[0]?.at === 'paused',
      'paused',
    );
    assert.equal((await post(service, 'built-in', 'revoke', client, { token: revoked })).status, 200);
    const from = performance.now();
    await eventually(async () => {
      const asked = performance.now();
      const active = await introspect(revoked);
      assert.ok(!active || asked - from <= MAX_LAG, `active ${(asked - from).toFixed(0)} ms after its revocation`);
      return !active;
    }, 'it is revoked');
    console.log(`inactive ${(performance.now() - from).toFixed(0)} ms after the revocation, with a bound of ${MAX_LAG} ms`);
    const used = await reads('used');
    assert.equal(await introspect(await token()), true);
    assert.equal(await reads('used'), used);
    await standby.query('SELECT pg_wal_replay_resume()');
    await eventually(async () => {
      assert.equal(await introspect(revoked), false);
      assert.equal(await introspect(await token()), true);
      return (await reads('used')) > used;
    }, 'it is used again');
  });

  for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
    await t.test(`a replica that is lost (${signal}) fails no request`, async () => {
      const known = await token();
      await standby.lose(signal);
      const from = performance.now();
      let slowest = 0;
      while (performance.now() - from < 2 * MAX_LAG) {
        const asked = performance.now();
        assert.equal(await introspect(known), true);
        slowest = Math.max(slowest, performance.now() - asked);
      }
      console.log(`the slowest answer took ${slowest.toFixed(0)} ms`);
    });

  assert.equal(await service.stop(), 0);
}
