/** Deletes applications that no administrator created, if no user has signed in before their expiry. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import type { Application } from './applications.resource.ts';
import { deleteApplication } from './applications.service.ts';
import { listExpiredApplications } from './applications.store.ts';

const BATCH = 100;

/** Deletes one batch. @returns the number of deleted applications */
export async function deleteExpiredApplications(services: Services): Promise<number> {
  const ids = await listExpiredApplications(services.database.knex, present(), BATCH);
  // A user may be signing in at this moment.
  const isDue = ({ expiresAt }: Application) => expiresAt !== null && expiresAt < present();
  for (const id of ids) {
    await deleteApplication(services, id, SYSTEM, isDue).catch((error: unknown) => {
      // Another process was faster.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
  }
  return ids.length;
}
