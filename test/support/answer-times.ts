/** Comparing how long answers take: of two kinds of requests, sent in turns. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { UserAgent } from './user-agent.ts';

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** How often a sample of the one is greater than one of the other (Mann and Whitney's U): 0.5 is a coin. */
export function area(one: readonly number[], other: readonly number[]): number {
  const sorted = [...other].sort((a, b) => a - b);
  const below = (value: number): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return one.reduce((sum, value) => sum + below(value), 0) / (one.length * other.length);
}

/** Samples of each kind. */
export const EACH = 300;
/** Before them: the first few are slower. */
const WARM_UP = 5;
/** How far from a coin a guess may be; the standard error of 300 samples is 0.024. */
const FAR = 0.1;
/** Milliseconds between the medians: less than this no network lets through. */
const NEAR = 0.5;

interface Sample {
  readonly text: string;
  readonly milliseconds: number;
}

/** Asks about a name, as a stranger, in one or more steps: a sample of each, by what it is called. */
export type Door = (address: string) => Promise<Readonly<Record<string, Sample>>>;

/** What differs from one visit to the next. */
const withoutNames = (text: string, address: string): string =>
  text.replaceAll(address, 'ADDRESS').replace(/(name="csrf" value|href|action)="[^"]*"/g, '');

/** Posts a form, and looks at the page that it leads to here. @returns the sample, and what a form of that page needs */
export async function timed(
  agent: UserAgent,
  path: string,
  fields: Record<string, string>,
  address: string,
): Promise<{ readonly sample: Sample; readonly csrf: string }> {
  const begun = performance.now();
  const init = { method: 'POST', headers: { origin: agent.origin }, body: new URLSearchParams(fields), redirect: 'manual' as const };
  const response = await agent.send(path, init);
  const text = await response.text();
  const milliseconds = performance.now() - begun;
  const next = response.headers.get('location');
  const shown = next === null ? text : new URL(next, agent.origin).origin === agent.origin ? (await agent.visit(next)).text : next;
  return { sample: { text: `${response.status} ${withoutNames(shown, address)}`, milliseconds }, csrf: csrfIn(shown) };
}

export const csrfIn = (text: string): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';

interface Samples {
  readonly known: number[];
  readonly unknown: number[];
  readonly texts: Set<string>;
}

/**
 * Asks about known and unknown names in turns.
 * @param known as many as there are samples; each is asked about once, where there are some more
 * @returns the names of the steps at which a guess by time is better than a coin
 */
export async function tellsApart(t: TestContext, door: Door, known: readonly string[], unknown: () => string): Promise<string[]> {
  const steps = new Map<string, Samples>();
  // In turns, in another order each time: whatever else the machine does meets both alike.
  for (let round = 0; round < WARM_UP + EACH; round += 1) {
    const turns: ['known' | 'unknown', string][] = [
      ['known', known[round % known.length] ?? ''],
      ['unknown', unknown()],
    ];
    for (const [kind, address] of round % 2 === 0 ? turns : turns.reverse()) {
      for (const [name, { text, milliseconds }] of Object.entries(await door(address))) {
        const step: Samples = steps.get(name) ?? { known: [], unknown: [], texts: new Set() };
        steps.set(name, step);
        step.texts.add(text);
        if (round >= WARM_UP) step[kind].push(milliseconds);
      }
    }
  }
  assert.ok(steps.size > 0);
  return [...steps].filter(([name, step]) => isToldApart(t, name, step)).map(([name]) => name);
}

function isToldApart(t: TestContext, name: string, { known, unknown, texts }: Samples): boolean {
  const [guess, apart] = [area(known, unknown), median(known) - median(unknown)];
  t.diagnostic(`${name}: known ${median(known).toFixed(2)} ms, unknown ${median(unknown).toFixed(2)} ms, area ${guess.toFixed(3)}`);
  assert.deepEqual([known.length, unknown.length], [EACH, EACH]);
  assert.equal(texts.size, 1, `${name}: the text is the same`);
  return Math.abs(guess - 0.5) > FAR && Math.abs(apart) > NEAR;
}
