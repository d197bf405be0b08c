/** The tracer on OpenTelemetry's SDK. Loaded only if traces are exported. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Tracer as ApiTracer,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, TRACE_PARENT_HEADER } from '@opentelemetry/core';
import type { LiveSpan, OpenSpan, SpanAttributes, SpanFacts, TraceContext, Tracer } from './tracing.ts';

/** Contexts of requests that share a statement. */
type Parents = readonly Context[];

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL, consumer: SpanKind.CONSUMER };

const live = (span: Span): LiveSpan => ({ set: (attributes) => void span.setAttributes({ ...attributes }) });

/** A code or a class: a message may contain data of the other side. */
function classOf(error: unknown): string {
  const { code, name } = error instanceof Error ? (error as NodeJS.ErrnoException) : { code: undefined, name: 'unknown' };
  return typeof code === 'string' && /^[\w.-]{1,40}$/.test(code) ? code : name;
}

function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', classOf(error));
}

/** Only `traceparent`: neither `tracestate` nor baggage is sent. */
function traceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`;
}

export interface SdkTracerOptions {
  /** Does a request continue the trace of its `traceparent`? */
  readonly continuesTraces: boolean;
  /** Is `traceparent` sent with outbound calls? */
  readonly propagates: boolean;
}

export function sdkTracer(tracer: ApiTracer, { continuesTraces, propagates }: SdkTracerOptions): Tracer {
  const storage = new AsyncLocalStorage<Parents>();
  const parent = (): Context => storage.getStore()?.[0] ?? ROOT_CONTEXT;
  const current = (): SpanContext | undefined => trace.getSpanContext(parent());

  const start = ({ name, kind, attributes }: SpanFacts, context: Context): Span =>
    tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, context);

  async function run<T>(facts: SpanFacts, context: Context, work: (span: LiveSpan) => Promise<T>): Promise<T> {
    const span = start(facts, context);
    try {
      return await storage.run([trace.setSpan(context, span)], () => work(live(span)));
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The caller's span, if its header is trusted. */
  function remoteParent(headers: IncomingHttpHeaders): Context {
    const given = continuesTraces ? headers[TRACE_PARENT_HEADER] : undefined;
    const read = typeof given === 'string' ? parseTraceParent(given) : null;
    return read === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...read, isRemote: true });
  }

  return {
    inSpan: (facts, work) => run(facts, parent(), work),
    inTrace: (facts, work) => run(facts, ROOT_CONTEXT, work),

    openRequest(headers): OpenSpan {
      const context = remoteParent(headers);
      const span = start({ name: 'request', kind: 'server' }, context);
      const parents = [trace.setSpan(context, span)];
      return {
        set(attributes: SpanAttributes) {
          span.setAttributes({ ...attributes });
          if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
        },
        within: (work) => storage.run(parents, work),
        end(name) {
          if (name !== undefined) span.updateName(name);
          span.end();
        },
      };
    },

    openStatement(summary) {
      const parents = storage.getStore();
      // Periodic background queries have no parent.
      if (parents === undefined || parents.length === 0) return undefined;
      const attributes: SpanAttributes = {
        'db.system.name': 'postgresql',
        'db.query.summary': summary,
        ...(parents.length > 1 && { 'db.operation.batch.size': parents.length }),
      };
      const spans = parents.map((context) => start({ name: summary, kind: 'client', attributes }, context));
      return {
        end(error) {
          for (const span of spans) {
            if (error) fail(span, error);
            span.end();
          }
        },
      };
    },

    context: () => storage.getStore(),
    withContext: (context, work) => storage.run((context as Parents | undefined) ?? [], work),
    join(contexts: readonly (TraceContext | undefined)[]) {
      const all = (contexts as readonly (Parents | undefined)[]).flatMap((parents) => parents ?? []);
      // Several queries of one request have one parent.
      return [...new Set(all)];
    },

    outboundHeaders() {
      const span = propagates ? current() : undefined;
      return span === undefined ? {} : { [TRACE_PARENT_HEADER]: traceParent(span) };
    },
    ids() {
      const span = current();
      return span && { trace_id: span.traceId, span_id: span.spanId };
    },
    sampledTrace() {
      const span = current();
      return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) !== 0 ? span.traceId : undefined;
    },
  };
}
