/** Operations on users: create, read, list, change. Lifecycle, roles, sessions and consents have their own files. */

import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Database, Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { keepSpelling } from '../../platform/dns/address-spelling.ts';
import { forbidden, validation } from '../../platform/errors/errors.ts';
import { isWithin, type Role, reachOf } from '../administrators/administration.policy.ts';
import { insertRole } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { joinGroups } from '../groups/groups.service.ts';
import { hasMailAddress, notifyFormerAddress } from '../mail/mail.service.ts';
import { isMailPossible, requireMail } from '../mail/mail-route.service.ts';
import { insertMembership } from '../organizations/memberships.store.ts';
import { rememberReplaced } from '../passwords/password-policy.service.ts';
import { noteImported } from '../sign-in/answer-time.service.ts';
import { forgetFailedAttempts } from '../sign-in/failed-sign-ins.store.ts';
import { mailPasswordLink } from '../sign-in/one-time-links.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import { claimAttributes, type GivenValues, validateAttributes } from '../user-schema/attribute-values.service.ts';
import { endBrowserSessions, endOAuthTokens } from './account-state.store.ts';
import { mailVerification } from './email-verification.service.ts';
import { applyStep } from './user-lifecycle.service.ts';
import { loginTaken, refuseNames } from './user-names.service.ts';
import {
  type GivenPassword,
  isVerifiedAddress,
  type ProfileChanges,
  splitProfile,
  storedPassword,
  type UserProfile,
} from './user-profile.service.ts';
import { findVisibleUser, lockChangeableUser, mayChangeUser, userTarget } from './user-reach.service.ts';
import type { User } from './users.resource.ts';
import { findUserById, insertUser, updateUser } from './users.store.ts';

/** Without a password, the user cannot sign in with one. */
export interface NewUser extends GivenPassword {
  readonly profile: UserProfile;
  /** false: STAGED, cannot sign in yet. */
  readonly activate: boolean;
  /** true: the sign-up waits for approval. */
  readonly awaitsApproval?: boolean | undefined;
  readonly orgId?: string | undefined;
  /** A department of `orgId`. */
  readonly depId?: string | undefined;
  /** Initial groups. */
  readonly groupIds?: readonly string[] | undefined;
  /** Initial administrator roles. */
  readonly roles?: readonly Role[];
  /** true: created without a form, by a system that may not provide required attributes. */
  readonly isByMachine?: boolean | undefined;
  /** true: invites users by e-mail to choose a password (PROVISIONED until they do), or, if they have one, to verify their address. */
  readonly sendEmail?: boolean | undefined;
}

/**
 * Creates a user with memberships and roles, or nothing.
 * @throws {ApiError} conflict: the user name is taken; rate limited as `refuseNames`; validation: organization, department or group does not exist
 * for the caller; forbidden: the caller cannot assign roles or groups
 */
export async function createUser(services: Services, input: NewUser, request: RequestContext): Promise<User> {
  refuseOutOfReach(input, request);
  refuseForeignHash(input, request);
  refuseUnprovedAddress(input.profile.emailVerified === true, request);
  // Before the transaction: hashing is slow, and connections are few.
  const passwordHash = await storedPassword(services, input, async () => splitProfile(input.profile));
  const user = newUser(input, passwordHash, present());

  await services.database.transaction(async (trx) => {
    await refuseNames(trx, undefined, user, request);
    const schema = await validateAttributes(trx, user, input.profile, { complete: input.isByMachine !== true });
    if (!(await insertUser(trx, user))) throw loginTaken();
    await claimAttributes(trx, schema, undefined, user, request);
    for (const role of input.roles ?? []) {
      if ((await insertRole(trx, user.id, role, user.created)) === 'no such organization') throw orgMissing();
    }
    await joinOrganization(trx, user, input);
    await recordEvent(trx, {
      eventType: 'user.lifecycle.create',
      displayMessage: 'Create user',
      request,
      targets: [userTarget(user)],
      after: { status: user.status, profile: profileFields(user), orgId: input.orgId, depId: input.depId, roles: input.roles },
    });
    await joinGroups(trx, user, input.groupIds ?? [], request);
    if (input.sendEmail === true) await welcome(trx, services, user, request);
  });
  if (input.passwordHash !== undefined) noteImported(services.database);
  return user;
}

