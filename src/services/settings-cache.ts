/**
 * The settings that every page needs, as this process knows them: dropped when a change is told, and out of date for a few seconds at most when
 * the telling was lost. What was known last holds while the database is away, so that the page that says so can be shown.
 */
import type { Change } from '../store/notifications.ts';
import type { Services } from './dependencies.ts';
import { DEFAULTS, readSettings, type Settings, type SettingsName } from './settings.ts';

/** Milliseconds. */
const FRESH = 3000;

export class SettingsCache<N extends SettingsName> {
  /** Counts the changes, so that what was read before one does not count as fresh after it. */
  #changes = 0;
  #known: Settings[N];
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(
    readonly services: Pick<Services, 'database'>,
    readonly name: N,
  ) {
    this.#known = DEFAULTS[name];
  }

  async current(): Promise<Settings[N]> {
    if (performance.now() < this.#freshUntil) return this.#known;
    const changes = this.#changes;
    const read = await readSettings(this.services, this.name).catch(() => this.#known);
    if (changes === this.#changes) {
      this.#known = read;
      // From the end on: the page of a database that does not answer waits for it once in a while, not each time.
      this.#freshUntil = performance.now() + FRESH;
    }
    return read;
  }

  /** Takes note of a change made here or elsewhere. */
  changed(change: Change | 'everything'): void {
    if (change !== 'everything' && (change.kind !== 'settings' || change.id !== this.name)) return;
    this.#changes += 1;
    this.#freshUntil = Number.NEGATIVE_INFINITY;
  }
}
