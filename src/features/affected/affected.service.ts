/** Counts objects that a deletion removes or affects, for the confirmation page. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type Affected, type AffectedBy, type AffectedKey, countAffected, MOST_COUNTED } from './affected.store.ts';

/** @param keys the IDs of several deleted objects of the same kind, and of their parents @returns the sums */
export const affectedByAll = <Kind extends AffectedBy>(
  { database }: Services,
  kind: Kind,
  keys: readonly AffectedKey[],
): Promise<Affected<Kind>> => countAffected(database.knex, kind, keys, present());

/**
 * @param words the kind of object that each number counts
 * @returns a function that counts the sums for several objects
 */
export const affects =
  <Kind extends AffectedBy>(kind: Kind, words: Partial<Record<keyof Affected<Kind> & string, string>>) =>
  async (services: Services, keys: readonly AffectedKey[]): Promise<readonly (readonly [one: string, count: number])[]> => {
    const numbers: Readonly<Record<string, number>> = await affectedByAll(services, kind, keys);
    return Object.entries<string | undefined>(words).map(([part, one = part]) => [one, numbers[part] ?? 0]);
  };

/** @param key the ID of the deleted object, and of its parents */
export const affectedBy = <Kind extends AffectedBy>(services: Services, kind: Kind, key: AffectedKey): Promise<Affected<Kind>> =>
  affectedByAll(services, kind, [key]);

/** @returns the number, and whether there are more */
export const countedUpTo = (count: number) => ({ count: Math.min(count, MOST_COUNTED), isMore: count > MOST_COUNTED });
