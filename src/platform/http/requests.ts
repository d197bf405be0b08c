/**
 * Tracks each request from first to last byte: ID, log line and metrics. Paths are logged without their query, which may contain a secret
 * (RFC 9700 section 4.2.4), and without the token of a one-time link.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Counter, Histogram, Registry } from 'prom-client';
import { type Config, isLoopbackHost } from '../config/config.ts';
import { inlineHookSeconds } from '../metrics/metrics.ts';
import { type OpenSpan, openRequestSpan, sampledTraceId } from '../telemetry/tracing.ts';

const ACCEPTABLE_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ids = new WeakMap<IncomingMessage, string>();

/** The ID of a request, also in the response's X-Request-Id. */
export function requestId(req: IncomingMessage): string {
  const known = ids.get(req);
  if (known !== undefined) return known;
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && ACCEPTABLE_ID.test(given) ? given : randomUUID();
  ids.set(req, id);
  return id;
}

/**
 * The client address of a request: the last one that a trusted proxy has set.
 * @param proxies number of trusted proxies in front
 */
export function clientAddress(req: IncomingMessage, proxies: Config['trustProxy']): string {
  const direct = req.socket.remoteAddress ?? '';
  if (proxies === 0) return direct;
  const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  // Some proxies add the port, which differs for each connection.
  return (forwarded.at(-proxies) ?? forwarded[0] ?? direct).replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
}

/** Headers that proxies add: Forwarded (RFC 7239 section 4), Via (RFC 9110 section 7.6.3) and common variants. */
const FORWARDING_HEADER = /^(forwarded|via|x-real-ip|x-forwarded-.+)$/;

/** Did the request pass a proxy, so that a loopback address does not identify the sender? */
export const isForwarded = (headers: IncomingHttpHeaders): boolean => Object.keys(headers).some((name) => FORWARDING_HEADER.test(name));

/** Was the connection made on this machine, and not by a proxy? Remote callers can also send a loopback `Host`. */
export const isFromThisMachine = (req: IncomingMessage): boolean =>
  !isForwarded(req.headers) && isLoopbackHost((req.socket.remoteAddress ?? '').replace(/^::ffff:/, ''));

const OAUTH_ENDPOINTS = new Set([
  ...['authorize', 'token', 'introspect', 'revoke', 'logout', 'userinfo', 'keys'],
  ...['openid-configuration', 'oauth-authorization-server'],
]);
const PAGES = new Set([
  ...['', 'interaction', 'choose-password', 'forgot-password', 'verify-email', 'verified-email', 'account', 'dev', 'admin', 'signin'],
  ...['playground', 'assets', 'health', 'metrics', 'scim', '.well-known'],
]);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * The metrics label of a path, from a closed list: callers choose the path, and each label stays in memory.
 * @param apiResources second segments of the management API's paths, such as `users`
 */
function family(path: string, apiResources: ReadonlySet<string>): string {
  const [, first = '', second = '', third = ''] = path.split('/');
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (first === 'oauth') return OAUTH_ENDPOINTS.has(last) ? `/oauth/${last}` : 'other';
  if (first === 'api') return second === 'v1' && apiResources.has(third) ? `/api/v1/${third}` : 'other';
  return PAGES.has(first) ? `/${first}` : 'other';
}

/** Removes everything after these segments, in any case: it is a secret or identifies a pending sign-in. The router is not case-sensitive either. */
const withoutToken = (path: string): string =>
  path.replace(/(\/(?:choose-password|verify-email|interaction|authorize|device)|^\/+(?:invitation|setup|code))\/.*/is, '$1/...');

/** Why a request was refused, in the response's words. */
export interface Refusal {
  readonly error: string;
  readonly description: string;
}

const refusals = new WeakMap<IncomingMessage, Refusal>();
/** Maximum characters of a description in the log. */
const LONGEST_REASON = 200;

/** Adds the reason to the request's log line. */
export const logRefusal = (req: IncomingMessage, refusal: Refusal): void => void refusals.set(req, refusal);

function refusalOf(req: IncomingMessage): { readonly error?: string; readonly reason?: string } {
  const refusal = refusals.get(req);
  return refusal === undefined ? {} : { error: refusal.error, reason: refusal.description.slice(0, LONGEST_REASON) };
}

