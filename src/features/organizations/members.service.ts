/** Memberships in organizations and departments. A user can belong to several organizations, once each. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { NumberedPage, NumberedWindow, Page, Window } from '../../platform/database/paging.ts';
import { forbidden, notFound, requireFound, validation } from '../../platform/errors/errors.ts';
import { isWithin, reachOf, type Verb } from '../administrators/administration.policy.ts';
import { findRights } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { revokeInvitationsBy } from '../organization-invitations/organization-invitations.service.ts';
import { revokeMemberRoles } from '../organization-roles/member-roles.service.ts';
import { endSessionsLinksAndTokens, gainsRights, revokeCredentials } from '../sign-in/credential-revocation.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import { endApiTokens, endTokensOfMember } from '../users/account-state.store.ts';
import { statusAt } from '../users/user-lifecycle.policy.ts';
import { findVisibleUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById } from '../users/users.store.ts';
import {
  type Affiliation,
  deleteMembership,
  findMembership,
  findOrgIds,
  insertMembership,
  isJoinedOnly,
  listAffiliations,
  listMemberIdsAmong,
  listMemberships,
  listSignInOrganizations,
  type Member,
  type MemberSearch,
  type Membership,
  moveMembership,
  type PlacedUser,
  selectMembersInOrder,
} from './memberships.store.ts';
import { checkReadable, getOrganization, lockForChange, target as organizationTarget } from './organizations.service.ts';
import { type Organization, organizationExists } from './organizations.store.ts';
import type { SignInOrganization } from './sign-in-organization.policy.ts';

/**
 * The members of an organization, including those of its departments, oldest memberships first.
 * @throws {ApiError} not found
 */
export async function listMembers(
  { database: { knex } }: Services,
  orgId: string,
  { q, depId, ...window }: MemberSearch & Window,
  request: RequestContext,
): Promise<Page<Member>> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  const page = await listMemberships(knex, orgId, { q, depId }, window);
  if (page.items.length === 0 && !(await organizationExists(knex, orgId))) throw notFound(orgId, 'Organization');
  const now = present();
  return { ...page, items: page.items.map((member) => ({ ...member, status: statusAt(member, now) })) };
}

/** One page of the members by number in any order, with the total. @throws {ApiError} not found */
export async function searchMembers(
  services: Services,
  orgId: string,
  { q, depId, ids, ...window }: MemberSearch & NumberedWindow,
  request: RequestContext,
): Promise<NumberedPage<PlacedUser>> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  const { memberCount } = await getOrganization(services, orgId, request);
  const total = q === undefined && depId === undefined && ids === undefined ? memberCount : undefined;
  return selectMembersInOrder(services.database.knex, orgId, { q, depId, ids }, { ...window, total });
}

/** The organizations that a user can choose from at a sign-in. @param most maximum number, oldest memberships first */
export const listOrganizationsToChoose = (
  { database: { knex } }: Pick<Services, 'database'>,
  userId: string,
  most: number,
): Promise<readonly SignInOrganization[]> => listSignInOrganizations(knex, userId, { most });

/** The organizations of a user that the caller can see, oldest memberships first. @throws {ApiError} not found */
export async function listUserOrganizations(
  { database: { knex } }: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<Affiliation>> {
  const { id } = await findVisibleUser(knex, idOrLogin, request);
  return listAffiliations(knex, id, reachOf(request.roles ?? [], 'read', 'MANAGE_MEMBERS'), window);
}

/** @throws {ApiError} not found */
export async function getMember(
  { database: { knex } }: Services,
  orgId: string,
  userId: string,
  request: RequestContext,
): Promise<Membership> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  return requireFound(await findMembership(knex, orgId, userId), userId, 'Member');
}

/**
 * Makes a user a member, or moves them to another department of the same organization.
 * @param depId absent, null or empty: directly in the organization
 * @throws {ApiError} not found: organization or user; forbidden; validation: there is no such department
 */
export const putMember = (
  services: Services,
  orgId: string,
  userId: string,
  depId: string | null | undefined,
  request: RequestContext,
): Promise<readonly string[]> => putMembers(services, orgId, [userId], depId, request);

/** `putMember` for several users: if one is refused, none becomes a member. @returns the users who were not members before */
export async function putMembers(
  services: Services,
  orgId: string,
  userIds: readonly string[],
  depId: string | null | undefined,
  request: RequestContext,
): Promise<readonly string[]> {
  const put = await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const results = [];
    for (const userId of userIds) results.push({ userId, ...(await putWithin(trx, organization, userId, depId, request)) });
    return results;
  });
  // Also end sessions and tokens that were written while the credentials were being revoked.
  for (const { userId, rises } of put) if (rises) await endSessionsLinksAndTokens(services.database.knex, userId);
  return put.filter(({ isNew }) => isNew).map(({ userId }) => userId);
}

