/** Country of a sign-in from the operator's database (GEO_DATABASE_FILE), and whether it is new for the user. */
import { LIFETIMES } from '../../../config/defaults.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { currentCountryDatabase } from '../../platform/geo/country-database.ts';
import type { CountryFact } from '../sign-in-rules/sign-in-rules.policy.ts';
import { findCountries, rememberCountry } from './sign-in-countries.store.ts';

/** Countries stay known for a year after the last sign-in there, like browsers. */
const knownSince = (now: Date): Date => new Date(now.getTime() - LIFETIMES.device * 1000);

/** Is there a database of countries, so that they are recorded? */
export const hasCountries = ({ config }: Pick<Services, 'config'>): boolean => config.geoDatabaseFile !== undefined;

/** @returns the ISO 3166-1 code; undefined: unknown */
export async function countryOf(
  { config, log }: Pick<Services, 'config' | 'log'>,
  address: string | undefined,
): Promise<string | undefined> {
  const file = config.geoDatabaseFile;
  if (file === undefined || address === undefined) return undefined;
  const database = await currentCountryDatabase(file, (error) => log.warn({ err: error, file }, 'could not read GEO_DATABASE_FILE'));
  return database?.countryOf(address);
}

/** Country fact for sign-in rules. Users without recorded sign-ins have no country to compare with. */
export async function countryFact(services: Services, userId: string, address: string | undefined, now: Date): Promise<CountryFact> {
  const country = await countryOf(services, address);
  if (country === undefined) return 'unknown';
  const known = await findCountries(services.database.knex, userId, knownSince(now));
  if (known.size === 0) return 'first';
  return known.has(country) ? 'known' : 'new';
}

/** Records the country after the last step of a sign-in. */
export async function noteCountry(
  trx: Executor,
  services: Pick<Services, 'config' | 'log'>,
  userId: string,
  address: string | undefined,
  now: Date,
): Promise<void> {
  const country = await countryOf(services, address);
  if (country !== undefined) await rememberCountry(trx, userId, country, now, knownSince(now));
}
