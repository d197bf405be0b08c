/** How long inline hooks take and what comes of them. One for the process: requests, the sign-in and the management API ask hooks alike. */
import { Histogram } from 'prom-client';

export const inlineHookSeconds = new Histogram({
  name: 'gatehouse_inline_hook_duration_seconds',
  help: 'Time that an inline hook took, its repetition included',
  labelNames: ['type', 'outcome'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  registers: [],
});
