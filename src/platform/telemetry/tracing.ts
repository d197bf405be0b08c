/**
 * Creates spans without the OpenTelemetry SDK: until `useTracer` is called (telemetry/sdk.ts), it is not loaded, and each function costs
 * one comparison. Spans have only these attributes; none contains a parameter, path, query or user input.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** The only attributes (OpenTelemetry semantic conventions, and some of the service). */
export interface SpanAttributes {
  readonly 'http.request.method'?: string;
  /** From the metrics' closed list. */
  readonly 'http.route'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'server.address'?: string;
  readonly 'server.port'?: number;
  readonly 'db.system.name'?: 'postgresql';
  /** The name of a statement, or its verb and first table. */
  readonly 'db.query.summary'?: string;
  /** Number of requests whose queries share the statement. */
  readonly 'db.operation.batch.size'?: number;
  /** A code or a class, never a message. */
  readonly 'error.type'?: string;
  /** Milliseconds in the queue. */
  readonly 'gatehouse.queue.wait'?: number;
  readonly 'gatehouse.outbox.kind'?: string;
  readonly 'gatehouse.outbox.outcome'?: string;
}

export interface SpanFacts {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal' | 'consumer';
  readonly attributes?: SpanAttributes;
}

export interface LiveSpan {
  set(attributes: SpanAttributes): void;
}

/** A span that is ended explicitly. */
export interface OpenSpan extends LiveSpan {
  /** Makes it the parent of the spans of `work`. */
  within<T>(work: () => T): T;
  /** @param name the final name */
  end(name?: string): void;
}

/** Parent of the next spans: opaque; several requests if they share a statement. */
export type TraceContext = object;

/** Interface for exporters. */
export interface Tracer {
  /** Runs work in a new span, a child of the current one. */
  inSpan<T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** Runs work in a span that starts a trace. */
  inTrace<T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** Starts the span of a request, by its headers. */
  openRequest(headers: IncomingHttpHeaders): OpenSpan;
  /** Starts a span for each parent of the current context; undefined if there is none. */
  openStatement(summary: string): { end(error: unknown): void } | undefined;
  context(): TraceContext | undefined;
  withContext<T>(context: TraceContext | undefined, work: () => T): T;
  /** Makes the spans of both contexts parents. */
  join(contexts: readonly (TraceContext | undefined)[]): TraceContext | undefined;
  /** Headers of an outbound call. */
  outboundHeaders(): Readonly<Record<string, string>>;
  /** IDs of the current span for the log; empty outside a span. */
  ids(): { readonly trace_id: string; readonly span_id: string } | undefined;
  /** ID of the current trace, if it is exported. */
  sampledTrace(): string | undefined;
}

let tracer: Tracer | undefined;

/** @param used undefined: no further spans */
export function useTracer(used: Tracer | undefined): void {
  tracer = used;
}

const NO_SPAN: LiveSpan = { set: () => undefined };

/** Runs work in a span of its own. */
export const inSpan = <T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T> =>
  tracer === undefined ? work(NO_SPAN) : tracer.inSpan(facts, work);

/** Runs background work in a trace of its own. */
export const inTrace = <T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T> =>
  tracer === undefined ? work(NO_SPAN) : tracer.inTrace(facts, work);

export const openRequestSpan = (headers: IncomingHttpHeaders): OpenSpan | undefined => tracer?.openRequest(headers);

/** @returns the callback of a statement, which also ends its span */
export function tracedStatement<Callback extends (error: unknown, result: unknown) => void>(
  statement: unknown,
  callback: Callback,
): Callback | ((error: unknown, result: unknown) => void) {
  const span = tracer?.openStatement(summaryOf(statement));
  if (span === undefined) return callback;
  return (error, result) => {
    span.end(error);
    callback(error, result);
  };
}

/** @returns the callback bound to the current context, for callers in another one */
export function keepContext<Arguments extends unknown[], T>(callback: (...args: Arguments) => T): (...args: Arguments) => T {
  const current = tracer;
  if (current === undefined) return callback;
  const context = current.context();
  return (...args) => current.withContext(context, () => callback(...args));
}

export const traceContext = (): TraceContext | undefined => tracer?.context();

/** Executes a batch in the contexts of its requests. */
export const withContexts = <T>(asking: readonly { readonly trace: TraceContext | undefined }[], work: () => T): T =>
  tracer === undefined ? work() : tracer.withContext(tracer.join(asking.map(({ trace }) => trace)), work);

export const outboundTraceHeaders = (): Readonly<Record<string, string>> => tracer?.outboundHeaders() ?? {};

/** The fields of log lines within a span (OpenTelemetry, "Trace Context in non-OTLP Log Formats"). */
export const traceIds = (): object => tracer?.ids() ?? {};

/** For an exemplar. */
export const sampledTraceId = (): string | undefined => tracer?.sampledTrace();

const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:from|into|update|join)\s+"?([a-z_][a-z0-9_]{0,62})"?/i;

/** The values of a statement are separate from its text. Only the text's verb and table are exported. */
function summaryOf(statement: unknown): string {
  const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : (statement as Record<string, unknown>);
  // Names that end with a number were generated for frequent statements (prepared-statements.ts).
  if (typeof name === 'string' && !/-\d+$/.test(name)) return name;
  const words = String(text ?? '');
  const [verb, table] = [VERB.exec(words)?.[1]?.toUpperCase() ?? 'statement', TABLE.exec(words)?.[1]];
  return table === undefined ? verb : `${verb} ${table}`;
}
