/** Can rules of the sign-in policy look at countries? */
import { readSettings } from '../../features/settings/settings.service.ts';
import { present } from '../../platform/clock/clock.ts';
import { openCountryDatabase } from '../../platform/geo/country-database.ts';
import { Blocked, Broken, must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

const OLDEST_DAYS = 90;
const DAY_MS = 86_400_000;

/** Other rules report a database that is away. @throws {Skipped} */
async function isNeeded(ground: CheckContext): Promise<boolean> {
  try {
    const { rules } = await readSettings({ database: await ground.database() }, 'sign-in');
    return rules.some(({ conditions }) => conditions.newCountry !== undefined);
  } catch (error) {
    if (error instanceof Skipped || error instanceof Blocked) throw error;
    throw new Skipped('the settings cannot be read from the database');
  }
}

export const countryChecks: readonly Rule<CheckContext>[] = section('Countries', [
  {
    id: 'countries.database',
    sentence: `If a sign-in rule uses countries, GEO_DATABASE_FILE exists and is at most ${OLDEST_DAYS} days old.`,
    async run(ground) {
      const { geoDatabaseFile: file } = ownConfig(ground);
      if (file === undefined) {
        if (!(await isNeeded(ground))) throw new Skipped('no sign-in rule uses countries');
        throw new Broken('a rule of settings/sign-in uses newCountry but never matches: set GEO_DATABASE_FILE');
      }
      const { built } = await openCountryDatabase(file).catch((error: Error) => {
        throw new Broken(`${file} cannot be read: ${error.message}`);
      });
      const days = Math.floor((present().getTime() - built.getTime()) / DAY_MS);
      must(days <= OLDEST_DAYS, `${file} was built ${days} days ago: replace it with a newer one; no restart is needed`);
      return `built on ${built.toISOString().slice(0, 10)}`;
    },
  },
]);
