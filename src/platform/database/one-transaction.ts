/** Several services as one transaction: all of their changes are written, or none. */
import type { Knex } from 'knex';
import type { Services } from './dependencies.ts';
import type { Change } from './notifications.ts';

/**
 * Gives the work services that write in one transaction; their own transactions become savepoints of it.
 * Other processes hear of the changes after the commit: a cache that is cleared earlier would be filled again with the former state.
 */
export async function inOneTransaction<T>(services: Services, work: (within: Services, trx: Knex.Transaction) => Promise<T>): Promise<T> {
  const { database, notifications } = services;
  const changes: Change[] = [];
  const result = await database.transaction((trx) =>
    work(
      {
        ...services,
        database: { ...database, knex: trx, transaction: (inner) => trx.transaction(inner) },
        notifications: { ...notifications, announce: (change) => void changes.push(change) },
      },
      trx,
    ),
  );
  for (const change of changes) notifications.announce(change);
  return result;
}
