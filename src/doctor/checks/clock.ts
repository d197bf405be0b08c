/** Do service, database and this machine agree about the time? Tokens live by it. */
import { readDatabaseState } from '../../platform/database/database-state.ts';
import { must, type Rule, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Milliseconds that two clocks may differ by: what relying parties commonly bear. */
const BORNE = 5000;

/** @param from and until when it was asked, in milliseconds @param resolution of the other clock */
function mustAgree(other: number, from: number, until: number, resolution: number): string {
  const difference = other < from - resolution ? other - from : other > until ? other - until : 0;
  must(Math.abs(difference) <= BORNE, `it is ${Math.abs(difference) / 1000} seconds ${difference < 0 ? 'behind' : 'ahead'}`);
  return `${Math.abs(difference)} ms apart`;
}

export const clock: readonly Rule<CheckContext>[] = section('Clock', [
  {
    id: 'clock.database',
    sentence: "The database's clock is this machine's, to five seconds.",
    async run(ground) {
      ownConfig(ground);
      const database = await ground.database();
      const from = Date.now();
      const { now } = await readDatabaseState(database);
      return mustAgree(now.getTime(), from, Date.now(), 0);
    },
  },
  {
    id: 'clock.service',
    sentence: "The service's clock is this machine's, to five seconds.",
    async run({ wire, url }) {
      const from = Date.now();
      const { headers } = await wire().send(`${url}/health/live`);
      return mustAgree(Date.parse(headers.get('date') ?? ''), from, Date.now(), 1000);
    },
  },
]);
