/** Metrics of all workers: any worker asks the primary, which collects them (prom-client). Metrics are defined where they are measured. */
import cluster from 'node:cluster';
import { AggregatorRegistry, Histogram, type Metric, Registry } from 'prom-client';
import { z } from 'zod';

/** Duration and result of inline hooks. One metric per process: requests, sign-in and management API share it. */
export const inlineHookSeconds = new Histogram({
  name: 'gatehouse_inline_hook_duration_seconds',
  help: 'Time that an inline hook took, its repetition included',
  labelNames: ['type', 'outcome'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  registers: [],
});

const QUESTION = 'gatehouse:metrics?';
const answer = z.object({ type: z.literal('gatehouse:metrics'), text: z.string().nullable() });
type Answer = z.infer<typeof answer>;

/** The primary's part: responds to workers. */
export function gatherMetrics(): void {
  const everybody = new AggregatorRegistry();
  cluster.on('message', (worker, message: unknown) => {
    if (message !== QUESTION) return;
    const reply = (text: string | null) => worker.send({ type: 'gatehouse:metrics', text } satisfies Answer, () => undefined);
    everybody.clusterMetrics().then(reply, () => reply(null));
  });
}

/**
 * @param own metrics of this process
 * @returns a function that reads the metrics of all processes; it fails while a worker does not respond
 */
export function metricsOfAll(own: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => own.metrics();
  new AggregatorRegistry(); // starts listening to the primary
  AggregatorRegistry.setRegistries(own);
  let pending: Promise<string> | undefined;
  return () => {
    pending ??= requestFromPrimary().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

/**
 * The metrics in OpenMetrics 1.0, which has exemplars. Uses a copy, because prom-client removes the suffix of counters' names in the
 * registry that it writes.
 */
export async function openMetrics(own: Registry): Promise<string> {
  const copy = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  copy.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const entry of await own.getMetricsAsJSON()) {
    const metric = { ...entry, name: (entry.type as unknown) === 'counter' ? entry.name.replace(/_total$/, '') : entry.name };
    copy.registerMetric({ ...metric, get: async () => metric } as unknown as Metric);
  }
  return copy.metrics();
}

function requestFromPrimary(): Promise<string> {
  return new Promise((resolve, reject) => {
    const hear = (message: unknown) => {
      const { success, data } = answer.safeParse(message);
      if (!success) return;
      process.off('message', hear);
      if (data.text === null) reject(new Error('a worker did not return its metrics'));
      else resolve(data.text);
    };
    process.on('message', hear);
    process.send?.(QUESTION);
  });
}
