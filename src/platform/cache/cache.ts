/**
 * Cache for rarely changed data that nearly every request needs: dropped when a change is notified (platform/database/notifications.ts), and a few
 * seconds old at most if a notification is lost.
 */
import { withTimeout } from '../clock/timeout.ts';
import { timings } from '../clock/timings.ts';

/**
 * For an `LRUCache` that seldom holds much: it grows with its entries. With `max` it would set aside room for all of them when it is made, megabytes for
 * the caches of one service.
 * @param entries how many it holds at most
 */
export const atMost = (entries: number): { readonly maxSize: number; sizeCalculation(): number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});

export class CachedValue<T> {
  /** Counts the changes, so that what was read before one does not count as fresh after it. */
  #changes = 0;
  #value: T | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<T> | undefined;

  /**
   * @param read from the database
   * @param meanwhile value while the database cannot be read in time and nothing is cached; absent: callers get the error
   */
  constructor(
    readonly read: () => Promise<T>,
    readonly meanwhile?: T,
  ) {}

  /** @throws what reading throws, where nothing may hold meanwhile */
  async current(): Promise<T> {
    if (performance.now() < this.#freshUntil && this.#value !== undefined) return this.#value;
    this.#reading ??= this.#begin();
    const { meanwhile } = this;
    return meanwhile === undefined ? this.#reading : withTimeout(this.#reading, () => this.#value ?? meanwhile);
  }

  /** It has changed, here or elsewhere: anyone who asks from now on gets what was read after that. */
  forget(): void {
    this.#changes += 1;
    this.#freshUntil = Number.NEGATIVE_INFINITY;
    this.#reading = undefined;
  }

  #begin(): Promise<T> {
    const reading = this.#load(this.#changes).finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading;
  }

  async #load(changes: number): Promise<T> {
    const value = await this.read().catch((error: unknown) => {
      if (this.meanwhile === undefined) throw error;
      return this.#value ?? this.meanwhile;
    });
    if (changes === this.#changes) {
      this.#value = value;
      // From the end on: what does not answer is waited for once in a while, not each time.
      this.#freshUntil = performance.now() + timings.cache;
    }
    return value;
  }
}
