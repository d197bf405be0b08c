/** PgBouncer in transaction mode as the only way to the database: `NOTIFICATIONS=poll`, from the first start on. Wants Debian's pgbouncer, or the one PGBOUNCER names. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { pgbouncer, postgres } from '../rehearsals/programs.ts';
import { eventually, runCommand, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { timingsOfProcess } from '../support/short-waits.ts';

const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

test('two services behind a transaction pooler, without a direct address', async (t) => {
  if (!existsSync(PROGRAM)) return t.skip('no PgBouncer here: apt-get install pgbouncer');
  const server = await postgres(t);
  const { version, url } = await pgbouncer(t, server);
  const env = { DATABASE_URL: url, SECRET_KEY: newSecretKey(), NOTIFICATIONS: 'poll', RATE_LIMITS: 'off' };
  // Without the notice, the other process would know it after these ten minutes.
  const services = await Promise.all([0, 1].map(() => runService(t, { ...env, ...timingsOfProcess({ cache: 600_000 }) })));
  const [first, second] = services as [(typeof services)[0], (typeof services)[0]];

  await t.test(`PgBouncer ${version}: what is changed at one is known to the other`, async () => {
    const { clientId, clientSecret } = await first.createApp({ grant_types: ['client_credentials'] });
    const token = async () =>
      (
        await fetch(`${second.issuer('built-in')}/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
          body: new URLSearchParams({ grant_type: 'client_credentials' }),
        })
      ).status;
    for (let round = 0; round < 3; round += 1) {
      await eventually(async () => (await token()) === 200, 'it is active');
      await first.api('POST', `/apps/${clientId}/lifecycle/deactivate`);
      await eventually(async () => (await token()) === 401, 'the other one knows');
      await first.api('POST', `/apps/${clientId}/lifecycle/activate`);
    }
  });

  await t.test('nothing that belongs to a session is left in the connections of the pooler', async () => {
    const [held] = await server.query<{ locks: string; listening: string }>(`SELECT
      (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') AS locks,
      (SELECT count(*) FROM pg_stat_activity WHERE datname = 'gatehouse' AND query ILIKE 'listen%') AS listening`);
    assert.deepEqual(held, { locks: '0', listening: '0' });
    const { default: pg } = await import('pg');
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    const limits = await Promise.all(
      [...Array(10)].map(async () => (await pool.query("SELECT current_setting('statement_timeout') AS it, pg_sleep(0.2)")).rows[0].it),
    );
    await pool.end();
    assert.deepEqual(new Set(limits), new Set(['8s']), 'migrations have not taken the limit away for others');
  });

  await t.test('commands go the same way', async () => {
    const migrating = runCommand(t, 'migrate', env);
    assert.equal(await migrating.ended, 0, migrating.output.stderr);
  });

  for (const service of services) assert.equal(await service.stop(), 0);
});
