/**
 * `node dist/test/rehearsals/balancer.js`: haproxy before two processes on one database. Everything is spread over both; one is ended and one is
 * killed under load; what is changed at one is known to the other. Wants Debian's haproxy and postgresql.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, freePort, runService } from '../support/process.ts';
import { callsTo, newSecretKey } from '../support/service.ts';
import { haproxy, postgres } from './programs.ts';
import { Traffic } from './traffic.ts';

/** Milliseconds of load before and after each event. */
const WHILE = 4000;

test('two processes behind a balancer are one service', async (t) => {
  const server = await postgres(t);
  const [entry, ...ports] = [await freePort(), await freePort(), await freePort()];
  const base = `http://localhost:${entry}`;
  const env = {
    BASE_URL: base,
    DATABASE_URL: server.url,
    SECRET_KEY: newSecretKey(),
    TRUST_PROXY: '1',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  };
  const start = (port: string) => runService(t, { ...env, PORT: port });
  const running = [await start(ports[0] ?? ''), await start(ports[1] ?? '')] as const;
  await haproxy(
    t,
    entry,
    ports.map((port) => `127.0.0.1:${port}`),
  );
  const service = callsTo(base);
  const ready = (port = '') =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(async () => (await fetch(`${base}/health/ready`)).ok, 'the balancer has found them');

  const traffic = new Traffic(service);
  await traffic.start(2);
  const phase = async (name: string) => {
    const [answered, failed] = [traffic.total, traffic.failures.length];
    await delay(WHILE);
    console.log(`${name}: ${traffic.total - answered} answered, ${traffic.failures.length - failed} failed`, traffic.summary);
  };

  await phase('both');
  const requests = async (port = ''): Promise<number> => {
    const text = await (
      await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: 'SSWS test-api-token-0123456789-0123456789' } })
    ).text();
    return [...text.matchAll(/^gatehouse_http_requests_total\{.*family="\/oauth[^\n]* (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  console.log('requests at each', await Promise.all(ports.map(requests)));

  await t.test('what is changed at one is known to the other', async () => {
    const at = ports.map((port) => callsTo(`http://127.0.0.1:${port}`));
    const { clientId, clientSecret } = await service.createApp({ grant_types: ['client_credentials'] });
    const token = async (one = service) =>
      (
        await fetch(`${one.issuer('built-in')}/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
          body: new URLSearchParams({ grant_type: 'client_credentials' }),
        })
      ).status;
    assert.deepEqual([await token(at[0]), await token(at[1])], [200, 200]);
    const begun = performance.now();
    assert.equal((await at[0]?.api('POST', `/apps/${clientId}/lifecycle/deactivate`))?.status, 204);
    await eventually(async () => (await token(at[1])) === 401, 'the other one knows');
    console.log(`an application that is deactivated at one is refused by the other after ${(performance.now() - begun).toFixed(0)} ms`);
  });

  await t.test('one that is ended (SIGTERM) cuts nothing off', async () => {
    const before = traffic.failures.length;
    const ended = running[0].stop('SIGTERM');
    await phase('SIGTERM');
    assert.equal(await ended, 0);
    assert.deepEqual(traffic.failures.slice(before), []);
    await start(ports[0] ?? '');
    await eventually(() => ready(ports[0]), 'it is back');
    await phase('back');
    assert.deepEqual(traffic.failures.slice(before), []);
  });

  await t.test('one that is killed (SIGKILL) takes only what it was about to answer along', async () => {
    const before = traffic.failures.length;
    const killed = performance.now();
    await running[1].stop('SIGKILL');
    await phase('SIGKILL');
    const failures = traffic.failures.slice(before);
    assert.ok(
      failures.every(({ at }) => at < killed + 5000),
      'later than the balancer needs to notice',
    );
  });

  await traffic.stop();
  assert.equal(await traffic.lost(), 0);
  console.log(`${traffic.acknowledged.length} tokens were acknowledged, none is lost`, traffic.answered);
});
