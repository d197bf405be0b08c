/**
 * What the reader of an invitation does with it. The link proves the mailbox. An existing account joins once its user has signed in; a new account gets the
 * password that its user chooses. Each invitation is used by one conditional DELETE.
 */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { insertRole } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import { findMemberRoles, replaceMemberRoles } from '../organization-roles/member-roles.store.ts';
import { listOrganizationRoles } from '../organization-roles/organization-roles.store.ts';
import { findMembership, insertMembership } from '../organizations/memberships.store.ts';
import { target as organizationTarget } from '../organizations/organizations.service.ts';
import { findOrganization, lockOrganization, type Organization } from '../organizations/organizations.store.ts';
import { hashPassword } from '../passwords/passwords.service.ts';
import { endHeld, gainsRights, revokeCredentials } from '../sign-in/credential-revocation.service.ts';
import { createPasswordLink } from '../sign-in/one-time-links.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import type { UserProfile } from '../users/user-profile.service.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { createUser } from '../users/users.service.ts';
import { lockUser } from '../users/users.store.ts';
import { consumeInvitation, findInvitationByToken, type InvitationRow } from './organization-invitations.store.ts';

export interface OpenInvitation {
  readonly email: string;
  readonly organization: { readonly id: string; readonly name: string };
}

/** @returns undefined when it is of no use, for whatever reason */
export async function readInvitation({ database: { knex } }: Services, token: string): Promise<OpenInvitation | undefined> {
  const row = await findInvitationByToken(knex, digest(token), present());
  const organization = row && (await findOrganization(knex, row.orgId));
  return organization && row && { email: row.email, organization: { id: organization.id, name: organization.name } };
}

/** `gone`: the invitation is of no use. `password`: the user must choose a password, at this address: another organization's administrators may know the one before. */
export type Joined = { readonly kind: 'gone' | 'joined' } | { readonly kind: 'password'; readonly link: string };

/** An account joins whose user has just signed in. */
export async function joinByInvitation(services: Services, token: string, userId: string, request: RequestContext): Promise<Joined> {
  const { database } = services;
  const joined = await database.transaction(async (trx) => {
    const used = await use(trx, token);
    const user = used && (await lockUser(trx, userId));
    if (used === undefined || user === undefined) return undefined;
    const before = await findMembership(trx, used.row.orgId, userId);
    const rises = before === undefined && (await gainsRights(trx, userId, { orgId: used.row.orgId }));
    if (rises) await revokeCredentials(trx, userId, request);
    if (before === undefined) {
      const membership = { orgId: used.row.orgId, userId, depId: used.row.depId ?? undefined };
      await insertMembership(trx, membership, present(), { isJoined: true });
      await deleteLinksOf(trx, userId);
    }
    await giveRole(trx, used.row, userId);
    await record(trx, used, user, request);
    return { rises };
  });
  if (joined === undefined) return { kind: 'gone' };
  if (!joined.rises) return { kind: 'joined' };
  await endHeld(database.knex, userId);
  return { kind: 'password', link: await database.transaction((trx) => createPasswordLink(trx, services, userId, 'reset')) };
}

/**
 * A new account, for somebody who has none. The password was judged before.
 * @returns `gone` as above; `taken`: there is an account of this address, which can join; else the user
 */
export async function createByInvitation(
  services: Services,
  token: string,
  password: string,
  request: RequestContext,
): Promise<'gone' | 'taken' | User> {
  const { database } = services;
  if ((await readInvitation(services, token)) === undefined) return 'gone';
  // Before the transaction: a hash takes its time, and connections are few.
  const passwordHash = await hashPassword(password);
  try {
    return await database.transaction(async (trx): Promise<'gone' | User> => {
      const within: Services = { ...services, database: { ...database, knex: trx, transaction: (inner) => trx.transaction(inner) } };
      const used = await use(trx, token);
      if (used === undefined) return 'gone';
      const { email, orgId, depId } = used.row;
      const profile = { login: email, email, emailVerified: true } as UserProfile;
      const input = { profile, passwordHash, activate: true, orgId, depId: depId ?? undefined, isByMachine: true };
      const user = await createUser(within, input, { ...request, actor: SYSTEM.actor, roles: SYSTEM.roles ?? [] });
      await giveRole(trx, used.row, user.id);
      await record(trx, used, user, request);
      return user;
    });
  } catch (error) {
    // The transaction is undone: the invitation still works, for the account that there is.
    if (error instanceof ApiError) return 'taken';
    throw error;
  }
}

interface Used {
  readonly row: InvitationRow;
  readonly organization: Organization;
}

async function use(trx: Executor, token: string): Promise<Used | undefined> {
  const now = present();
  const row = await findInvitationByToken(trx, digest(token), now);
  // The organization first, as whoever changes its members.
  const organization = row && (await lockOrganization(trx, row.orgId));
  if (row === undefined || organization === undefined || !(await consumeInvitation(trx, digest(token), now))) return undefined;
  return { row, organization };
}

/** What the member has already stays. */
async function giveRole(trx: Executor, { orgId, role, roleId }: InvitationRow, userId: string): Promise<void> {
  const held = (await findMemberRoles(trx, orgId, userId)) ?? [];
  const kept = (await listOrganizationRoles(trx, orgId)).filter(({ id, name }) => id === roleId || held.includes(name)).map(({ id }) => id);
  await replaceMemberRoles(trx, { orgId, userId }, { isOwner: role === 'owner' || held.includes('owner'), roleIds: kept });
  if (role === 'admin') await insertRole(trx, userId, { type: 'ORG_ADMIN', orgId }, present());
}

const record = (trx: Executor, { row, organization }: Used, user: User, request: RequestContext): Promise<string> =>
  recordEvent(trx, {
    eventType: 'org.invitation.accept',
    displayMessage: 'Accept invitation to organization',
    request: asUser(request, user),
    targets: [userTarget(user), { id: row.id, type: 'OrganizationInvitation', displayName: row.email }, organizationTarget(organization)],
    after: { depId: row.depId ?? '', role: row.role, roleId: row.roleId ?? '' },
  });
