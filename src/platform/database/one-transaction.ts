/** Several services in one transaction: all of their changes are written, or none. */
import type { Knex } from 'knex';
import type { Services } from './dependencies.ts';
import type { Change } from './notifications.ts';

/**
 * Calls the work with services that write in one transaction; their own transactions become savepoints of it. The work may be repeated, as in
 * `Database.transaction`. Other processes are notified after the commit: a cache that is cleared earlier would be filled with the former state again.
 */
export async function inOneTransaction<T>(
  services: Services,
  work: (within: Services, trx: Knex.Transaction) => Promise<T>,
  options?: { readonly repeatable: boolean },
): Promise<T> {
  const { database, notifications } = services;
  let changes: Change[] = [];
  const result = await database.transaction((trx) => {
    changes = [];
    return work(
      {
        ...services,
        database: { ...database, knex: trx, transaction: (inner) => trx.transaction(inner) },
        notifications: { ...notifications, announce: (change) => void changes.push(change) },
      },
      trx,
    );
  }, options);
  for (const change of changes) notifications.announce(change);
  return result;
}
