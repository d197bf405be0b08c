/** Counts objects that a deletion removes or affects, for the confirmation page. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type Affected, type AffectedBy, countAffected, MOST_COUNTED } from './affected.store.ts';

/** @param key the ID of the deleted object, and of its parent */
export const affectedBy = <Kind extends AffectedBy>(
  { database }: Services,
  kind: Kind,
  key: Readonly<Record<string, string>> & { readonly id: string },
): Promise<Affected<Kind>> => countAffected(database.knex, kind, { ...key, now: present() });

/** @returns the number, and whether there are more */
export const countedUpTo = (count: number) => ({ count: Math.min(count, MOST_COUNTED), isMore: count > MOST_COUNTED });
