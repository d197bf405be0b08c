/**
 * Permissions of administrators. Every administrator manages their own data, an ORG_ADMIN their organization and its members. A READ_ONLY_ADMIN reads
 * everything and changes nothing; a SUPER_ADMIN may do everything.
 */

export type RoleType = 'SUPER_ADMIN' | 'ORG_ADMIN' | 'READ_ONLY_ADMIN';

/** Permissions that a role of an organization can have. */
export const ORGANIZATION_PERMISSIONS = [
  'MANAGE_MEMBERS',
  'MANAGE_INVITATIONS',
  'MANAGE_DOMAINS',
  'MANAGE_PROVIDERS',
  'MANAGE_BRANDING',
  'READ_LOG',
] as const;
export type OrganizationPermission = (typeof ORGANIZATION_PERMISSIONS)[number];

/** A role assigned to a user; only ORG_ADMIN belongs to an organization. */
export interface Role {
  readonly type: RoleType;
  readonly orgId?: string | undefined;
  /** Permissions of a role that an organization has defined; such a role is an ORG_ADMIN limited to them. Absent: all permissions. */
  readonly permissions?: readonly OrganizationPermission[] | undefined;
  /** An ORG_ADMIN because they own the organization. */
  readonly isOwner?: boolean | undefined;
}

export interface AssignedRole extends Role {
  readonly id: string;
  readonly userId: string;
  readonly created: Date;
}

/**
 * Audience of an API or console operation. `service`: administrators of the whole service. `organizations`: also administrators of single
 * organizations, within their reach. `own`: every administrator, for their own data such as API tokens.
 */
export type Access = 'service' | 'organizations' | 'own';

export type Verb = 'read' | 'write';

/** Can these roles call the operation at all? `reachOf` limits it further. */
export function mayCall(roles: readonly Role[], access: Access, verb: Verb): boolean {
  return roles.some(({ type }) => {
    if (type === 'SUPER_ADMIN') return true;
    if (type === 'READ_ONLY_ADMIN') return verb === 'read' || access === 'own';
    return access !== 'service';
  });
}

/** IDs of the organizations within reach. */
export type Reach = 'everything' | ReadonlySet<string>;

/**
 * @param need permission that a role must include for an organization to be in reach. ALL: every permission, required for user accounts, because
 * anyone who can set passwords can sign in as any user of the organization. ANY: at least one
 */
export function reachOf(roles: readonly Role[], verb: Verb, need: OrganizationPermission | 'ALL' | 'ANY' = 'ALL'): Reach {
  if (roles.some(({ type }) => type === 'SUPER_ADMIN' || (verb === 'read' && type === 'READ_ONLY_ADMIN'))) return 'everything';
  return new Set(
    roles.flatMap((role) => (role.type === 'ORG_ADMIN' && role.orgId !== undefined && allows(role, need) ? [role.orgId] : [])),
  );
}

function allows({ permissions }: Role, need: OrganizationPermission | 'ALL' | 'ANY'): boolean {
  if (permissions === undefined) return true;
  if (need === 'ANY') return permissions.length > 0;
  return need !== 'ALL' && permissions.includes(need);
}

/** Permissions of these roles in an organization. */
export function permissionsIn(roles: readonly Role[], orgId: string): ReadonlySet<OrganizationPermission> {
  return new Set(ORGANIZATION_PERMISSIONS.filter((permission) => isWithin(reachOf(roles, 'write', permission), orgId)));
}

/** Can these roles make a user an owner of the organization, or remove an owner? */
export const mayChangeOwners = (roles: readonly Role[], orgId: string): boolean =>
  roles.some(({ type, orgId: own, isOwner }) => type === 'SUPER_ADMIN' || (isOwner === true && own === orgId));

export const isWithin = (reach: Reach, orgId: string): boolean => reach === 'everything' || reach.has(orgId);

/** A role or organization membership that a user is about to get. A role without an organization is for the whole service. */
export interface Gain {
  readonly orgId?: string | undefined;
  /** As an owner of the organization. */
  readonly isOwner?: boolean | undefined;
  /** Membership alone, without a right. */
  readonly isMembership?: boolean | undefined;
}

/**
 * Does the gain give a user rights that administrators of other organizations must not share? Those who can change the account now may know its
 * password or have enrolled a factor.
 */
export function gainsBeyondReach(
  person: {
    readonly orgIds: readonly string[];
    /** Including former ones. */
    readonly orgIdsEver: readonly string[];
    readonly roles: readonly Role[];
  },
  { orgId, isOwner = false }: Gain,
): boolean {
  const isInReach = person.orgIdsEver.length > 0 && person.roles.every(({ type }) => type === 'ORG_ADMIN');
  if (!isInReach || orgId === undefined) return isInReach;
  // Until now, administrators who are not owners could change the account. Only owners can change accounts of owners.
  if (isOwner) return !person.roles.some((role) => role.isOwner === true && role.orgId === orgId);
  // A user who joins, possibly again, from another organization: administrators there could manage the account until now.
  const isHeld = person.orgIds.includes(orgId) || person.roles.some((role) => role.orgId === orgId);
  return !isHeld && person.orgIdsEver.some((id) => id !== orgId);
}

/**
 * Can callers with this reach change the user? An administrator of one organization can change users who belong only to it, but not users with more
 * rights: with a new password they could use those rights. Accounts that existed before the membership remain the user's own.
 */
export function isPersonWithin(
  reach: Reach,
  person: {
    readonly orgIds: readonly string[];
    readonly roles: readonly Role[];
    /** Did the account exist before it joined any of these organizations? */
    readonly isJoined: boolean;
  },
): boolean {
  if (reach === 'everything') return true;
  if (person.isJoined) return false;
  const rolesWithin = person.roles.every(({ type, orgId }) => type === 'ORG_ADMIN' && orgId !== undefined && reach.has(orgId));
  return person.orgIds.length > 0 && person.orgIds.every((orgId) => reach.has(orgId)) && rolesWithin;
}
