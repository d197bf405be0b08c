/**
 * Authorization requests without a session. Anybody can send them and each is stored, so they are counted by network and kept for a
 * shorter time until a user has signed in (CWE-770).
 */
import { LRUCache } from 'lru-cache';
import { LIFETIMES } from '../../../config/defaults.ts';
import { atMost } from '../../platform/cache/cache-size.ts';
import { errors } from '../library/oidc-provider.ts';

/** Requests from one network within the lifetime of the first, in each process. Enough for an office behind one address. */
const MOST = 2000;
const MOST_NETWORKS = 10_000;

export class UnansweredRequests {
  readonly #counts = new LRUCache<string, { count: number }>({ ...atMost(MOST_NETWORKS), ttl: LIFETIMES.unansweredInteraction * 1000 });
  readonly #isLimited: boolean;

  constructor({ rateLimits }: { readonly rateLimits: boolean }) {
    this.#isLimited = rateLimits;
  }

  /**
   * Counts a request.
   * @param network see features/sign-in/failure-limits.service.ts, `networkOf`
   * @throws {errors.TemporarilyUnavailable} when there were too many
   */
  count(network: string): void {
    if (!this.#isLimited) return;
    const counted = this.#counts.get(network) ?? { count: 0 };
    if (counted.count >= MOST)
      throw new errors.TemporarilyUnavailable('too many sign-ins were started from this address, try again in a few minutes');
    counted.count += 1;
    if (counted.count === 1) this.#counts.set(network, counted);
  }
}
