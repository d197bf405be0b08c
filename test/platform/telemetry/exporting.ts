/** A service in a process of its own that exports what it does, often. */
import type { TestContext } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { startedDatabase } from '../../support/database.ts';
import type { Collector, ReceivedSpan } from '../../support/otlp.ts';
import { freePort, runService } from '../../support/process.ts';
import { STARTED } from '../../support/service.ts';
import { timingsOfProcess } from '../../support/short-waits.ts';

export const OFTEN = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '100' };

/** Told by the standard variables where the collector is. */
export const toCollector = (collector: Collector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  ...OFTEN,
});

/** Starts it. */
export async function runExporting(t: TestContext, env: Record<string, string>) {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const port = await freePort();
  return runService(t, {
    ...STARTED,
    DATABASE_URL: database.url,
    PORT: port,
    LOG_LEVEL: 'info',
    RATE_LIMITS: 'off',
    ...timingsOfProcess({ outboxPause: 50, sealPause: 50 }),
    ...env,
  });
}

/** Is it the span of such a request, at the server? */
export const isRequest = (name: string) => (span: ReceivedSpan) => span.name === name && span.kind === 2;

/** Of a caller. */
export const PARENT = { trace: 'af7651916cd43dd8448eb211c80319c7', span: 'b7ad6b7169203331' };
