/** Who somebody is to the console: his name and his current roles. None: no administrator. */

import type { Role } from '../policy/administration.ts';
import { fullName } from '../policy/claims.ts';
import { findRoles } from '../store/roles.ts';
import { findUserById } from '../store/users.ts';
import type { Services } from './dependencies.ts';

export interface Person {
  readonly id: string;
  readonly login: string;
  /** Empty where the profile has none. */
  readonly name: string;
  readonly roles: readonly Role[];
}

/** @returns undefined when there is no such user */
export async function findPerson({ database: { knex } }: Services, userId: string): Promise<Person | undefined> {
  const [user, roles] = await Promise.all([findUserById(knex, userId), findRoles(knex, userId)]);
  return user && { id: user.id, login: user.login, name: fullName(user.profile) ?? '', roles };
}

/** Does he administer anything? */
export const isAdministrator = async ({ database: { knex } }: Services, userId: string): Promise<boolean> =>
  (await findRoles(knex, userId)).length > 0;
