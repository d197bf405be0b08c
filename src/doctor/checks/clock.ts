/** Do the clocks of the service, the database and this machine agree? Tokens depend on it. */
import { readDatabaseState } from '../../platform/database/database-state.ts';
import { must, type Rule, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Maximum clock difference in milliseconds, which relying parties commonly tolerate. */
const TOLERATED_SKEW_MS = 5000;

/** @param from and until time of the request in milliseconds @param resolution of the other clock */
function mustAgree(other: number, from: number, until: number, resolution: number): string {
  const difference = other < from - resolution ? other - from : other > until ? other - until : 0;
  must(
    Math.abs(difference) <= TOLERATED_SKEW_MS,
    `it is ${Math.abs(difference) / 1000} seconds ${difference < 0 ? 'behind' : 'ahead'}: synchronise the clocks with NTP`,
  );
  return `${Math.abs(difference)} ms apart`;
}

export const clock: readonly Rule<CheckContext>[] = section('Clock', [
  {
    id: 'clock.database',
    sentence: 'The clock of the database differs from this machine by less than five seconds.',
    async run(context) {
      ownConfig(context);
      const database = await context.database();
      const from = Date.now();
      const { now } = await readDatabaseState(database);
      return mustAgree(now.getTime(), from, Date.now(), 0);
    },
  },
  {
    id: 'clock.service',
    sentence: 'The clock of the service differs from this machine by less than five seconds.',
    async run({ wire, url }) {
      const from = Date.now();
      const { headers } = await wire().send(`${url}/health/live`);
      return mustAgree(Date.parse(headers.get('date') ?? ''), from, Date.now(), 1000);
    },
  },
]);
