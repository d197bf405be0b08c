/** Calls of the bench of the directory, one after the other. */
import { performance } from 'node:perf_hooks';

export const CALLS = 20;

export interface Row {
  readonly call: string;
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
}

/** @param run one call, measured @returns bytes of the answer @param prepare before each call, not measured */
export async function timed<T>(call: string, run: (prepared: T) => Promise<number>, prepare?: () => Promise<T>): Promise<Row> {
  const times: number[] = [];
  let bytes = 0;
  for (let turn = 0; turn < CALLS; turn += 1) {
    const prepared = (await prepare?.()) as T;
    const begun = performance.now();
    bytes = await run(prepared);
    times.push(performance.now() - begun);
  }
  const at = (part: number): number => times.toSorted((a, b) => a - b)[Math.ceil(part * CALLS) - 1] ?? Number.NaN;
  return { call, p50: at(0.5), p99: at(0.99), bytes };
}