/** @throws {ApiError} not found */
export const getUser = (services: Services, idOrLogin: string, request: RequestContext): Promise<User> =>
  findVisibleUser(services.database.knex, idOrLogin, request);

/** Can the caller change this visible user? Each change is checked again. */
export const isUserChangeable = (services: Services, { id }: User, request: RequestContext): Promise<boolean> =>
  mayChangeUser(services.database.knex, id, request);

/** Changes to a user. */
export interface UserChange extends GivenPassword {
  /** The whole profile, or some of its attributes; null removes one. */
  readonly profile?: { readonly replaceBy: UserProfile } | { readonly merge: ProfileChanges } | undefined;
  /** true: the new password works for one sign-in, at which the user replaces it. No effect for users who cannot sign in now. */
  readonly expirePassword?: boolean | undefined;
}

/**
 * Changes profile and password together or not at all. A new password ends sessions and OAuth tokens, because they may belong to someone
 * else, and the expiry of an old one.
 * @throws {ApiError} not found; forbidden; conflict: the user name is taken
 */
export async function changeUser(services: Services, idOrLogin: string, change: UserChange, request: RequestContext): Promise<User> {
  refuseForeignHash(change, request);
  const passwordHash = await storedPassword(services, change, async () => {
    const owner = await findVisibleUser(services.database.knex, idOrLogin, request);
    return { ...owner, ...withProfile(owner, change.profile) };
  });
  const user = await services.database.transaction(async (trx) => {
    const before = await lockChangeableUser(trx, idOrLogin, request);
    if (change.profile === undefined && passwordHash === null) return before;
    const now = present();
    const changes = { ...withProfile(before, change.profile), ...withPassword(before, passwordHash, now), lastUpdated: now };
    const after = { ...before, ...changes };
    const isNewlyVerified = after.emailVerified && !(before.emailVerified && after.email === before.email);
    refuseUnprovedAddress(isNewlyVerified, request);
    await refuseNames(trx, before, after, request);
    const schema = change.profile && (await validateAttributes(trx, after, ...givenIn(change.profile)));
    if (!(await updateUser(trx, before.id, changes))) throw loginTaken();
    if (schema !== undefined) await claimAttributes(trx, schema, before, after, request);
    if (passwordHash !== null || after.email !== before.email) await deleteLinksOf(trx, before.id);
    if (after.email !== before.email) await askToVerify(trx, services, after, request);
    const event = { request, targets: [userTarget(after)] };
    if (change.profile !== undefined) {
      await recordEvent(trx, {
        ...event,
        eventType: 'user.account.update_profile',
        displayMessage: 'Update user profile',
        before: { profile: profileFields(before) },
        after: { profile: profileFields(after) },
      });
      await notifyFormerAddress(trx, before, after.email, request);
    }
    if (passwordHash !== null) {
      await rememberReplaced(trx, before);
      await endSignIns(trx, before.id);
      await forgetFailedAttempts(trx, before.id);
      await recordEvent(trx, {
        ...event,
        eventType: 'user.account.update_password',
        displayMessage: 'Set password of user',
        before: { status: before.status, passwordChanged: before.passwordChanged },
        after: { status: after.status, passwordChanged: after.passwordChanged },
      });
      if (change.expirePassword === true && after.status === 'ACTIVE') return applyStep(trx, after, 'expire_password', request);
    }
    return after;
  });
  if (change.passwordHash !== undefined) noteImported(services.database);
  // Also end sessions created during the transaction.
  if (passwordHash !== null) await endSignIns(services.database.knex, user.id);
  return user;
}

/** The whole profile for the API and audit events. */
export const profileFields = ({ login, email, emailVerified, profile }: User) => ({
  login,
  ...(email !== null && { email, emailVerified }),
  ...profile,
});

/** Ends everything that was obtained with the old password. */
async function endSignIns(executor: Executor, userId: string): Promise<void> {
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
}

const orgMissing = () => validation([{ field: 'orgId', message: 'does not exist' }]);

/** An organization's administrator creates users in their own, without roles or groups; another organization does not exist for them. @throws {ApiError} */
function refuseOutOfReach({ orgId, roles = [], groupIds = [] }: NewUser, request: RequestContext): void {
  const reach = reachOf(request.roles ?? [], 'write');
  if (reach === 'everything') return;
  if (roles.length > 0 || groupIds.length > 0) throw forbidden();
  if (orgId === undefined) throw validation([{ field: 'orgId', message: 'is required' }]);
  if (!isWithin(reach, orgId)) throw orgMissing();
}

