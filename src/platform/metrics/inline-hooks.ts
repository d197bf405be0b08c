/** Duration and result of inline hooks. One metric per process: requests, sign-in and management API share it. */
import { Histogram } from 'prom-client';

export const inlineHookSeconds = new Histogram({
  name: 'gatehouse_inline_hook_duration_seconds',
  help: 'Time that an inline hook took, its repetition included',
  labelNames: ['type', 'outcome'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  registers: [],
});
