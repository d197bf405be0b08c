/** Endpoints for operators: liveness, readiness and metrics. `/metrics` is open to API tokens and to this machine. */
import cluster from 'node:cluster';
import type Koa from 'koa';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricsOfAll, openMetrics } from '../metrics/metrics.ts';
import { isFromThisMachine } from './requests.ts';

export interface HealthParts {
  readonly registry: Registry;
  /** Are there exemplars, for scrapers that accept them? */
  readonly hasExemplars: boolean;
  /** @throws while the database is down */
  ping(): Promise<void>;
  /** false after a stop signal. */
  accepting(): boolean;
  mayReadMetrics(authorization: string): Promise<boolean>;
}

/** Serves `GET /health/live`, `/health/ready` and `/metrics`; other requests go to the next handler. */
export function health({ registry, hasExemplars, ping, accepting, mayReadMetrics }: HealthParts): Koa.Middleware {
  collectDefaultMetrics({ register: registry });
  const metrics = metricsOfAll(registry);

  async function isReady(): Promise<boolean> {
    try {
      await ping();
      return accepting();
    } catch {
      return false;
    }
  }

  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (ctx.path === '/health/live') ctx.body = { status: 'UP' };
    else if (ctx.path === '/health/ready') {
      const ready = await isReady();
      ctx.status = ready ? 200 : 503;
      ctx.body = { status: ready ? 'UP' : 'DOWN' };
    } else if (ctx.path === '/metrics') {
      if (!isFromThisMachine(ctx.req) && !(await mayReadMetrics(ctx.get('Authorization')))) {
        ctx.status = 401;
        ctx.set('WWW-Authenticate', 'SSWS');
        return;
      }
      try {
        // prom-client omits exemplars when it aggregates processes.
        const withExemplars = hasExemplars && !cluster.isWorker && ctx.get('Accept').includes('application/openmetrics-text');
        ctx.body = await (withExemplars ? openMetrics(registry) : metrics());
        ctx.type = withExemplars ? Registry.OPENMETRICS_CONTENT_TYPE : registry.contentType;
      } catch {
        // A worker that is about to end does not respond: the next scrape gets the numbers.
        ctx.status = 503;
      }
    } else return next();
    ctx.set('Cache-Control', 'no-store');
  };
}
