/**
 * A reporter beside the usual one: prints at the end of a run which files were slowest and how the time divides among folders.
 * With WRITE_DURATIONS=true it also updates durations.json, by which the next runs schedule the files.
 */
import type { TestEvent } from 'node:test/reporters';
import { isOutdated, shortName, writeDurations } from './durations.ts';

const SLOWEST = 10;

interface Total {
  seconds: number;
  tests: number;
}

function add(totals: Map<string, Total>, name: string, seconds: number): void {
  const total = totals.get(name) ?? { seconds: 0, tests: 0 };
  totals.set(name, { seconds: total.seconds + seconds, tests: total.tests + 1 });
}

const slowestFirst = (totals: Map<string, Total>): [string, Total][] => [...totals].sort(([, a], [, b]) => b.seconds - a.seconds);

const line = ([name, { seconds, tests }]: [string, Total]): string =>
  `${seconds.toFixed(1).padStart(8)} s  ${String(tests).padStart(4)} ${tests === 1 ? 'test ' : 'tests'}  ${name}\n`;

export default async function* timings(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Total>();
  const folders = new Map<string, Total>();
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { file, nesting, details } = event.data;
    // A subtest's time is part of its parent's. A process that failed is reported by its group (run.ts), which is no test file.
    if (file === undefined || nesting > 0 || !file.includes('/dist/test/')) continue;
    const name = shortName(file);
    add(files, name, details.duration_ms / 1000);
    add(folders, name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '(top level)', details.duration_ms / 1000);
  }
  if (files.size > 1) {
    yield `\nThe slowest files (several run at once):\n`;
    yield* slowestFirst(files).slice(0, SLOWEST).map(line);
    yield '\nBy folder:\n';
    yield* slowestFirst(folders).map(line);
  }
  if (process.env.WRITE_DURATIONS !== 'true' && isOutdated([...files.keys()]))
    yield '\nMany of these files are not in test/support/durations.json, by which they are divided among processes: WRITE_DURATIONS=true npm test\n';
  if (process.env.WRITE_DURATIONS === 'true') writeDurations(Object.fromEntries([...files].map(([name, { seconds }]) => [name, seconds])));
}
