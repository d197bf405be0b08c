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
/** How far from a coin a guess may be; the standard error of 300 samples is 0.024. */
const FAR = 0.1;
/** Milliseconds between the medians: less than this no network lets through. */
const NEAR = 0.5;

interface Sample {
  readonly text: string;
  readonly milliseconds: number;
}

/** Asks about a name, as a stranger. */
export type Door = (address: string) => Promise<Sample>;

/** What differs from one visit to the next. */
const withoutNames = (text: string, address: string): string =>
  text.replaceAll(address, 'ADDRESS').replace(/(name="csrf" value|href|action)="[^"]*"/g, '');

/** Posts a form, and looks at the page that it leads to here. */
export async function timed(agent: UserAgent, path: string, fields: Record<string, string>, address: string): Promise<Sample> {
  const begun = performance.now();
  const init = { method: 'POST', headers: { origin: agent.origin }, body: new URLSearchParams(fields), redirect: 'manual' as const };
  const response = await agent.send(path, init);
  const text = await response.text();
  const milliseconds = performance.now() - begun;
  const next = response.headers.get('location');
  const shown = next === null ? text : new URL(next, agent.origin).origin === agent.origin ? (await agent.visit(next)).text : next;
  return { text: `${response.status} ${withoutNames(shown, address)}`, milliseconds };
}

export const csrfIn = (text: string): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';

/**
 * Asks about known and unknown names in turns.
 * @param known as many as there are samples
 * @returns the name of the door, if a guess by time is better than a coin
 */
export async function tellsApart(
  t: TestContext,
  name: string,
  door: Door,
  known: readonly string[],
  unknown: () => string,
): Promise<string[]> {
  const ofKnown: number[] = [];
  const ofUnknown: number[] = [];
  const texts = new Set<string>();
  // In turns, in another order each time: whatever else the machine does meets both alike. The first few warm up.
  for (let round = -5; round < EACH; round += 1) {
    const turns: (readonly [number[], string])[] = [
      [ofKnown, known[Math.max(0, round)] ?? ''],
      [ofUnknown, unknown()],
    ];
    for (const [samples, address] of round % 2 === 0 ? turns : turns.reverse()) {
      const { text, milliseconds } = await door(address);
      texts.add(text);
      if (round >= 0) samples.push(milliseconds);
    }
  }
  const [guess, apart] = [area(ofKnown, ofUnknown), median(ofKnown) - median(ofUnknown)];
  t.diagnostic(`${name}: known ${median(ofKnown).toFixed(2)} ms, unknown ${median(ofUnknown).toFixed(2)} ms, area ${guess.toFixed(3)}`);
  assert.equal(texts.size, 1, `${name}: the text is the same`);
  return Math.abs(guess - 0.5) > FAR && Math.abs(apart) > NEAR ? [name] : [];
}
