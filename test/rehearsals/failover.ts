/**
 * `[FREEZE=1] node dist/test/rehearsals/failover.js`: the database's server is lost under load (with FREEZE it goes on taking connections and answers
 * nobody) and its standby, which followed it synchronously, is promoted. The service finds it by itself, and all that was acknowledged is there.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { postgres, urlOfAll } from './programs.ts';
import { Traffic } from './traffic.ts';

const WHILE = 5000;
/** Milliseconds until somebody, or a program such as Patroni, decides that the server is lost. */
const DECISION = 2000;

test('a failover to a synchronous standby', async (t) => {
  const primary = await postgres(t);
  const standby = await primary.standby('second');
  // Not copied by the base backup: once it is promoted the standby waits for nobody.
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (second)'");
  await primary.query('SELECT pg_reload_conf()');
  await eventually(
    async () => (await primary.query<{ sync_state: string }>('SELECT sync_state FROM pg_stat_replication'))[0]?.sync_state === 'sync',
    'the standby follows synchronously',
  );
  const env = { DATABASE_URL: urlOfAll([primary, standby]), SECRET_KEY: newSecretKey(), RATE_LIMITS: 'off', LOG_LEVEL: 'error' };
  const service = await runService(t, env);
  const traffic = new Traffic(service);
  await traffic.start(4);
  await delay(WHILE);
  console.log(`before: ${traffic.total} answered`, traffic.summary);
  assert.deepEqual(traffic.failures, []);

  const lost = performance.now();
  await primary.lose(process.env.FREEZE ? 'SIGSTOP' : 'SIGKILL');
  await delay(DECISION);
  const promoting = performance.now();
  standby.promote();
  const recovery = await traffic.recovery(promoting);
  console.log(
    `the first answer ${recovery.toFixed(0)} ms after the order to promote, ${(promoting - lost + recovery).toFixed(0)} ms after the loss`,
  );
  const failures = traffic.failures.length;
  await delay(WHILE);
  console.log(`meanwhile ${failures} were told to come back`, traffic.summary);
  await eventually(async () => (await fetch(`${service.baseUrl}/health/ready`)).ok, 'ready again');
  const before = traffic.failures.length;
  await delay(WHILE);
  await traffic.stop();
  console.log(`afterwards: ${traffic.total} answered`, traffic.answered);
  assert.deepEqual(traffic.failures.slice(before), []);
  assert.equal(await traffic.lost(), 0);
  console.log(`${traffic.acknowledged.length} tokens were acknowledged, none is lost`);
  if (process.env.FREEZE) await primary.lose();
  assert.equal(await service.stop(), 0);
});
