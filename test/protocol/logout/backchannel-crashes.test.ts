/** kill -9 at random moments of logouts, over and over, beside a process that lives on: whoever was answered with the 302 is told of (issue 6, "Logout"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase } from '../../support/database.ts';
import { eventually, freePort, runService } from '../../support/process.ts';
import { STARTED } from '../../support/service.ts';
import { timingsOfProcess } from '../../support/short-waits.ts';
import { receiver, signInAt, told, waiting } from './logout-receiver.ts';

/** In each round the kill comes right after so many answers, while the others are under way or not yet begun; the last one begins after it. */
const ANSWERS_BEFORE_KILL = [3, 4, 5];
const SESSIONS = 6;
/** Milliseconds over which the logouts of a round begin. */
const SPREAD = 40;

test('kill -9 of one of two processes at random moments of many logouts loses no news of an ended session', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const endpoint = await receiver(t);
  const port = await freePort();
  // What a killed process took is soon another's; a delivery that takes longer is made twice, which is all the same here.
  const soon = timingsOfProcess({ outboxPause: 100, outboxClaim: 2 });
  const env = { ALLOW_PRIVATE_NETWORK: 'true', DATABASE_URL: database.url, SECRET_KEY: STARTED.SECRET_KEY, ...soon };
  const start = () => runService(t, { ...env, PORT: port });
  let doomed = await start();
  const survivor = await runService(t, { ...env, BASE_URL: doomed.baseUrl });
  const client = await told(doomed, endpoint.uri);
  const user = await doomed.createUser();
  const sids = async (): Promise<Set<unknown>> =>
    onServer(database.url, async (sql) => {
      const { rows } = await sql.query<{ sid: string }>("SELECT authorization_state->>'sid' AS sid FROM browser_session_clients");
      return new Set(rows.map(({ sid }) => sid));
    });
  let [answered, cut] = [0, 0];

  for (const [round, answers] of ANSWERS_BEFORE_KILL.entries()) {
    if (round > 0) doomed = await start();
    const sessions = [];
    for (let session = 0; session < SESSIONS; session += 1) sessions.push(await signInAt(doomed, user, [['default', client]]));
    let left = answers;
    let isEnough = () => {};
    const enough = new Promise<void>((resolve) => {
      isEnough = resolve;
    });
    const running = doomed;
    const killed = enough.then(() => running.child.kill('SIGKILL'));
    const logouts = sessions.map(async ({ logout }, index) => {
      await (index === SESSIONS - 1 ? killed : wait(Math.random() * SPREAD));
      const status = await logout().then(
        (answer) => answer.status,
        () => undefined,
      );
      left -= 1;
      if (left === 0) isEnough();
      return status;
    });
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
  }
  t.diagnostic(`${answered} logouts were answered, ${cut} cut off`);
  assert.ok(answered > cut, 'most are answered');
  assert.ok(cut > 0, 'and some are cut off');
  assert.equal(await survivor.stop(), 0);
});