export interface RequestObserver {
  readonly registry: Registry;
  /** Handles a request and observes it to its end. */
  observe(req: IncomingMessage, res: ServerResponse, answer: () => Promise<void>): Promise<void>;
  /** Counts a delivery attempt of the outbox. */
  countDelivery(kind: string, outcome: string): void;
  /** Counts a lookup of a password among breached ones. */
  countBreachLookup(outcome: string): void;
}

/** The trace in which a time was measured. */
function exemplar(): { readonly trace_id?: string } {
  const traceId = sampledTraceId();
  return traceId === undefined ? {} : { trace_id: traceId };
}

function endSpan(span: OpenSpan, method: string, route: string, { statusCode, writableFinished }: ServerResponse): void {
  const failure = statusCode >= 500 ? String(statusCode) : writableFinished ? undefined : 'aborted';
  span.set({
    'http.request.method': method === 'other' ? '_OTHER' : method,
    'http.route': route,
    'http.response.status_code': statusCode,
    ...(failure !== undefined && { 'error.type': failure }),
  });
  span.end(`${method === 'other' ? 'HTTP' : method} ${route}`);
}

/** @param apiResources see {@link family} */
export function observeRequests(
  log: Logger,
  { trustProxy, telemetry }: Pick<Config, 'trustProxy' | 'telemetry'>,
  apiResources: ReadonlySet<string>,
): RequestObserver {
  let mentionedProxy = trustProxy > 0;
  const registry = new Registry();
  const labels = ['method', 'family', 'status'] as const;
  const total = new Counter({
    name: 'gatehouse_http_requests_total',
    help: 'Requests answered',
    labelNames: labels,
    registers: [registry],
  });
  const hasExemplars = telemetry?.traces !== undefined;
  const seconds = new Histogram<'family' | 'trace_id'>({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its answer',
    labelNames: ['family'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    enableExemplars: hasExemplars,
    registers: [],
  });
  registry.registerMetric(seconds);

  const deliveries = new Counter({
    name: 'gatehouse_outbox_deliveries_total',
    help: 'Attempts to deliver entries of the outbox',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });

  const breachLookups = new Counter({
    name: 'gatehouse_breached_password_lookups_total',
    help: 'Look-ups of new passwords among breached ones',
    labelNames: ['outcome'],
    registers: [registry],
  });
  registry.registerMetric(inlineHookSeconds);

  return {
    registry,
    countBreachLookup: (outcome) => breachLookups.inc({ outcome }),
    countDelivery: (kind, outcome) => deliveries.inc({ kind, outcome }),
    observe(req, res, answer) {
      const span = openRequestSpan(req.headers);
      const begun = performance.now();
      const id = requestId(req);
      if (!mentionedProxy && req.headers['x-forwarded-for'] !== undefined) {
        mentionedProxy = true;
        log.warn(
          'received X-Forwarded-For, but TRUST_PROXY is off. If a proxy is in front of the service, set TRUST_PROXY: without it all users share one rate limit',
        );
      }
      const method = req.method ?? '';
      const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
      res.setHeader('X-Request-Id', id);
      const finish = (): void => {
        const elapsed = performance.now() - begun;
        const label = family(path, apiResources);
        const knownMethod = METHODS.has(method) ? method : 'other';
        total.inc({ method: knownMethod, family: label, status: res.statusCode });
        if (hasExemplars) seconds.observe({ labels: { family: label }, value: elapsed / 1000, exemplarLabels: exemplar() });
        else seconds.observe({ family: label }, elapsed / 1000);
        const ms = Math.round(elapsed * 10) / 10;
        const line = { requestId: id, method, path: withoutToken(path), status: res.statusCode, ms, ...refusalOf(req) };
        if (!res.writableFinished) log.info({ ...line, aborted: true }, 'request aborted');
        else if (res.statusCode >= 500) log.error(line, 'request');
        else log.info(line, 'request');
        if (span !== undefined) endSpan(span, knownMethod, label, res);
      };
      res.once('close', span === undefined ? finish : () => span.within(finish));
      return span === undefined ? answer() : span.within(answer);
    },
  };
}
