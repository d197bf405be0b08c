/** Decides which roles of an organization a caller can grant and revoke. */
import {
  isWithin,
  mayChangeOwners,
  type OrganizationPermission,
  permissionsIn,
  type Role,
  reachOf,
} from '../administrators/administration.policy.ts';

/**
 * Nobody can grant or revoke more than their own permissions. The role admin also allows changes of accounts, so a custom role with all permissions
 * is not enough to grant it.
 * @param callerRoles roles of the caller
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
