/** Refresh tokens at two processes over one database: rotation, leeway and the end of a family hold whichever of them is asked (RFC 9700 section 4.14.2). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock, stopClock } from '../../support/clock.ts';
import { type Service, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, type JsonAnswer, post, tokensFor } from '../servers/relying-party.ts';

async function twoProcesses(t: TestContext, serverId: string, settings: Record<string, unknown>) {
  const [first, second] = await startTwo(t);
  const [user, client] = [await first.createUser(), await createClient(first, settings)];
  const { body: tokens } = await tokensFor(first, new UserAgent(first.baseUrl), user, client, { serverId });
  const refresh = (at: Service, value: string): Promise<JsonAnswer> =>
    post(at, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: value });
  /** As introspection at both tells it. */
  const activity = async (token: string): Promise<boolean[]> =>
    Promise.all([first, second].map(async (at) => (await post(at, serverId, 'introspect', client, { token })).body.active));
  const atOnce = (count: number, value: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => refresh(n % 2 === 0 ? first : second, value)));
  return { first, second, tokens, refresh, activity, atOnce };
}

for (const serverId of ['built-in', 'default']) {
  test(`without leeway one of fifty uses at once at two processes succeeds, and the family ends at both: ${serverId} server`, async (t) => {
    const { tokens, activity, atOnce } = await twoProcesses(t, serverId, { refresh_token: { leeway: 0 } });
    const answers = await atOnce(50, tokens.refresh_token);
    const [winner, ...more] = answers.filter(({ status }) => status === 200);
    assert.ok(winner);
    assert.equal(more.length, 0);
    for (const { status, body } of answers) if (status !== 200) assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    for (const token of [winner.body.refresh_token, winner.body.access_token, tokens.access_token]) {
      assert.deepEqual(await activity(token), [false, false]);
    }
  });

  test(`within the leeway each use at either process replaces the successor; a use after it ends all of them at both: ${serverId} server`, async (t) => {
    stopClock(t);
    const { first, second, tokens, refresh, activity, atOnce } = await twoProcesses(t, serverId, { refresh_token: { leeway: 60 } });
    const answers = await atOnce(10, tokens.refresh_token);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const successors = answers.map(({ body }) => String(body.refresh_token));
    assert.equal(new Set([tokens.refresh_token, ...successors]).size, 11, 'each its own');
    const alive = await Promise.all(successors.map(activity));
    assert.equal(alive.filter(([at]) => at === true).length, 1, 'one chain goes on');
    for (const [at, elsewhere] of alive) assert.equal(at, elsewhere);
    const given = [...successors, ...answers.map(({ body }) => String(body.access_token))];
    for (const { body } of answers) assert.deepEqual(await activity(String(body.access_token)), [true, true]);

    moveClock(t, 58);
    assert.equal((await refresh(second, tokens.refresh_token)).status, 200, 'the leeway of the application, at the other process');
    moveClock(t, 3);
    const late = await refresh(first, tokens.refresh_token);
    assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
    for (const token of given) assert.deepEqual(await activity(token), [false, false]);
  });
}
