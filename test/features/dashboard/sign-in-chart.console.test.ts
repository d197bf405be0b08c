import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundUp, signInChart } from '../../../src/features/dashboard/sign-in-chart.console.ts';

test('the chart: a scale whose half is whole, nothing drawn for nothing, something for one among a million', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 10, 11, 40, 41, 999].map(roundUp), [2, 2, 2, 4, 4, 10, 10, 20, 40, 100, 1000]);
  const { slots, base } = signInChart([
    { start: new Date('2026-11-20T00:00:00Z'), started: 0, failed: 1_000_000 },
    { start: new Date('2026-11-21T00:00:00Z'), started: 1, failed: 0 },
  ]);
  assert.deepEqual(
    slots.map(({ bars }) => [bars.started.height, bars.failed.height, bars.failed.y]),
    [
      [0, base - 24, 24],
      [2, 0, base],
    ],
  );
});

test('ninety days: bars do not overlap, and labels have room', () => {
  const start = Date.parse('2026-09-01T00:00:00Z');
  const days = Array.from({ length: 90 }, (_, at) => ({ start: new Date(start + at * 86_400_000), started: at, failed: 90 - at }));
  const { slots, barWidth, width } = signInChart(days);
  const bars = slots.flatMap(({ bars: { started, failed } }) => [started.x, failed.x]);
  for (const [at, x] of bars.entries()) assert.ok(at === 0 || x - (bars[at - 1] ?? 0) >= barWidth, `bar ${at}`);
  const labels = slots.filter(({ isLabelled }) => isLabelled).map(({ x }) => x);
  for (const [at, x] of labels.entries()) assert.ok(at === 0 || x - (labels[at - 1] ?? 0) >= 110, `label ${at}`);
  assert.ok(labels.length >= 4 && (bars.at(-1) ?? 0) + barWidth <= width);
});
