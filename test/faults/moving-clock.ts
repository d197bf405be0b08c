/**
 * Loaded into a service before anything else (`node --import`): its clock runs as far ahead as the file says that MOVING_CLOCK names, in seconds, read
 * anew at each SIGUSR2. `Date` alone moves, which is all that the service, oidc-provider and its SQL read; timers run on, as they do in a machine whose clock is set.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
let ahead = 0;

class MovedDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(MovedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + ahead;
  }
}

const read = () => {
  ahead = Number(readFileSync(process.env.MOVING_CLOCK ?? '', 'utf8')) * 1000;
};
read();
globalThis.Date = MovedDate as DateConstructor;
process.on('SIGUSR2', read);
