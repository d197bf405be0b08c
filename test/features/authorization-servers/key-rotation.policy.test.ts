/** When a signing key is replaced by itself (decisions, "signing"; OpenID Connect Core section 10.1.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRotationDue, nextRotation } from '../../../src/features/authorization-servers/signing-keys.policy.ts';

const TIMES = { signingKey: 1000, nextKeyKnown: 100 };
const at = (seconds: number): Date => new Date(seconds * 1000);

for (const [what, mode, nextCreated, due, at999, at1000, at1100] of [
  ['after its time', 'AUTO', 0, 1000, false, true, true],
  ['not before the one that follows is known', 'AUTO', 1000, 1100, false, false, true],
  ['never without one that was announced', 'AUTO', undefined, 1000, false, false, false],
  ['never where nobody is to', 'MANUAL', 0, undefined, false, false, false],
] as const) {
  test(`a key is rotated by itself ${what}`, () => {
    const ages = { activated: at(0), nextCreated: nextCreated === undefined ? undefined : at(nextCreated) };
    assert.deepEqual(nextRotation(mode, ages, TIMES), due === undefined ? undefined : at(due));
    assert.deepEqual(
      [999, 1000, 1100].map((now) => isRotationDue(mode, ages, TIMES, at(now))),
      [at999, at1000, at1100],
    );
  });
}
