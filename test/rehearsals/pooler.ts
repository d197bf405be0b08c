/**
 * `[PGBOUNCER=program] node dist/test/rehearsals/pooler.js`: PgBouncer in transaction mode between the service and its database, with
 * DATABASE_DIRECT_URL beside it; two processes under load. Wants Debian's pgbouncer (1.18, which keeps no account of prepared statements) or a newer one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { pgbouncer, postgres } from './programs.ts';
import { Traffic } from './traffic.ts';

const WHILE = 5000;

test('behind PgBouncer in transaction mode', async (t) => {
  const server = await postgres(t);
  const { version, url } = await pgbouncer(t, server);
  const namesLast = Number(version.split('.')[1]) >= 21;
  const env = { DATABASE_URL: url, DATABASE_DIRECT_URL: server.url, SECRET_KEY: newSecretKey(), RATE_LIMITS: 'off', LOG_LEVEL: 'warn' };
  const first = await runService(t, env);
  const second = await runService(t, { ...env, BASE_URL: first.baseUrl });

  const traffic = new Traffic(first);
  await traffic.start(2);
  await delay(WHILE);
  const connections = await server.query<{ application_name: string; count: string }>(
    "SELECT application_name, count(*) FROM pg_stat_activity WHERE datname = 'gatehouse' GROUP BY 1 ORDER BY 1",
  );
  await traffic.stop();
  console.log(`PgBouncer ${version}: ${traffic.total} answered`, traffic.answered, traffic.summary, connections);
  assert.deepEqual(traffic.failures, []);
  assert.equal(await traffic.lost(), 0);

  await t.test('limits of a session hold in every connection of the pooler', async () => {
    const { default: pg } = await import('pg');
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    const shown = await Promise.all(
      [...Array(10)].map(
        async () => (await pool.query("SELECT current_setting('statement_timeout') AS limit, pg_sleep(0.2)")).rows[0].limit,
      ),
    );
    await pool.end();
    assert.deepEqual(new Set(shown), new Set(['8s']));
  });

  await t.test('what is changed at one process is known to the other: LISTEN goes by the direct address', async () => {
    const { clientId, clientSecret } = await first.createApp({ grant_types: ['client_credentials'] });
    const token = async () =>
      (
        await fetch(`${second.issuer('built-in')}/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
          body: new URLSearchParams({ grant_type: 'client_credentials' }),
        })
      ).status;
    assert.equal(await token(), 200);
    await first.api('POST', `/apps/${clientId}/lifecycle/deactivate`);
    await eventually(async () => (await token()) === 401, 'the other one knows');
  });

  assert.equal(await first.stop(), 0);
  assert.equal(await second.stop(), 0);
  console.log(namesLast ? 'statements are prepared' : 'statements have no names');
});
