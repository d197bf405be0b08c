/**
 * Loaded into a service first (`node --import`). `Date` follows a faster clock (SOAK_CLOCK, see `FastClock`), timers do not. At each SIGUSR2, the process
 * prints its memory after a full garbage collection.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FastClock } from './fast-clock.ts';

const RealDate = Date;
const clock = FastClock.parse(process.env.SOAK_CLOCK ?? '');

class FastDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(FastDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return clock.at(RealDate.now());
  }
}
globalThis.Date = FastDate as DateConstructor;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  // The second collection removes objects with finalizers.
  collect();
  collect();
  console.log(`MEMORY ${JSON.stringify(process.memoryUsage())}`);
});
