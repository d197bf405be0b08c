/** Erases the values of attributes that were removed, in bounded batches, each a transaction of its own; any number of processes may do so at once. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { eraseValues, findUserSchema, lockUserSchema, releaseValues, USER_SCHEMA, updateUserSchema } from './user-schema.store.ts';

type Parts = Pick<Services, 'database' | 'notifications'>;

/**
 * One batch. Until nothing is left of an attribute, no other one may have its name: it would come with values that nobody has judged.
 * @returns its size; less than `limit` when nothing is left
 */
export async function eraseRemovedAttributes({ database, notifications }: Parts, limit: number): Promise<number> {
  const { removing } = await findUserSchema(database.knex);
  const [name] = removing;
  if (name === undefined) return 0;
  const erased = await eraseValues(database.knex, name, limit);
  const released = await releaseValues(database.knex, name, limit);
  if (Math.max(erased, released) === limit) return limit;
  await database.transaction(async (trx) => {
    const schema = await lockUserSchema(trx, present());
    await updateUserSchema(trx, { ...schema, removing: schema.removing.filter((one) => one !== name) }, present());
    await notifications.publish(trx, { kind: 'settings', id: USER_SCHEMA });
  });
  return removing.length > 1 ? limit : 0;
}
