/** Twenty rounds of random walks, other ones in each run (test/walk). */
import { test } from 'node:test';
import { tryMore } from '../properties/checking.ts';
import { walkAtRandom } from '../walk/walk.ts';

const ROUNDS = 20;

tryMore(ROUNDS);
for (let round = 1; round <= ROUNDS; round += 1) {
  test(`exactly those tokens, sessions and consents are there that must be: round ${round}`, (t) => walkAtRandom(t));
}
