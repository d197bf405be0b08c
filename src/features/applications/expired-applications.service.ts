/** Applications that no administrator made are removed when no user has signed in for them in their time, with all that an administrator would remove. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import type { Application } from './applications.resource.ts';
import { deleteApplication } from './applications.service.ts';
import { listExpiredApplications } from './applications.store.ts';

const BATCH = 100;

/** One batch. @returns how many were removed */
export async function deleteExpiredApplications(services: Services): Promise<number> {
  const ids = await listExpiredApplications(services.database.knex, present(), BATCH);
  // Somebody may sign in at this moment.
  const isDue = ({ expiresAt }: Application) => expiresAt !== null && expiresAt < present();
  for (const id of ids) {
    await deleteApplication(services, id, SYSTEM, isDue).catch((error: unknown) => {
      // Another process was quicker.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
  }
  return ids.length;
}
