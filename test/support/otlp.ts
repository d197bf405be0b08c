/** A collector of a test's own: takes OTLP over HTTP in JSON, and keeps every byte. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { listen } from './listen.ts';
import { eventually } from './process.ts';

type Value = string | number | boolean | undefined;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** As the protocol numbers them: 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly failed: boolean;
  readonly events: number;
  readonly resource: Readonly<Record<string, Value>>;
}

interface Point {
  readonly attributes: Readonly<Record<string, Value>>;
  readonly value: number | undefined;
  readonly counts: readonly number[];
  readonly count: number | undefined;
}

interface Request {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Collector {
  readonly url: string;
  readonly requests: readonly Request[];
  spans(): readonly ReceivedSpan[];
  /** Waits for a span. */
  span(what: string, matches: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  /** Of the newest export, by name. */
  metrics(): ReadonlyMap<string, readonly Point[]>;
}

/** @param status what it answers */
export async function startCollector(t: TestContext, status = 200): Promise<Collector> {
  const requests: Request[] = [];
  const url = await listen(t, '127.0.0.1', async (req, res) => {
    const sent = await buffer(req);
    const body = req.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    requests.push({ path: req.url ?? '', headers: req.headers, body });
    res.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  const spans = (): readonly ReceivedSpan[] => bodiesAt('/v1/traces').flatMap(readSpans);
  const bodiesAt = (path: string) => requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body.toString()));
  return {
    url,
    requests,
    spans,
    span: (what, matches) => eventually(() => spans().find(matches), `the span ${what} comes`),
    metrics: () => new Map(readMetrics(bodiesAt('/v1/metrics').at(-1))),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: opentelemetry-proto in JSON, asserted field by field in the tests
type Json = any;

const attributesOf = (list: Json): Record<string, Value> =>
  Object.fromEntries((list ?? []).map(({ key, value }: Json) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]));

const readSpans = (body: Json): ReceivedSpan[] =>
  body.resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap((scope: Json) =>
      scope.spans.map((span: Json) => {
        assert.match(span.traceId, /^[0-9a-f]{32}$/);
        return {
          ...span,
          parentSpanId: span.parentSpanId || undefined,
          attributes: attributesOf(span.attributes),
          failed: span.status?.code === 2,
          events: (span.events ?? []).length,
          resource: attributesOf(resource.attributes),
        };
      }),
    ),
  );

const readMetrics = (body: Json): [string, Point[]][] =>
  (body?.resourceMetrics ?? []).flatMap(({ scopeMetrics }: Json) =>
    scopeMetrics.flatMap(({ metrics }: Json) =>
      metrics.map(({ name, sum, gauge, histogram }: Json) => [
        name,
        (sum ?? gauge ?? histogram).dataPoints.map((point: Json) => ({
          attributes: attributesOf(point.attributes),
          value: point.asDouble ?? point.asInt,
          counts: (point.bucketCounts ?? []).map(Number),
          count: point.count === undefined ? undefined : Number(point.count),
        })),
      ]),
    ),
  );
