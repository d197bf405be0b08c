/** Roles in an organization: the fields of a record, and the roles that every organization has. */
import { ORGANIZATION_PERMISSIONS, type OrganizationPermission } from '../administrators/administration.policy.ts';

export interface OrganizationRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly OrganizationPermission[];
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** Built-in roles of every organization. An admin is its ORG_ADMIN; every member has the role member. */
export const BUILT_IN_ROLES = [
  {
    name: 'owner',
    description: 'Can do everything in the organization, and add and remove owners. The last owner cannot be removed.',
    permissions: ORGANIZATION_PERMISSIONS,
  },
  { name: 'admin', description: 'Can do everything in the organization (role ORG_ADMIN).', permissions: ORGANIZATION_PERMISSIONS },
  { name: 'member', description: 'Every member has it. Without permissions in the console.', permissions: [] },
] as const;

const NAMES: ReadonlySet<string> = new Set(BUILT_IN_ROLES.map(({ name }) => name));
export const isBuiltInRole = (name: string): boolean => NAMES.has(name);
