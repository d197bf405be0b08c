/** The organizations that a user can choose from at a sign-in. */
import type { Services } from '../../platform/database/dependencies.ts';
import { listSignInOrganizations } from './memberships.store.ts';
import type { SignInOrganization } from './sign-in-organization.policy.ts';

/** @param most maximum number, oldest memberships first */
export const listOrganizationsToChoose = (
  { database: { knex } }: Pick<Services, 'database'>,
  userId: string,
  most: number,
): Promise<readonly SignInOrganization[]> => listSignInOrganizations(knex, userId, { most });
