/** The same six walks in each run. test/long/walk.test.ts walks others. */
import { test } from 'node:test';
import { walkAtRandom } from './walk.ts';

test('whatever happens in whatever order, exactly those tokens, sessions and consents are there that must be (RFC 6749, 7009, 7662)', (t) =>
  walkAtRandom(t));
