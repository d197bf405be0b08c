/**
 * Rate limit of the management API: reported in every response (`X-Rate-Limit-*`, Okta's names) and enforced with 429. Calls are counted per API
 * token, or per address without a valid token. Each process counts on its own, so the numbers are those of the responding process.
 */
import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Services } from '../platform/database/dependencies.ts';
import { rateLimited } from '../platform/errors/errors.ts';

export interface RateLimit {
  /**
   * Counts the call once and adds the remaining number to its response.
   * @param who the token's ID or the address
   * @throws {ApiError} rate limited
   */
  count(ctx: Context, who: string): Promise<void>;
}

/** @param most maximum calls per minute */
export function rateLimit({ config }: Services, most: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: most, duration: 60 });
  return {
    async count(ctx, who) {
      if (ctx.state.counted) return;
      ctx.state.counted = true;
      const state = await limiter.consume(who).catch((over: unknown) => {
        if (over instanceof RateLimiterRes) return over;
        throw over;
      });
      ctx.set({
        'X-Rate-Limit-Limit': String(most),
        'X-Rate-Limit-Remaining': String(Math.max(0, state.remainingPoints)),
        'X-Rate-Limit-Reset': String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
      });
      if (config.rateLimits && state.consumedPoints > most) throw rateLimited(Math.max(1, Math.ceil(state.msBeforeNext / 1000)));
    },
  };
}
