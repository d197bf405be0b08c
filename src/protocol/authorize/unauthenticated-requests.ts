/**
 * Limits authorization requests without a session. Anyone can send them and each is stored, so they are counted by network and kept for a shorter
 * time until a user has signed in (CWE-770). Processes count in memory and notify the others every fifty requests: no statement for a normal sign-in,
 * and one limit for all processes.
 */
import { LRUCache } from 'lru-cache';
import { LIFETIMES } from '../../../config/defaults.ts';
import { atMost } from '../../platform/cache/cache.ts';
import { errors } from '../library/oidc-provider.ts';

/** Requests from one network within the lifetime of the first, at one process. Enough for an office behind one address. */
const MOST = 2000;
/** Maximum requests that are counted together before other processes are notified. */
export const REQUEST_BATCH = 50;
const MOST_NETWORKS = 10_000;

export interface UnauthenticatedRequestsParts {
  readonly rateLimits: boolean;
  /** Counts requests for all processes. @returns seconds for which the network is blocked; undefined: it is not blocked */
  countShared(network: string, requests: number): Promise<number | undefined>;
}

export class UnauthenticatedRequests {
  readonly #counts = new LRUCache<string, { count: number }>({ ...atMost(MOST_NETWORKS), ttl: LIFETIMES.unansweredInteraction * 1000 });
  readonly #parts: UnauthenticatedRequestsParts;

  constructor(parts: UnauthenticatedRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Counts a request.
   * @param network see features/sign-in/failure-limits.service.ts, `networkOf`
   * @throws {errors.TemporarilyUnavailable} when there were too many
   */
  count(network: string): void {
    if (!this.#parts.rateLimits) return;
    const counted = this.#counts.get(network) ?? { count: 0 };
    if (counted.count >= MOST)
      throw new errors.TemporarilyUnavailable('too many sign-ins were started from this IP address. Try again in a few minutes');
    counted.count += 1;
    if (counted.count === 1) this.#counts.set(network, counted);
    // If the database is down, nothing can be stored either, so the count of this process is enough.
    if (counted.count % REQUEST_BATCH === 0) this.#share(network).catch(() => undefined);
  }

  async #share(network: string): Promise<void> {
    const seconds = await this.#parts.countShared(network, REQUEST_BATCH);
    if (seconds !== undefined) this.#counts.set(network, { count: MOST }, { ttl: seconds * 1000 });
  }
}
