/**
 * Accepts an invitation. The link proves access to the mailbox. An existing account joins after a sign-in; for a new account, the user chooses a
 * password. One conditional DELETE uses the invitation up. It grants only roles that its sender can still grant.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { isWithin, reachOf } from '../administrators/administration.policy.ts';
import { findRights } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { mayGrant } from '../organization-roles/grantable-roles.policy.ts';
import { setAdmin } from '../organization-roles/member-roles.service.ts';
import { BUILT_IN_ROLES } from '../organization-roles/organization-roles.resource.ts';
import { findMemberRoles, listOrganizationRoles, replaceMemberRoles } from '../organization-roles/organization-roles.store.ts';
import { recordNewMember } from '../organizations/members.service.ts';
import { findMembership, insertMembership } from '../organizations/memberships.store.ts';
import { target as organizationTarget } from '../organizations/organizations.service.ts';
import { findOrganization, lockOrganization, type Organization } from '../organizations/organizations.store.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { revokeForGain, revokeForGainAfterCommit } from '../sign-in/credential-revocation.service.ts';
import { createPasswordLink } from '../sign-in/one-time-links.service.ts';
import { isActiveStatus } from '../users/user-lifecycle.policy.ts';
import type { UserProfile } from '../users/user-profile.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { createUser } from '../users/users.service.ts';
import { findUserById, lockUser } from '../users/users.store.ts';
import { consumeInvitation, findInvitationByToken, type InvitationRow } from './organization-invitations.store.ts';

export interface OpenInvitation {
  readonly email: string;
  readonly organization: { readonly id: string; readonly name: string };
}

/** @returns undefined if the invitation cannot be used, for any reason */
export async function readInvitation({ database: { knex } }: Services, token: string): Promise<OpenInvitation | undefined> {
  const row = await findUsable(knex, token);
  const organization = row && (await findOrganization(knex, row.orgId));
  return organization && row && { email: row.email, organization: { id: organization.id, name: organization.name } };
}

/**
 * `gone`: the invitation cannot be used. `password`: the user must choose a new password at this URL, because administrators may know the old one.
 */
export type Joined = { readonly kind: 'gone' | 'joined' } | { readonly kind: 'password'; readonly link: string };

/** Adds the account of a user who has just signed in. */
export async function joinByInvitation(services: Services, token: string, userId: string, request: RequestContext): Promise<Joined> {
  const { database } = services;
  const joined = await database.transaction(async (trx) => {
    const used = await use(trx, token);
    const user = used && (await lockUser(trx, userId));
    if (used === undefined || user === undefined) return undefined;
    const { orgId, depId, role } = used.row;
    const before = await findMembership(trx, orgId, userId);
    const gain = { orgId, isOwner: role === 'owner', isMembership: !(await givesRights(trx, used.row)) };
    const rises = await revokeForGain(trx, userId, gain, asUser(request, user));
    if (before === undefined) {
      await insertMembership(trx, { orgId, userId, depId: depId ?? undefined }, present(), { isJoined: true });
      await recordNewMember(trx, used.organization, user, depId ?? undefined, asUser(request, user));
    }
    await giveRole(trx, used, user, request);
    await record(trx, used, user, request);
    const keepsProvider = rises && (await findRequiredProvider(trx, userId)) !== undefined;
    return { rises, keepsProvider, by: asUser(request, user) };
  });
  if (joined === undefined) return { kind: 'gone' };
  await revokeForGainAfterCommit(database.knex, userId, joined.rises, joined.by);
  if (!joined.rises || joined.keepsProvider) return { kind: 'joined' };
  return { kind: 'password', link: await database.transaction((trx) => createPasswordLink(trx, services, userId, 'reset')) };
}

/**
 * Creates an account for someone without one. The password was validated before.
 * @returns `gone` as above; `taken`: an account with this address exists and can join; otherwise the user
 */
