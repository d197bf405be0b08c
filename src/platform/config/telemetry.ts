/**
 * The supported standard variables of OpenTelemetry ("Environment Variable Specification", "OTLP Exporter Configuration"). Without an
 * endpoint there is no telemetry.
 */
import { z } from 'zod';
import { numberBetween, toggle } from './fields.ts';

const SAMPLERS = ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'];
const PROPAGATORS = ['tracecontext', 'baggage', 'none'];
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const COMPRESSIONS = ['none', 'gzip'] as const;
const EXPORTERS = ['otlp', 'none'] as const;

const oneOf = <const Names extends readonly string[]>(names: Names) => z.enum(names, { error: `must be one of ${names.join(', ')}` });

const endpoint = z
  .string()
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), 'must be a URL that begins with https:// or http://')
  .refine(
    (value) => !URL.canParse(value) || !/[?#@]/.test(value),
    'must have no user, query or fragment; put credentials into OTEL_EXPORTER_OTLP_HEADERS',
  );

/** Comma-separated `name=value` with percent-encoded values (W3C Baggage). @returns undefined if the text has another form */
function readPairs(list: string, name: RegExp): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const pair of list.split(',').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, at)).trim();
    const value = decode(pair.slice(at + 1).trim());
    if (!name.test(key) || value === undefined || /\p{C}/u.test(value)) return undefined;
    pairs.push([key, value]);
  }
  return Object.fromEntries(pairs);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const pairs = (name: RegExp) =>
  z
    .string()
    .transform((list) => readPairs(list, name))
    .refine((read) => read !== undefined, 'must be name=value pairs separated by commas, with percent-encoded values');

/** RFC 9110 section 5.6.2. */
const headers = pairs(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/);

/** Part of the environment's schema (config.ts). */
export const TELEMETRY_VARIABLES = {
  OTEL_SDK_DISABLED: z.string().toLowerCase().pipe(toggle).default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(PROTOCOLS).default('http/protobuf'),
  OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(COMPRESSIONS).default('none'),
  OTEL_EXPORTER_OTLP_TIMEOUT: numberBetween(1, 600_000).default(10_000),
  OTEL_TRACES_EXPORTER: oneOf(EXPORTERS).default('otlp'),
  OTEL_METRICS_EXPORTER: oneOf(EXPORTERS).default('otlp'),
  OTEL_SERVICE_NAME: z.string().trim().min(1, 'must not be empty').max(255, 'must be at most 255 characters').optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs(/^[^\s"\p{C}]{1,255}$/u).optional(),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,15}|[01]\.0+)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
  OTEL_PROPAGATORS: z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .refine(
      (names) => names.every((name) => PROPAGATORS.includes(name)),
      `must be one or several of ${PROPAGATORS.join(', ')}, separated by commas`,
    )
    .default(['tracecontext', 'baggage']),
  OTEL_BSP_SCHEDULE_DELAY: numberBetween(1, 600_000).default(5000),
  OTEL_METRIC_EXPORT_INTERVAL: numberBetween(10, 86_400_000).default(60_000),
} as const;

type Variables = z.output<z.ZodObject<typeof TELEMETRY_VARIABLES>>;

/** Export target of a signal. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly compression: (typeof COMPRESSIONS)[number];
  /** Milliseconds for a batch, including retries. */
  readonly timeout: number;
}

export interface TelemetryConfig {
  readonly traces: OtlpTarget | undefined;
  readonly metrics: OtlpTarget | undefined;
  /** Resource attributes of all spans and metrics: `service.name` and the operator's own. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: { readonly isParentBased: boolean; readonly root: 'always_on' | 'always_off' | 'traceidratio'; readonly ratio: number };
  /** Is `traceparent` sent with outbound calls, and read where a trusted proxy is in front? */
  readonly propagates: boolean;
  /** Milliseconds between two batches of spans. */
  readonly spanDelay: number;
  /** Milliseconds between two exports of the metrics. */
  readonly metricInterval: number;
}

/** @returns undefined: nothing is exported */
export function readTelemetry(read: Variables): TelemetryConfig | undefined {
  if (read.OTEL_SDK_DISABLED) return undefined;
  const target = (path: 'traces' | 'metrics', own: string | undefined, ownHeaders: OtlpTarget['headers'] | undefined) => {
    const base = read.OTEL_EXPORTER_OTLP_ENDPOINT;
    const url = own ?? (base && `${base.replace(/\/$/, '')}/v1/${path}`);
    if (url === undefined) return undefined;
    return Object.freeze({
      url,
      headers: ownHeaders ?? read.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      protocol: read.OTEL_EXPORTER_OTLP_PROTOCOL,
      compression: read.OTEL_EXPORTER_OTLP_COMPRESSION,
      timeout: read.OTEL_EXPORTER_OTLP_TIMEOUT,
    });
  };
  const traces = target('traces', read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, read.OTEL_EXPORTER_OTLP_TRACES_HEADERS);
  const metrics = target('metrics', read.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, read.OTEL_EXPORTER_OTLP_METRICS_HEADERS);
  const exported = {
    traces: read.OTEL_TRACES_EXPORTER === 'none' ? undefined : traces,
    metrics: read.OTEL_METRICS_EXPORTER === 'none' ? undefined : metrics,
  };
  if (exported.traces === undefined && exported.metrics === undefined) return undefined;
  const sampler = read.OTEL_TRACES_SAMPLER;
  return Object.freeze({
    ...exported,
    resource: Object.freeze({
      'service.name': 'gatehouse',
      ...read.OTEL_RESOURCE_ATTRIBUTES,
      ...(read.OTEL_SERVICE_NAME !== undefined && { 'service.name': read.OTEL_SERVICE_NAME }),
    }),
    sampler: Object.freeze({
      isParentBased: sampler.startsWith('parentbased_'),
      root: sampler.replace('parentbased_', '') as 'always_on',
      ratio: read.OTEL_TRACES_SAMPLER_ARG,
    }),
    propagates: read.OTEL_PROPAGATORS.includes('tracecontext') && !read.OTEL_PROPAGATORS.includes('none'),
    spanDelay: read.OTEL_BSP_SCHEDULE_DELAY,
    metricInterval: read.OTEL_METRIC_EXPORT_INTERVAL,
  });
}