/** @returns `rises`: the user's credentials were revoked, because the membership gives rights that former administrators must not share */
async function putWithin(
  trx: Executor,
  organization: Organization,
  userId: string,
  depId: string | null | undefined,
  request: RequestContext,
): Promise<{ readonly rises: boolean; readonly isNew: boolean }> {
  const orgId = organization.id;
  const after = { orgId, userId, depId: depId || undefined };
  const before = await findMembership(trx, orgId, userId);
  const user = await requireUserInReach(trx, userId, request, before === undefined ? 'ALL' : 'MANAGE_MEMBERS');
  if (before !== undefined && before.depId === after.depId) return { rises: false, isNew: false };
  const rises = before === undefined && (await gainsRights(trx, userId, { orgId }));
  if (rises) await revokeCredentials(trx, userId, { orgId }, request);
  // Administrators of organizations cannot take over an account that existed before.
  const isJoined = reachOf(request.roles ?? [], 'write') !== 'everything' && (await isJoinedOnly(trx, userId));
  const missing = before === undefined ? await insertMembership(trx, after, present(), { isJoined }) : await moveMembership(trx, after);
  if (missing === 'userId') throw notFound(userId, 'User');
  if (missing !== undefined) throw validation([{ field: missing, message: 'does not exist' }]);
  // Former administrators may have a link to choose a password.
  if (before === undefined) await deleteLinksOf(trx, userId);
  if (before === undefined) await recordNewMember(trx, organization, user, after.depId, request);
  else
    await recordEvent(trx, {
      eventType: 'org.membership.update',
      displayMessage: 'Move member to another department',
      request,
      targets: targets(user, organization),
      before: described(before),
      after: described(after),
    });
  return { rises, isNew: before === undefined };
}

/** Filters users to members. @throws {ApiError} not found: the caller cannot see the organization */
export async function findMembersAmong(
  { database: { knex } }: Services,
  orgId: string,
  userIds: readonly string[],
  request: RequestContext,
): Promise<ReadonlySet<string>> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  return new Set(await listMemberIdsAmong(knex, orgId, userIds));
}

/** Also revokes the member's tokens for the organization. @throws {ApiError} not found: organization, user or membership; forbidden */
export async function removeMember(services: Services, orgId: string, userId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const before = await findMembership(trx, orgId, userId);
    const user = before && (await findUserById(trx, userId));
    if (before === undefined || user === undefined) throw notFound(userId, 'Member');
    const hadRights = (await findRights(trx, userId)).length > 0;
    await revokeMemberRoles(trx, orgId, user, request);
    await deleteMembership(trx, orgId, userId);
    if (hadRights && (await findRights(trx, userId)).length === 0) await endApiTokens(trx, userId);
    await endTokensOfMember(trx, userId, orgId);
    await revokeInvitationsBy(trx, organization, userId, request);
    await recordEvent(trx, {
      eventType: 'org.membership.remove',
      displayMessage: 'Remove member from organization',
      request,
      targets: targets(user, organization),
      before: described(before),
    });
  });
  // Also end tokens that were issued concurrently.
  await endTokensOfMember(services.database.knex, userId, orgId);
}

/**
 * Finds a user whom the caller may add as a member. Administrators of individual organizations may only add users of those organizations. Otherwise,
 * adding someone whom they can only see would let them edit that user.
 * @param need permission in an organization of the user. ALL for a new membership, because it can give access to the account
 * @throws {ApiError} not found, forbidden
 */
async function requireUserInReach(trx: Executor, userId: string, request: RequestContext, need: 'MANAGE_MEMBERS' | 'ALL'): Promise<User> {
  const user = await findUserById(trx, userId);
  const orgIds = await findOrgIds(trx, userId);
  const reaches = (verb: Verb, needed: typeof need) => {
    const reach = reachOf(request.roles ?? [], verb, needed);
    return reach === 'everything' || orgIds.some((orgId) => isWithin(reach, orgId));
  };
  if (user === undefined || !reaches('read', 'MANAGE_MEMBERS')) throw notFound(userId, 'User');
  if (!reaches('write', need)) throw forbidden();
  return user;
}

/** Can the caller add the user to an organization? After a removal, the user may be out of the caller's reach. */
export async function mayAddMember({ database: { knex } }: Services, userId: string, request: RequestContext): Promise<boolean> {
  const reach = reachOf(request.roles ?? [], 'write', 'ALL');
  return reach === 'everything' || (await findOrgIds(knex, userId)).some((orgId) => isWithin(reach, orgId));
}

/** @param depId absent: directly in the organization */
export const recordNewMember = (
  trx: Executor,
  organization: Organization,
  user: User,
  depId: string | undefined,
  request: RequestContext,
): Promise<string> =>
  recordEvent(trx, {
    eventType: 'org.membership.add',
    displayMessage: 'Add member to organization',
    request,
    targets: targets(user, organization),
    after: described({ depId }),
  });

const targets = (user: User, organization: Organization) => [userTarget(user), organizationTarget(organization)];

const described = ({ depId }: { readonly depId?: string | undefined }) => ({ depId: depId ?? '' });
