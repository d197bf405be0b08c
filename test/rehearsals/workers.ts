/** `node dist/test/rehearsals/workers.js`: of two workers (`WORKERS=2`) one after the other is killed under load; each is replaced, and all that was acknowledged is there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, gone, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { postgres } from './programs.ts';
import { Traffic } from './traffic.ts';

const KILLED = 3;
/** Milliseconds of load between them. */
const WHILE = 2000;

test('workers that are killed', async (t) => {
  const server = await postgres(t);
  const env = { DATABASE_URL: server.url, SECRET_KEY: newSecretKey(), WORKERS: '2', RATE_LIMITS: 'off', LOG_LEVEL: 'info' };
  const service = await runService(t, env);
  const workers = () =>
    spawnSync('ps', ['-o', 'pid=', '--ppid', String(service.child.pid)], { encoding: 'utf8' })
      .stdout.trim()
      .split(/\s+/)
      .map(Number);
  // By the log, that each of them has answered a request.
  const bothAnswer = async () => {
    await fetch(`${service.baseUrl}/health/live`, { headers: { connection: 'close' } }).catch(() => {});
    return workers().length === 2 && workers().every((pid) => service.output.stdout.includes(`"pid":${pid},"requestId"`));
  };
  const traffic = new Traffic(service);
  await traffic.start(4);
  await eventually(bothAnswer, 'both answer');
  for (let times = 0; times < KILLED; times += 1) {
    await delay(WHILE);
    const [victim = 0] = workers();
    process.kill(victim, 'SIGKILL');
    await gone(victim);
    await eventually(bothAnswer, 'it is replaced');
  }
  await delay(WHILE);
  await traffic.stop();
  assert.equal(await traffic.lost(), 0);
  console.log(`${KILLED} killed; ${traffic.acknowledged.length} tokens were acknowledged, none is lost`, traffic.answered, traffic.summary);
  assert.ok(
    traffic.failures.every(({ what }) => what.includes('fetch failed')),
    'only what they were about to answer failed',
  );
  assert.equal(await service.stop(), 0);
});
