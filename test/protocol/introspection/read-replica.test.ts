/**
 * Tokens read where an operator lets answers be old (`READ_DATABASE_URL`). Here the same database stands for a replica that follows at once, and a foreign one for
 * one that does not follow. A real one is in test/long/read-replica.test.ts.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { deleteOldHeartbeats } from '../../../src/platform/database/read-replica.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase, type TestDatabase, testDatabase } from '../../support/database.ts';
import { eventually, freePort, runService } from '../../support/process.ts';
import { STARTED } from '../../support/service.ts';
import { timingsOfProcess } from '../../support/short-waits.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, tokensFor } from '../servers/relying-party.ts';

async function database(t: TestContext, make: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const made = await make();
  afterwards(t, () => made.drop());
  return made;
}

async function run(t: TestContext, own: TestDatabase, readUrl: string, maxLag: number, more: Readonly<Record<string, string>> = {}) {
  const service = await runService(t, {
    ...STARTED,
    ...timingsOfProcess({ replicaAnswer: 60_000 }),
    DATABASE_URL: own.url,
    PORT: await freePort(),
    LOG_LEVEL: 'info',
    READ_DATABASE_URL: readUrl,
    READ_DATABASE_MAX_LAG_MS: String(maxLag),
    ...more,
  });
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token'] });
  const user = await service.createUser({ firstName: 'Ada' });
  const browser = new UserAgent(service.baseUrl);
  const sign = async () => (await tokensFor(service, browser, user, client, { serverId: 'built-in', scope: 'openid profile' })).body;
  const introspect = async (token: string) => (await post(service, 'built-in', 'introspect', client, { token })).body;
  const userinfo = (token: string) => fetch(`${service.issuer('built-in')}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  const reads = async (outcome: string): Promise<number> => {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    return Number(new RegExp(`^gatehouse_read_replica_reads_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  return { service, client, user, sign, introspect, userinfo, reads };
}

test('a replica that follows is read by introspection and userinfo; what it does not know or would refuse, the primary is asked', async (t) => {
  const own = await database(t, startedDatabase);
  const { service, client, user, sign, introspect, userinfo, reads } = await run(t, own, own.url, 60_000);
  await eventually(() => service.output.stdout.includes('the read replica is in use'), 'it is found fresh');
  const { access_token: token } = await sign();
  assert.equal((await introspect(token)).active, true);
  const claims = (await (await userinfo(token)).json()) as { readonly sub: string; readonly given_name: string };
  assert.deepEqual([claims.sub, claims.given_name], [user.id, 'Ada']);
  assert.equal(await reads('used'), 2);

  assert.equal((await introspect('unknown')).active, false);
  assert.equal(await reads('missing'), 1);
  assert.equal((await post(service, 'built-in', 'revoke', client, { token })).status, 200);
  assert.equal((await introspect(token)).active, false);
  assert.equal((await userinfo(token)).status, 401);
  assert.match(await (await fetch(`${service.baseUrl}/metrics`)).text(), /^gatehouse_read_replica_lag_seconds [\d.e-]+$/m);

  const beats = async () => (await onServer(own.url, (client) => client.query('SELECT beat FROM read_heartbeats'))).rowCount;
  assert.equal(await beats(), 1);
  assert.equal(await service.stop(), 0);
  assert.equal(await beats(), 0, 'a process takes its row along');
});

for (const [name, settings, processes] of [
  ['two workers', { WORKERS: '2' }, 2],
  ['polled notifications', { NOTIFICATIONS: 'poll' }, 1],
  ['two workers that poll', { WORKERS: '2', NOTIFICATIONS: 'poll' }, 2],
] as const)
  test(`${name} read the replica, each process by a heartbeat of its own`, async (t) => {
    const own = await database(t, startedDatabase);
    const { service, client, user, sign, introspect, reads } = await run(t, own, own.url, 60_000, settings);
    await eventually(
      () => service.output.stdout.split('the read replica is in use').length - 1 === processes,
      'every process finds it fresh',
    );
    const beats = async () => (await onServer(own.url, (client) => client.query('SELECT beat FROM read_heartbeats'))).rowCount;
    assert.equal(await beats(), processes);
    const [{ access_token: token }, { access_token: revoked }] = [await sign(), await sign()];
    // New connections at once: the workers take them in turn.
    const actives = async (token: string) => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => introspect(token)));
      return [...new Set(answers.map(({ active }) => active))];
    };
    assert.deepEqual(await actives(token), [true]);
    assert.equal(await reads('used'), 8, 'all processes are counted');
    const asked = [...service.output.stdout.matchAll(/"pid":(\d+),"requestId"[^\n]*introspect/g)].map(([, pid]) => pid);
    assert.equal(new Set(asked).size, processes);

    assert.equal((await post(service, 'built-in', 'revoke', client, { token: revoked })).status, 200);
    assert.deepEqual(await actives(revoked), [false]);
    assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/deactivate`)).status, 200);
    assert.deepEqual(await actives(token), [false]);
    assert.equal(await service.stop(), 0);
    assert.equal(await beats(), 0, 'every process takes its row along');
  });

test('a database that shows no heartbeat of this service is not believed: answers come from the primary', async (t) => {
  const own = await database(t, startedDatabase);
  const foreign = await database(t, testDatabase);
  const { service, client, sign, introspect, reads } = await run(t, own, foreign.url, 60_000);
  const { access_token: token } = await sign();
  assert.equal((await introspect(token)).active, true);
  await post(service, 'built-in', 'revoke', client, { token });
  assert.equal((await introspect(token)).active, false);
  assert.deepEqual([await reads('used'), await reads('stale')], [0, 2]);
  await eventually(() => service.output.stdout.includes('the read replica is unreachable or lags too far behind'), 'it is told');
});

test('a replica that fails is given up, and used again when it is back', async (t) => {
  const own = await database(t, startedDatabase);
  const { service, sign, introspect, reads } = await run(t, own, own.url, 100);
  const { access_token: token } = await sign();
  await eventually(async () => {
    assert.equal((await introspect(token)).active, true);
    return (await reads('used')) > 0;
  }, 'it is used');
  await onServer(own.url, (client) => client.query('ALTER TABLE read_heartbeats RENAME TO away'));
  await eventually(() => service.output.stdout.includes('the read replica is unreachable or lags too far behind'), 'it is given up');
  const before = await reads('used');
  for (let n = 0; n < 5; n += 1) assert.equal((await introspect(token)).active, true);
  assert.equal(await reads('used'), before);
  await onServer(own.url, (client) => client.query('ALTER TABLE away RENAME TO read_heartbeats'));
  await eventually(async () => {
    assert.equal((await introspect(token)).active, true);
    return (await reads('used')) > before;
  }, 'it is used again');
});

test('heartbeats of processes that are gone are removed after ten minutes', async (t) => {
  const own = await database(t, testDatabase);
  const opened = await openDatabase({ connection: own.connection, onError: () => undefined });
  afterwards(t, () => opened.close());
  await opened.knex.raw(`INSERT INTO read_heartbeats (id, beat, written)
    SELECT gen_random_uuid(), 1, now() - minutes * interval '1 minute' FROM unnest(ARRAY[9, 11, 12]) AS minutes`);
  assert.deepEqual([await deleteOldHeartbeats(opened.knex, 1), await deleteOldHeartbeats(opened.knex, 10)], [1, 1]);
  assert.equal((await opened.knex('read_heartbeats')).length, 1);
});
