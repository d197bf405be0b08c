/** Statements that travel together do not wait together for ever: where the database does not answer, everybody is told so in time. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { batch } from '../../../src/platform/database/batch.ts';
import { isUnavailable, Overloaded } from '../../../src/platform/database/database-failures.ts';
import { afterwards } from '../../support/afterwards.ts';
import { withTimings } from '../../support/short-waits.ts';

/** More than are sent beside one another: the others wait for their turn. */
const SENT = 4;

/** Asked, and answered when the test says so. */
function hanging(t: TestContext) {
  const pool = new pg.Pool();
  afterwards(t, () => pool.end());
  // The service has its connections; here nothing else keeps the process.
  const awake = setInterval(() => {}, 60_000);
  afterwards(t, () => clearInterval(awake));
  const asked: { questions: readonly string[]; fail(error: Error): void }[] = [];
  const ask = batch<string, string>((_, questions) => new Promise((_resolve, fail) => void asked.push({ questions, fail })), 1);
  return { asked, ask: (question: string) => ask(pool, question) };
}

test('who waits behind statements that hang is refused when his time is over, although nothing happens', async (t) => {
  withTimings(t, { databaseTurn: 1000 });
  const { asked, ask } = hanging(t);
  const sent = Array.from({ length: SENT }, (_, number) => ask(`sent ${number}`));
  for (const one of sent) one.catch(() => {});
  await assert.rejects(ask('waits'), Overloaded);
  assert.equal(asked.length, SENT, 'the others are still under way');
  for (const { fail } of asked) fail(new Error('the end'));
});

test('where a statement is not answered, who waits behind it is told with it, and asks nothing himself', async (t) => {
  for (const unanswered of ['Query read timeout', 'Connection terminated due to connection timeout']) {
    const { asked, ask } = hanging(t);
    const first = ask('first');
    while (asked.length === 0) await new Promise(setImmediate);
    const others = ['second', 'third'].map(ask);
    asked[0]?.fail(new Error(unanswered));
    for (const one of [first, ...others])
      await assert.rejects(one, (error) => isUnavailable(error) && (error as Error).message === unanswered);
    assert.deepEqual(
      asked.map(({ questions }) => questions),
      [['first']],
    );
    const later = ask('later');
    while (asked.length === 1) await new Promise(setImmediate);
    asked[1]?.fail(new Error('the end'));
    await assert.rejects(later, /the end/, 'who comes later is asked');
  }
});
