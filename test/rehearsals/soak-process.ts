/**
 * Loaded into a service before anything else (`node --import`): a clock that runs faster, the same in all processes (SOAK_CLOCK, see `FastClock`), and
 * at each SIGUSR2 a line with the memory that is left after a full collection. `Date` alone runs faster, timers do not.
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
  // Twice: what has a finalizer goes with the second.
  collect();
  collect();
  console.log(`MEMORY ${JSON.stringify(process.memoryUsage())}`);
});
