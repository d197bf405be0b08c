/**
 * How properties are tried: how often, and with which seed: each run of all tests tries the same, so that it is red only for what was changed; longer ones try others.
 * fast-check tells seed and path of a failure; given back by FC_SEED and FC_PATH it is repeated.
 */
import fc from 'fast-check';

const EVERYDAY_SEED = '20261121';

/** Of FC_SEED and FC_PATH. */
export function reproduced(): { seed?: number; path?: string; endOnFailure?: boolean } {
  const { FC_TIMES, WALK_ROUNDS, FC_SEED: seed = (FC_TIMES ?? WALK_ROUNDS) ? undefined : EVERYDAY_SEED, FC_PATH: path } = process.env;
  return { ...(seed !== undefined && { seed: Number(seed) }), ...(path !== undefined && { path, endOnFailure: true }) };
}

/** FC_TIMES tries each property so many times as often. */
const TIMES = Number(process.env.FC_TIMES ?? 1);

/** What `fc.assert` is told. @param runs tries of the property */
export const tried = (runs = 200) => ({ numRuns: runs * TIMES, ...reproduced() });

/** Any text, halves of surrogate pairs included, and what parsers trip over more often than chance would. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      ...'aZ09 \t\n\0"\'\\/:;,.@%&=?#[](){}<>*+-_~|$^',
      '\ud83d',
      '\ud83d\ude00',
      '\u0130',
      '\u212a',
      '\u00e9',
      'e\u0301',
    ),
  }),
  fc.string(),
);

/** A hundred thousand characters that repeat a few: whoever takes more than a few steps for each does not end. */
export const endless: fc.Arbitrary<string> = fc
  .tuple(
    fc.string({ maxLength: 3 }),
    fc.string({ unit: fc.constantFrom(...'aA0 .@-_"\\(%:/[&=,<'), minLength: 1, maxLength: 4 }),
    fc.string({ maxLength: 3 }),
  )
  .map(([before, again, after]) => before + again.repeat(100_000 / again.length) + after);

/** An object with these members. `fc.record` would make some without a prototype, which no code of ours meets. */
export const of = <T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(members, { noNullPrototype: true }) as fc.Arbitrary<T>;
