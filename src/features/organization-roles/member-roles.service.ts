/** Roles of members in an organization. A change takes effect with the next request, and in the next issued token. */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { shownText } from '../../platform/validation/text.ts';
import type { AssignedRole } from '../administrators/administration.policy.ts';
import { deleteRole, findRights, findRoles, insertRole } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { checkReadable, lockForChange, target as organizationTarget } from '../organizations/organizations.service.ts';
import { revokeForGain, revokeForGainAfterCommit } from '../sign-in/credential-revocation.service.ts';
import { endApiTokens } from '../users/account-state.store.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser } from '../users/users.store.ts';
import { BUILT_IN_ROLES, isBuiltInRole, type OrganizationRole } from './organization-roles.resource.ts';
import { refuseBeyondOwn } from './organization-roles.service.ts';
import { findMemberRoles, isLastOwnerAmongOthers, listOrganizationRoles, replaceMemberRoles } from './organization-roles.store.ts';

export const memberRolesBody = z.strictObject({
  roles: z
    .array(shownText({ least: 1, most: 100 }))
    .max(103)
    .meta({ description: 'Names: owner, admin, and those of the organization. member goes without saying' }),
});

/** Built-in roles first. @throws {ApiError} not found, forbidden */
export async function getMemberRoles(
  services: Services,
  orgId: string,
  userId: string,
  request: RequestContext,
): Promise<readonly string[]> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  return requireFound(await findMemberRoles(services.database.knex, orgId, userId), userId, 'Member');
}

/**
 * Replaces a member's roles. Members who get more permissions lose links and sessions to which others may have access; new owners lose every way to
 * sign in, and choose a new password.
 * @param names roles of the organization
 * @throws {ApiError} not found; validation: there is no such role; forbidden: a role that allows more than the caller can do; wrong state: the last
 * owner
 */
export async function setMemberRoles(
  services: Services,
  orgId: string,
  userId: string,
  names: readonly string[],
  request: RequestContext,
): Promise<readonly string[]> {
  const { after, rises } = await services.database.transaction((trx) => setWithin(trx, orgId, userId, names, request));
  if (rises !== undefined) await revokeForGainAfterCommit(services.database.knex, userId, rises, request);
  return after;
}

async function setWithin(trx: Executor, orgId: string, userId: string, names: readonly string[], request: RequestContext) {
  const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
  const before = await findMemberRoles(trx, orgId, userId);
  const user = before && (await lockUser(trx, userId));
  if (before === undefined || user === undefined) throw notFound(userId, 'Member');
  const all = await listOrganizationRoles(trx, orgId);
  const unknown = names.filter((name) => !isBuiltInRole(name) && !all.some((role) => role.name === name));
  if (unknown.length > 0)
    throw validation([{ field: 'roles', message: `${unknown.join(', ')}: not a role of this organization. Create the role first` }]);

  const wanted = new Set([...names, 'member']);
  const changed = [...new Set([...wanted, ...before])].filter((name) => wanted.has(name) !== before.includes(name));
  if (changed.length === 0) return { after: before };
  const roles = rolesNamed(changed, all);
  await refuseChange(trx, { orgId, userId, roles, losesOwner: changed.includes('owner') && before.includes('owner') }, request);
  const gained = roles.some(({ name, permissions }) => wanted.has(name) && permissions.length > 0);
  const gain = { orgId, isOwner: changed.includes('owner') && wanted.has('owner') };
  const rises = gained ? await revokeForGain(trx, userId, gain, request) : undefined;
  if (changed.includes('admin')) await setAdmin(trx, orgId, user, wanted.has('admin'), request);
  const roleIds = all.filter(({ name }) => wanted.has(name)).map(({ id }) => id);
  await replaceMemberRoles(trx, { orgId, userId }, { isOwner: wanted.has('owner'), roleIds });
  if ((await findRights(trx, userId)).length === 0) await endApiTokens(trx, userId);
  const after = (await findMemberRoles(trx, orgId, userId)) ?? [];
  await recordEvent(trx, {
    eventType: 'org.membership.roles',
    displayMessage: 'Change roles of member in organization',
    request,
    targets: [userTarget(user), organizationTarget(organization)],
    before: { roles: before },
    after: { roles: after },
  });
  return { after, rises };
}

/**
 * Removes a member's roles before the membership ends, including ownership and custom roles. Needs the lock of the organization.
 * @throws {ApiError} forbidden: a role that allows more than the caller can do; wrong state: the last owner
 */
export async function revokeMemberRoles(trx: Executor, orgId: string, user: User, request: RequestContext): Promise<void> {
  const held = (await findMemberRoles(trx, orgId, user.id)) ?? [];
  const roles = rolesNamed(held, await listOrganizationRoles(trx, orgId));
  await refuseChange(trx, { orgId, userId: user.id, roles, losesOwner: held.includes('owner') }, request);
  if (held.includes('admin')) await setAdmin(trx, orgId, user, false, request);
}

type GrantedRole = Pick<OrganizationRole, 'name' | 'permissions'>;

interface RoleChange {
  readonly orgId: string;
  readonly userId: string;
  /** The granted or revoked roles. */
  readonly roles: readonly GrantedRole[];
  readonly losesOwner: boolean;
}

/** @throws {ApiError} forbidden, wrong state */
async function refuseChange(trx: Executor, { orgId, userId, roles, losesOwner }: RoleChange, request: RequestContext): Promise<void> {
  refuseBeyondOwn(roles, orgId, request);
  if (losesOwner && (await isLastOwnerAmongOthers(trx, orgId, userId)))
    throw wrongState('this is the last owner of the organization. Make another member an owner first');
}

/** @param all custom roles of the organization */
const rolesNamed = (names: readonly string[], all: readonly OrganizationRole[]): readonly GrantedRole[] =>
  [...BUILT_IN_ROLES, ...all].filter(({ name }) => names.includes(name));

/** Grants or revokes the built-in role admin. It is the administrator role ORG_ADMIN for the organization, with the same audit events. */
export async function setAdmin(trx: Executor, orgId: string, user: User, isAdmin: boolean, request: RequestContext): Promise<void> {
  if (isAdmin) {
    const given = await insertRole(trx, user.id, { type: 'ORG_ADMIN', orgId }, present());
    if (typeof given !== 'string') await recordAdmin(trx, 'grant', user, given, request);
    return;
  }
  for (const role of await findRoles(trx, user.id)) {
    if (role.type !== 'ORG_ADMIN' || role.orgId !== orgId) continue;
    await deleteRole(trx, role.id);
    await recordAdmin(trx, 'revoke', user, role, request);
  }
}

const recordAdmin = (trx: Executor, step: 'grant' | 'revoke', user: User, role: AssignedRole, request: RequestContext): Promise<string> =>
  recordEvent(trx, {
    eventType: `user.account.privilege.${step}`,
    displayMessage: step === 'grant' ? 'Grant user privilege' : 'Revoke user privilege',
    request,
    targets: [userTarget(user), { id: role.id, type: 'Role', displayName: role.type }],
    [step === 'grant' ? 'after' : 'before']: { type: role.type, orgId: role.orgId },
  });
