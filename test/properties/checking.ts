/**
 * How properties are tried: how often, and with which seed. Each `npm test` tries the same inputs, so that it is red only for what was changed; test/long tries others.
 * fast-check tells seed and path of a failure; given back by FC_SEED and FC_PATH it is repeated.
 */
import fc from 'fast-check';

const EVERYDAY_SEED = '20261121';

let times = 1;

/** Tries each property so many times as often, with other inputs in each run. Holds for the whole process: a file of test/long has its own. */
export function tryMore(factor: number): void {
  times = factor;
}

/** Of FC_SEED and FC_PATH. */
export function reproduced(): { seed?: number; path?: string; endOnFailure?: boolean } {
  const { FC_SEED: seed = times > 1 ? undefined : EVERYDAY_SEED, FC_PATH: path } = process.env;
  return { ...(seed !== undefined && { seed: Number(seed) }), ...(path !== undefined && { path, endOnFailure: true }) };
}

/** What `fc.assert` is told. @param runs tries of the property */
export const tried = (runs = 200) => ({ numRuns: runs * times, ...reproduced() });

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
