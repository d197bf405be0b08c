/**
 * The waiting times of tests, set when this is imported: by each test process before its tests (group.ts) and by the one that prepares the databases (run.ts).
 * Pauses are short, for tests wait them out. Limits are long, for no machine is too slow for a test. Where one of them is a test's subject, the test sets it.
 */
import type { TestContext } from 'node:test';
import { PRODUCTION, type Timings, timings } from '../../src/platform/clock/timings.ts';
import { afterwards } from './afterwards.ts';

const MINUTE = 60_000;

/** The least that Argon2 takes (RFC 9106 section 3.1). */
export const CHEAPEST_HASH: Timings['passwordHash'] = { memoryCost: 8, timeCost: 1, parallelism: 1 };

const OF_TESTS: Readonly<Timings> = {
  ...PRODUCTION,
  passwordHash: CHEAPEST_HASH,

  // What is changed is announced. A test that changes rows by itself, or counts statements, is not at the mercy of the time it takes.
  cache: 10 * MINUTE,
  optional: MINUTE,

  noticePause: 50,

  outboxPause: 50,
  outboxPauseAfterFailure: 50,

  signalPollPause: 50,

  usesPause: 50,
  rollUpPause: 50,

  // Shorter than the time for which an entry of the outbox is a process's own.
  outbound: 12_000,
  breachedPasswords: 12_000,
  mail: { connection: MINUTE, silence: MINUTE, mail: MINUTE },
  testMail: { connection: MINUTE, silence: MINUTE, mail: MINUTE },

  databaseConnection: MINUTE,
  databaseStatement: MINUTE,
  databaseAnswer: 2 * MINUTE,
  databasePing: MINUTE,
  databaseTurn: MINUTE,
  replicaAnswer: MINUTE,
  serverLook: MINUTE,

  sealPause: 50,
};
Object.assign(timings, OF_TESTS);

/** For one test. */
export function withTimings(t: TestContext, changes: Partial<Timings>): void {
  const before = { ...timings };
  Object.assign(timings, changes);
  afterwards(t, () => Object.assign(timings, before));
}

/** For one test: what operators get. @param names absent: all */
export function withProductionTimings(t: TestContext, ...names: (keyof Timings)[]): void {
  withTimings(t, names.length === 0 ? PRODUCTION : Object.fromEntries(names.map((name) => [name, PRODUCTION[name]])));
}

/** What a process of its own is started with: production's timings, but for these. */
export const timingsOfProcess = (changes: Partial<Timings>): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${new URL('preset-timings.js', import.meta.url).href}`,
  PRESET_TIMINGS: JSON.stringify(changes),
});
