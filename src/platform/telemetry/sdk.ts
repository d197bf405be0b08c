/**
 * Exports traces and metrics by OTLP over HTTP. Loaded only if a collector is configured. An unavailable collector does not delay requests:
 * spans wait in a bounded queue, and are dropped if it is full.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } from '@opentelemetry/otlp-exporter-base/node-http';
import {
  type IExporterMetricsHelper,
  type ISerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { OtlpTarget, TelemetryConfig } from '../config/telemetry.ts';
import { registryMetrics } from './registry-metrics.ts';
import { sdkTracer } from './sdk-tracer.ts';
import { useTracer } from './tracing.ts';

/** Milliseconds for the last exports at shutdown. */
const FLUSH = 3000;
/** Maximum concurrent batches. */
const MOST_AT_ONCE = 4;
/** Maximum queued spans, and spans per batch. */
const QUEUE = { maxQueueSize: 2048, maxExportBatchSize: 512 };

export interface TelemetryParts {
  readonly telemetry: TelemetryConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly version: string;
  /** Are there trusted proxies, whose `traceparent` is accepted? */
  readonly isBehindProxy: boolean;
}

/** Starts the export. @returns a function that stops it and exports the rest within three seconds */
export function startTelemetry({ telemetry, log, registry, version, isBehindProxy }: TelemetryParts): { stop(): Promise<void> } {
  const scope = { name: 'gatehouse', version };
  const resource = resourceFromAttributes({
    'service.version': version,
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    ...telemetry.resource,
  });
  const closers: (() => Promise<void>)[] = [];

  if (telemetry.traces !== undefined) {
    const exporter = otlpExporter(telemetry.traces, log, 'traces', TRACES);
    const processor = new BatchSpanProcessor({
      exporter,
      ...QUEUE,
      scheduledDelayMillis: telemetry.spanDelay,
      exportTimeoutMillis: telemetry.traces.timeout,
    });
    const provider = new TracerProvider({ resource, sampler: samplerOf(telemetry.sampler), spanProcessors: [processor] });
    const { propagates } = telemetry;
    useTracer(sdkTracer(provider.getTracer(scope.name, version), { propagates, continuesTraces: propagates && isBehindProxy }));
    closers.push(() => provider.shutdown());
  }
  if (telemetry.metrics !== undefined) {
    const { metrics, metricInterval } = telemetry;
    const reader = new PeriodicExportingMetricReader({
      exporter: otlpExporter(metrics, log, 'metrics', METRICS),
      exportIntervalMillis: metricInterval,
      exportTimeoutMillis: Math.min(metrics.timeout, metricInterval),
      metricProducers: [registryMetrics(registry, scope)],
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    closers.push(() => provider.shutdown());
  }
  return {
    async stop() {
      useTracer(undefined);
      await Promise.race([Promise.allSettled(closers.map((close) => close())), delay(FLUSH, undefined, { ref: false })]);
    },
  };
}

function samplerOf({ isParentBased, root, ratio }: TelemetryConfig['sampler']): Sampler {
  const own = { always_on: () => new AlwaysOnSampler(), always_off: () => new AlwaysOffSampler() };
  const sampler = root === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : own[root]();
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}

/** Builds an export request of traces or metrics. */
interface Signal<Items, Response> {
  readonly protobuf: ISerializer<Items, Response>;
  readonly json: ISerializer<Items, Response>;
  readonly component: string;
  readonly helper: IExporterMetricsHelper<Items>;
}

const TRACES: Signal<ReadableSpan[], unknown> = {
  protobuf: ProtobufTraceSerializer,
  json: JsonTraceSerializer,
  component: 'otlp_http_span_exporter',
  helper: TraceExporterMetricsHelper,
};
const METRICS: Signal<ResourceMetrics, unknown> = {
  protobuf: ProtobufMetricsSerializer,
  json: JsonMetricsSerializer,
  component: 'otlp_http_metric_exporter',
  helper: MetricsExporterMetricsHelper,
};

/** Logs once that the collector is unavailable, and once that it is back. */
class NotingExporter<Items> extends OTLPExporterBase<Items> {
  note: (result: ExportResult) => void = () => undefined;

  override export(items: Items, done: (result: ExportResult) => void): void {
    super.export(items, (result) => {
      this.note(result);
      done(result);
    });
  }
}

function otlpExporter<Items, Response>(
  { url, headers, protocol, compression, timeout }: OtlpTarget,
  log: Logger,
  what: string,
  { protobuf, json, component, helper }: Signal<Items, Response>,
): NotingExporter<Items> {
  const isJson = protocol === 'http/json';
  const options = {
    url,
    compression,
    timeoutMillis: timeout,
    concurrencyLimit: MOST_AT_ONCE,
    headers: async () => ({ ...headers, 'Content-Type': isJson ? 'application/json' : 'application/x-protobuf' }),
    agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
  };
  const exporter = new NotingExporter(createOtlpHttpExportDelegate(options, isJson ? json : protobuf, component, helper, undefined));
  let isAway = false;
  exporter.note = ({ code, error }) => {
    if (isAway === (code !== ExportResultCode.SUCCESS)) return;
    isAway = !isAway;
    if (isAway) log.warn({ err: error, what }, 'could not export telemetry; trying again');
    else log.info({ what }, 'telemetry export works again');
  };
  return exporter;
}
