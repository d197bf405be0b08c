/** A clock that runs faster than the real one. */

const HOUR = 3_600_000;
/** The clock begins at this minute of an hour: expired rows are removed after whole hours, and by then that is done. */
const FIRST_MINUTE = 40;

export class FastClock {
  /**
   * @param origin the real time at its start, in milliseconds since 1970
   * @param factor how many of its seconds pass in a real second
   */
  constructor(
    readonly origin: number,
    readonly factor: number,
  ) {}

  /** @param text what `toString` wrote */
  static parse(text: string): FastClock {
    const [origin, factor] = text.split(' ').map(Number);
    if (origin === undefined || !factor) throw new Error('SOAK_CLOCK must have the start and the factor');
    return new FastClock(origin, factor);
  }

  toString(): string {
    return `${this.origin} ${this.factor}`;
  }

  /** @param real milliseconds since 1970 @returns what the clock shows then */
  at(real: number): number {
    const begin = Math.floor(this.origin / HOUR) * HOUR + (FIRST_MINUTE / 60) * HOUR;
    return Math.floor(begin + (real - this.origin) * this.factor);
  }
}
