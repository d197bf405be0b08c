/** kill -9 at random moments of logouts, over and over, beside a process that lives on: whoever was answered with the 302 is told of (issue 6, "Logout"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { afterwards } from '../support/afterwards.ts';
import { onServer, testDatabase } from '../support/database.ts';
import { eventually, freePort, runService } from '../support/process.ts';
import { newSecretKey } from '../support/service.ts';
import { receiver, signInAt, told, waiting } from './logout-receiver.ts';

const ROUNDS = 4;
const SESSIONS = 6;

test('kill -9 of one of two processes at random moments of many logouts loses no news of an ended session', async (t) => {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const endpoint = await receiver(t);
  const port = await freePort();
  const env = { ALLOW_PRIVATE_NETWORK: 'true', DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
  let doomed = await runService(t, { ...env, PORT: port });
  const survivor = await runService(t, { ...env, BASE_URL: doomed.baseUrl });
  const client = await told(doomed, endpoint.uri);
  const user = await doomed.createUser();
  const sids = async (): Promise<Set<unknown>> =>
    onServer(database.url, async (sql) => {
      const { rows } = await sql.query<{ sid: string }>("SELECT authorization_state->>'sid' AS sid FROM browser_session_clients");
      return new Set(rows.map(({ sid }) => sid));
    });
  let [answered, cut] = [0, 0];

  for (let round = 0; round < ROUNDS; round += 1) {
    const sessions = [];
    for (let session = 0; session < SESSIONS; session += 1) sessions.push(await signInAt(doomed, user, [['default', client]]));
    const logouts = sessions.map(({ logout }) =>
      logout().then(
        ({ status }) => status,
        () => undefined,
      ),
    );
    // The first round ends right after the first answer, the others somewhere.
    if (round === 0) await Promise.race(logouts);
    else await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    doomed.child.kill('SIGKILL');
    const statuses = await Promise.all(logouts);
    assert.equal(await doomed.ended, 'SIGKILL');

    await eventually(async () => (await waiting(database)).length === 0, 'the other process tells all that was noted');
    const alive = await sids();
    const came = new Set<unknown>(endpoint.tokens.map((token) => decodeJwt(token).sid));
    for (const [index, status] of statuses.entries()) {
      const sid = sessions[index]?.sids[0];
      if (status === 302) answered += 1;
      else cut += 1;
      if (status === 302) assert.ok(came.has(sid), `round ${round}: a logout that was answered was told`);
      assert.notEqual(came.has(sid), alive.has(sid), `round ${round}: a session is alive, or its end is told`);
    }
    doomed = await runService(t, { ...env, PORT: port });
  }
  t.diagnostic(`${answered} logouts were answered, ${cut} cut off`);
  assert.ok(answered > 0);
  for (const service of [doomed, survivor]) assert.equal(await service.stop(), 0);
});
