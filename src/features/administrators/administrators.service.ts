/** A user in the console: name and current roles. Without roles they are not an administrator. Also lists the administrators. */

import { present } from '../../platform/clock/clock.ts';
import { zoneOfProfile } from '../../platform/clock/time-zones.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { languageOfProfile } from '../../platform/i18n/page-language.ts';
import { fullName } from '../claims/claims.policy.ts';
import { isActiveStatus, statusAt } from '../users/user-lifecycle.policy.ts';
import { findNamedUser } from '../users/user-reach.service.ts';
import { findUserById } from '../users/users.store.ts';
import type { Role } from './administration.policy.ts';
import { type Administrator, type AdministratorSelection, findRights, selectAdministrators as listRows } from './roles.store.ts';

export interface ConsoleUser {
  readonly id: string;
  readonly login: string;
  /** Empty if the profile has none. */
  readonly name: string;
  /** Language of the profile if the pages support it; BCP 47. */
  readonly language: string | undefined;
  /** Time zone of the profile; UTC without one. */
  readonly zone: string;
  readonly roles: readonly Role[];
  /** May they sign in? */
  readonly isActive: boolean;
}

/** @returns undefined if there is no such user */
export async function findConsoleUser({ database: { knex } }: Services, userId: string): Promise<ConsoleUser | undefined> {
  const [user, roles] = await Promise.all([findUserById(knex, userId), findRights(knex, userId)]);
  return (
    user && {
      ...{ id: user.id, login: user.login, name: fullName(user.profile) ?? '', language: languageOfProfile(user.profile)?.lang, roles },
      zone: zoneOfProfile(user.profile) ?? 'UTC',
      isActive: isActiveStatus(user.status),
    }
  );
}

/** Current users with a role, oldest first. @param which of one type, or for one organization */
export async function listAdministrators(
  { database: { knex } }: Services,
  which: AdministratorSelection,
  window: Window,
): Promise<Page<Administrator>> {
  const { items, ...rest } = await listRows(knex, which, window);
  const now = present();
  return { items: items.map((one) => ({ ...one, status: statusAt(one, now) })), ...rest };
}

/** Is the user an administrator? */
export const isAdministrator = async ({ database: { knex } }: Services, userId: string): Promise<boolean> =>
  (await findRights(knex, userId)).length > 0;

/** Like `isAdministrator`, for a user given by ID or user name. */
export async function isAdministratorNamed(services: Services, idOrLogin: string): Promise<boolean> {
  const user = await findNamedUser(services.database.knex, idOrLogin);
  return user !== undefined && isAdministrator(services, user.id);
}
