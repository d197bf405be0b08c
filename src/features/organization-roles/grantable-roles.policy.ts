/** Which roles of an organization somebody may give to its members and take from them. */
import {
  isWithin,
  mayChangeOwners,
  type OrganizationPermission,
  permissionsIn,
  type Role,
  reachOf,
} from '../administrators/administration.policy.ts';

/**
 * Nobody gives or takes more than their own rights. An admin may also change accounts, so all permissions of a custom role together are less.
 * @param callerRoles of who gives or takes
 */
export function mayGrant(
  callerRoles: readonly Role[],
  orgId: string,
  { name, permissions }: { readonly name: string; readonly permissions: readonly OrganizationPermission[] },
): boolean {
  if (name === 'owner') return mayChangeOwners(callerRoles, orgId);
  if (name === 'admin') return isWithin(reachOf(callerRoles, 'write', 'ALL'), orgId);
  const own = permissionsIn(callerRoles, orgId);
  return permissions.every((permission) => own.has(permission));
}
