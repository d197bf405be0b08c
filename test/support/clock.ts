/** A clock that a test moves: `Date` alone, which is all that the service, oidc-provider and its SQL read; timers run on. */
import type { TestContext } from 'node:test';

const RealDate = Date;
let ahead = 0;
/** Where the clock was stopped; it stands there until it is moved. */
let stopped: number | undefined;

class MovedDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(MovedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return (stopped ?? RealDate.now()) + ahead;
  }
}

/** Stops the time, so that what is tested does not depend on how long the test takes; `moveClock` moves it on. */
export const stopClock = (t: TestContext): void => moveClock(t, 0);

/** Moves the time, further each time, and stops it there; the end of the test brings the real one back. @param seconds may be negative */
export function moveClock(t: TestContext, seconds: number): void {
  if (globalThis.Date === RealDate) {
    t.after(() => {
      globalThis.Date = RealDate;
      ahead = 0;
      stopped = undefined;
    });
  }
  stopped ??= RealDate.now();
  ahead += Math.round(seconds * 1000);
  globalThis.Date = MovedDate as DateConstructor;
}
