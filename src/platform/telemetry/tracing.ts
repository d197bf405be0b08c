/**
 * Creates spans without the OpenTelemetry SDK: it is not loaded, and each function costs one comparison, until `useTracer` is called
 * (telemetry/sdk.ts). Spans have only these attributes; none contains a parameter, path, query or user input.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** The only attributes (OpenTelemetry semantic conventions, but for those of the service itself). */
export interface SpanAttributes {
  readonly 'http.request.method'?: string;
  /** From the closed list of the metrics. */
  readonly 'http.route'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'server.address'?: string;
  readonly 'server.port'?: number;
  readonly 'db.system.name'?: 'postgresql';
  /** The name of a statement, or its verb and first table. */
  readonly 'db.query.summary'?: string;
  /** Requests whose questions went together in one statement. */
  readonly 'db.operation.batch.size'?: number;
  /** A code or a class, never a message. */
  readonly 'error.type'?: string;
  /** Milliseconds until it was its turn. */
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

/** A span that is ended by hand. */
export interface OpenSpan extends LiveSpan {
  /** Makes it the parent of what `work` does. */
  within<T>(work: () => T): T;
  /** @param name what it turned out to be */
  end(name?: string): void;
}

/** Parent of the next spans: opaque; several requests if they share a statement. */
export type TraceContext = object;

/** Interface for exporters. */
export interface Tracer {
  /** A new span, child of the current one. */
  inSpan<T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** A span that begins a trace. */
  inTrace<T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** The span of a request, by its headers. */
  openRequest(headers: IncomingHttpHeaders): OpenSpan;
  /** A span for each parent of the current context; undefined where there is none. */
  openStatement(summary: string): { end(error: unknown): void } | undefined;
  context(): TraceContext | undefined;
  withContext<T>(context: TraceContext | undefined, work: () => T): T;
  /** Both contexts' spans are parents. */
  join(contexts: readonly (TraceContext | undefined)[]): TraceContext | undefined;
  /** Headers of an outbound call. */
  outboundHeaders(): Readonly<Record<string, string>>;
  /** IDs of the current span for the log; undefined outside a span. */
  ids(): { readonly trace_id: string; readonly span_id: string } | undefined;
  /** ID of the current trace if it is exported. */
  sampledTrace(): string | undefined;
}

let tracer: Tracer | undefined;

/** @param used undefined: no spans from now on */
export function useTracer(used: Tracer | undefined): void {
  tracer = used;
}

const NO_SPAN: LiveSpan = { set: () => undefined };

/** Does the work in a span of its own. */
export const inSpan = <T>(facts: SpanFacts, work: (span: LiveSpan) => Promise<T>): Promise<T> =>
  tracer === undefined ? work(NO_SPAN) : tracer.inSpan(facts, work);

/** Does what no request waits for, in a trace of its own. */
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

/** @returns the callback, which makes spans where this one would: others call it from theirs */
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

/** The fields that each line of the log has within a span (OpenTelemetry, "Trace Context in non-OTLP Log Formats"). */
export const traceIds = (): object => tracer?.ids() ?? {};

/** For an exemplar. */
export const sampledTraceId = (): string | undefined => tracer?.sampledTrace();

const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:from|into|update|join)\s+"?([a-z_][a-z0-9_]{0,62})"?/i;

/** Statements have their values beside them; of the text nothing goes out but its verb and a table. */
function summaryOf(statement: unknown): string {
  const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : (statement as Record<string, unknown>);
  // One that ends with a number was made up for a statement that comes often (prepared-statements.ts).
  if (typeof name === 'string' && !/-\d+$/.test(name)) return name;
  const words = String(text ?? '');
  const [verb, table] = [VERB.exec(words)?.[1]?.toUpperCase() ?? 'statement', TABLE.exec(words)?.[1]];
  return table === undefined ? verb : `${verb} ${table}`;
}
