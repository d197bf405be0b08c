/**
 * Cache for rarely changed data that nearly every request needs. Notifications of changes invalidate it
 * (platform/database/notifications.ts); a short time limit covers lost notifications.
 */
import { withTimeout } from '../clock/timeout.ts';
import { timings } from '../clock/timings.ts';

/**
 * Options of an `LRUCache` that usually has few entries: it grows with its entries. With `max`, it would allocate memory for all of them
 * when it is created, megabytes for the caches of one service.
 * @param entries maximum number
 */
export const atMost = (entries: number): { readonly maxSize: number; sizeCalculation(): number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});

export class CachedValue<T> {
  /** Counts changes, so that data read before a change does not count as fresh after it. */
  #changes = 0;
  #value: T | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<T> | undefined;

  /**
   * @param read reads the value from the database
   * @param fallback value while the database does not respond in time and nothing is cached; absent: callers get the error
   */
  constructor(
    readonly read: () => Promise<T>,
    readonly fallback?: T,
  ) {}

  /** @throws the error of `read`, if there is no substitute */
  async current(): Promise<T> {
    if (performance.now() < this.#freshUntil && this.#value !== undefined) return this.#value;
    this.#reading ??= this.#begin();
    const { fallback } = this;
    return fallback === undefined ? this.#reading : withTimeout(this.#reading, () => this.#value ?? fallback);
  }

  /** Call after a change here or in another process: later calls get data that was read after it. */
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
      if (this.fallback === undefined) throw error;
      return this.#value ?? this.fallback;
    });
    if (changes === this.#changes) {
      this.#value = value;
      // Counted from the end: a database that does not respond is tried once per interval, not at each call.
      this.#freshUntil = performance.now() + timings.cache;
    }
    return value;
  }
}