export async function createByInvitation(
  services: Services,
  token: string,
  password: string,
  request: RequestContext,
): Promise<'gone' | 'taken' | User> {
  if ((await readInvitation(services, token)) === undefined) return 'gone';
  // Before the transaction: hashing is slow, and connections are few.
  const passwordHash = await hashPassword(password);
  try {
    return await inOneTransaction(services, async (within, trx): Promise<'gone' | User> => {
      const used = await use(trx, token);
      if (used === undefined) return 'gone';
      const { email, orgId, depId } = used.row;
      const profile = { login: email, email, emailVerified: true } as UserProfile;
      const input = { profile, passwordHash, activate: true, orgId, depId: depId ?? undefined, isByMachine: true };
      const user = await createUser(within, input, { ...request, actor: SYSTEM.actor, roles: SYSTEM.roles ?? [] });
      await recordNewMember(trx, used.organization, user, depId ?? undefined, asUser(request, user));
      await giveRole(trx, used, user, request);
      await record(trx, used, user, request);
      return user;
    });
  } catch (error) {
    // The transaction is rolled back: the invitation can still be used with the existing account.
    if (error instanceof ApiError) return 'taken';
    throw error;
  }
}

interface Used {
  readonly row: InvitationRow;
  readonly organization: Organization;
}

async function use(trx: Executor, token: string): Promise<Used | undefined> {
  const found = await findInvitationByToken(trx, digest(token), present());
  // Lock the organization first, like every change of members: the sender's permissions must not change during this transaction.
  const organization = found && (await lockOrganization(trx, found.orgId));
  const row = organization && (await findUsable(trx, token));
  if (organization === undefined || row === undefined || !(await consumeInvitation(trx, digest(token), present()))) return undefined;
  return { row, organization };
}

/** An invitation whose sender is active and can still grant this role. */
async function findUsable(executor: Executor, token: string): Promise<InvitationRow | undefined> {
  const row = await findInvitationByToken(executor, digest(token), present());
  const sender = row && (await findUserById(executor, row.createdBy));
  if (row === undefined || sender === undefined || !isActiveStatus(sender.status)) return undefined;
  const rights = await findRights(executor, sender.id);
  const mayInvite = isWithin(reachOf(rights, 'write', 'MANAGE_INVITATIONS'), row.orgId);
  return mayInvite && (await givenRoles(executor, row)).every((role) => mayGrant(rights, row.orgId, role)) ? row : undefined;
}

const givenRoles = async (executor: Executor, { orgId, role, roleId }: InvitationRow) =>
  [...BUILT_IN_ROLES, ...(await listOrganizationRoles(executor, orgId))].filter((one) =>
    'id' in one ? one.id === roleId : one.name === role,
  );

const givesRights = async (executor: Executor, row: InvitationRow): Promise<boolean> =>
  (await givenRoles(executor, row)).some(({ permissions }) => permissions.length > 0);

/** Grants the invited role; the user keeps their current roles. */
async function giveRole(trx: Executor, { row: { orgId, role, roleId } }: Used, user: User, request: RequestContext): Promise<void> {
  const userId = user.id;
  const held = (await findMemberRoles(trx, orgId, userId)) ?? [];
  const kept = (await listOrganizationRoles(trx, orgId)).filter(({ id, name }) => id === roleId || held.includes(name)).map(({ id }) => id);
  await replaceMemberRoles(trx, { orgId, userId }, { isOwner: role === 'owner' || held.includes('owner'), roleIds: kept });
  if (role === 'admin') await setAdmin(trx, orgId, user, true, asUser(request, user));
}

const record = (trx: Executor, { row, organization }: Used, user: User, request: RequestContext): Promise<string> =>
  recordEvent(trx, {
    eventType: 'org.invitation.accept',
    displayMessage: 'Accept invitation to organization',
    request: asUser(request, user),
    targets: [userTarget(user), { id: row.id, type: 'OrganizationInvitation', displayName: row.email }, organizationTarget(organization)],
    after: { depId: row.depId ?? '', role: row.role, roleId: row.roleId ?? '' },
  });
