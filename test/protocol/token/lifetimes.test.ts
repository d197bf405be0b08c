/** The lifetimes that are decided outside the database (src/protocol/token/lifetimes.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIFETIMES } from '../../../config/defaults.ts';
import { lifetimes } from '../../../src/protocol/token/lifetimes.ts';

test('a session before the sign-in is counted by address and short; one of a user is neither (CWE-770)', () => {
  const counted: unknown[] = [];
  const signIn = { sessionIdleMinutes: 720, sessionLifetimeDays: 30 };
  const [server, access] = [{ refreshTokenSeconds: 1 }, {}];
  const { Session: lifetimeOf } = lifetimes(server as never, access as never, signIn as never, (ctx) => counted.push(ctx));
  assert.ok(typeof lifetimeOf === 'function');
  assert.equal(lifetimeOf('first' as never, { new: true } as never), LIFETIMES.interaction);
  assert.equal(lifetimeOf('again' as never, {} as never), LIFETIMES.interaction);
  assert.equal(lifetimeOf('user' as never, { new: true, accountId: 'usr1' } as never), 720 * 60);
  assert.deepEqual(counted, ['first']);
});