/**
 * Verifying an imported hash can cost a second per attempt, which slows everyone down.
 * @throws {ApiError} forbidden to administrators of organizations
 */
function refuseForeignHash({ passwordHash }: GivenPassword, request: RequestContext): void {
  if (passwordHash !== undefined && reachOf(request.roles ?? [], 'write') !== 'everything') throw forbidden();
}

/** Applications grant access by a verified address of any domain. @throws {ApiError} forbidden to administrators of organizations */
function refuseUnprovedAddress(isVerified: boolean, request: RequestContext): void {
  if (isVerified && reachOf(request.roles ?? [], 'write') !== 'everything') throw forbidden();
}

function newUser(input: NewUser, passwordHash: string | null, now: Date): User {
  const isInvited = input.sendEmail === true && passwordHash === null;
  const status = !input.activate ? 'STAGED' : isInvited ? 'PROVISIONED' : 'ACTIVE';
  return {
    id: newId('usr'),
    ...splitProfile(input.profile),
    emailVerified: isVerifiedAddress(input.profile),
    status,
    lockedUntil: null,
    passwordHash,
    passwordChanged: passwordHash === null ? null : now,
    created: now,
    activated: status === 'ACTIVE' ? now : null,
    approvalRequested: input.awaitsApproval === true ? now : null,
    statusChanged: input.activate ? now : null,
    lastLogin: null,
    lastUpdated: now,
  };
}

/** The validated values, and whether they are complete. */
const givenIn = (change: NonNullable<UserChange['profile']>): readonly [GivenValues, { readonly complete: boolean }] =>
  'replaceBy' in change ? [change.replaceBy, { complete: true }] : [change.merge, { complete: false }];

function withProfile(before: User, change: UserChange['profile']): Partial<User> {
  if (change === undefined) return {};
  const given = 'replaceBy' in change ? change.replaceBy : change.merge;
  const wanted = splitProfile('replaceBy' in change ? change.replaceBy : { ...profileFields(before), ...change.merge });
  const stored = { ...wanted, login: keepSpelling(before.login, wanted.login), email: keepSpelling(before.email, wanted.email) };
  const kept = before.emailVerified && stored.email === before.email;
  return {
    ...stored,
    emailVerified:
      typeof given.emailVerified === 'boolean' ? isVerifiedAddress({ email: stored.email, emailVerified: given.emailVerified }) : kept,
  };
}

function withPassword({ status, statusChanged, activated }: User, passwordHash: string | null, now: Date): Partial<User> {
  if (passwordHash === null) return {};
  const fresh = status === 'PASSWORD_EXPIRED' || status === 'PROVISIONED';
  return {
    passwordHash,
    passwordChanged: now,
    lockedUntil: null,
    activated: fresh ? (activated ?? now) : activated,
    status: fresh ? 'ACTIVE' : status,
    statusChanged: fresh ? now : statusChanged,
  };
}

/**
 * A user who cannot sign in yet is invited on activation.
 * @throws {ApiError} wrong state: the invitation cannot be mailed
 */
async function welcome(trx: Executor, services: Services, user: User, request: RequestContext): Promise<void> {
  if (user.passwordHash !== null) return askToVerify(trx, services, user, request);
  if (user.status !== 'PROVISIONED') return;
  await mailPasswordLink(trx, services, await requireMail(trx, services, user, request), 'invitation', {});
}

/** A new address is unverified unless the administrator says otherwise; until then the claim `email_verified` is false. */
async function askToVerify(trx: Executor, services: Services, user: User, request: RequestContext): Promise<void> {
  if (user.emailVerified || user.status !== 'ACTIVE' || !hasMailAddress(user)) return;
  if (!(await isMailPossible(services, request, trx))) return;
  await mailVerification(trx, services, user, user.email, {});
}

async function joinOrganization(trx: Executor, user: User, { orgId, depId }: NewUser): Promise<void> {
  if (orgId === undefined) return;
  const missing = await insertMembership(trx, { orgId, userId: user.id, depId }, user.created);
  if (missing !== undefined) throw validation([{ field: missing, message: 'does not exist' }]);
}

/** @returns the user in any status; undefined if they do not exist */
export const findUser = ({ knex }: Database, id: string): Promise<User | undefined> => findUserById(knex, id);
