/**
 * Finds the local user for an authenticated external user: by a link, otherwise by a verified e-mail address if
 * features/identity-providers/upstream-link.policy.ts allows it, otherwise by creating a user. Everything happens in one transaction with its audit
 * events; of several concurrent first sign-ins, one creates the user and the others find it.
 */

import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { composedName, isSameAddress, keepSpelling } from '../../platform/dns/address-spelling.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { findRights } from '../administrators/roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { type RequestContext, SYSTEM } from '../audit/audit-event.policy.ts';
import { listGroupIds } from '../groups/groups.store.ts';
import { notifyFormerAddress } from '../mail/mail.service.ts';
import { connectionOf, isOutside, joinOrganization } from '../organization-providers/automatic-membership.service.ts';
import { findOrgIds } from '../organizations/memberships.store.ts';
import { hasFactor } from '../second-factors/factors.store.ts';
import { endSessionsLinksAndTokens } from '../sign-in/credential-revocation.service.ts';
import { deleteLinksOf } from '../sign-in/one-time-links.store.ts';
import type { SignedInUser } from '../sign-in/sign-in.service.ts';
import { claimAttributes } from '../user-schema/attribute-values.service.ts';
import { shareLockUserSchema } from '../user-schema/user-schema.store.ts';
import { acceptInvitation } from '../users/user-lifecycle.service.ts';
import { userProfile } from '../users/user-profile.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { createUser, profileFields } from '../users/users.service.ts';
import { findTakenNames, findUserById, findUserByLogin, findUserByUniqueEmail, lockUser, updateUser } from '../users/users.store.ts';
import { linkUser } from './identity-provider-links.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { identityProviderTarget } from './identity-providers.service.ts';
import {
  findIdentityLink,
  findIdentityProvider,
  findLinkOfSubject,
  hasLinks,
  lockIdentityProvider,
  touchLink,
} from './identity-providers.store.ts';
import { filledAttributes, type LeftOut } from './upstream-attributes.service.ts';
import { knownAs, mappedLogin } from './upstream-claims.policy.ts';
import type { UpstreamIdentity } from './upstream-exchange.service.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';
import { linkRefusal } from './upstream-link.policy.ts';

/** @throws {UpstreamFailure} the caller records it */
export async function signInUpstream(
  services: Services,
  provider: IdentityProvider,
  identity: UpstreamIdentity,
  request: RequestContext,
): Promise<SignedInUser> {
  const asService = { ...request, actor: SYSTEM.actor, roles: SYSTEM.roles ?? [] };
  return inOneTransaction(services, (within, trx) => admit({ services: within, trx, provider, identity, request: asService }));
}

/** Records a failed sign-in with the provider. */
export async function recordUpstreamFailure(
  { database }: Services,
  provider: Pick<IdentityProvider, 'id' | 'name'>,
  { reason, details }: UpstreamFailure,
  request: RequestContext,
): Promise<void> {
  await database.transaction((trx) =>
    recordEvent(trx, {
      eventType: 'user.authentication.auth_via_IDP',
      displayMessage: 'Authenticate user via identity provider',
      request,
      targets: [identityProviderTarget(provider)],
      failure: reason,
      ...(details && { after: details }),
    }),
  );
}

interface Admission {
  readonly services: Services;
  readonly trx: Executor;
  readonly provider: IdentityProvider;
  readonly identity: UpstreamIdentity;
  /** The actor is the service, because the user is not known yet. */
  readonly request: RequestContext;
}

async function admit(admission: Admission): Promise<SignedInUser> {
  const { trx, provider, identity, request } = admission;
  const linked = await findLinkOfSubject(trx, provider.id, identity.subject);
  // The provider may have been deleted or deactivated meanwhile.
  if (linked !== undefined && (await findIdentityProvider(trx, provider.id))?.status !== 'ACTIVE') throw notOffered();
  const found: Admitted = linked === undefined ? await firstSignIn(admission) : { user: await lockUser(trx, linked.userId) };
  const { user, isNew = false } = found;
  if (user?.status !== 'ACTIVE') throw new UpstreamFailure('not-admitted', 'USER_NOT_ACTIVE');
  const isMastered = linked !== undefined && provider.policy.provisioning.profileMaster;
  const { user: mastered, leftOut = [] } = isMastered ? await masterProfile(admission, user) : { ...found, user };

  const now = present();
  await touchLink(trx, { idpId: provider.id, userId: user.id, knownAs: knownAs(identity.claims, identity.email), lastUsed: now });
  const userContext: RequestContext = { ...request, actor: { id: user.id, type: 'User', displayName: mastered.login }, roles: [] };
  const targets = [userTarget(mastered), identityProviderTarget(provider)];
  const { amr, acr } = identity.claims;
  await joinOrganization(trx, provider, { email: identity.email, user: mastered, isNew }, request);
  await recordEvent(trx, {
    eventType: 'user.authentication.auth_via_IDP',
    displayMessage: 'Authenticate user via identity provider',
    request: userContext,
    targets,
    // The provider's methods are ignored; its sign-in counts as one factor.
    after: {
      ...{ idpId: provider.id, externalId: identity.subject, amr: words(amr), acr: words([acr])[0] },
      ...(leftOut.length > 0 && { attributesLeftOut: leftOut }),
    },
  });
  return { id: user.id, login: mastered.login, authenticatedAt: now };
}

const notOffered = () => new UpstreamFailure('not-offered', 'IDP_NOT_ACTIVE');
const words = (values: unknown): string[] =>
  (Array.isArray(values) ? values : [])
    .filter((value): value is string => typeof value === 'string' && value.length <= 100 && isPrintable(value))
    .slice(0, 10);

interface Admitted {
  readonly user: User | undefined;
  /** Was the account created by this sign-in? */
  readonly isNew?: boolean;
  /** Attributes that were omitted because their claims were invalid. */
  readonly leftOut?: readonly LeftOut[];
}

/** First sign-in of the subject. The provider's row is locked, so the first of several concurrent sign-ins decides. */
async function firstSignIn(admission: Admission): Promise<Admitted> {
  const { trx, provider, identity } = admission;
  if ((await lockIdentityProvider(trx, provider.id))?.status !== 'ACTIVE') throw notOffered();
  const linked = await findLinkOfSubject(trx, provider.id, identity.subject);
  if (linked !== undefined) return { user: await lockUser(trx, linked.userId) };

  const candidate = identity.email === undefined ? undefined : await findByEmail(trx, provider, identity.email);
  if (candidate !== undefined) return { user: await linkCandidate(admission, candidate, identity.email ?? '') };
  if (provider.policy.provisioning.action !== 'AUTO') throw new UpstreamFailure('not-admitted', 'NO_LINKED_USER');
  return { ...(await createNew(admission)), isNew: true };
}

/** User matching the verified address: by user name, by an unshared e-mail address, or by either if both lead to the same user. */
async function findByEmail(trx: Executor, { policy }: IdentityProvider, email: string): Promise<User | undefined> {
  const { matchType } = policy.subject;
  const namedLogin = matchType === 'EMAIL' ? undefined : await findUserByLogin(trx, email);
  const namedEmail = matchType === 'USERNAME' ? undefined : await findUserByUniqueEmail(trx, email);
  const byLogin = namedLogin && isSameAddress(namedLogin.login, email) ? namedLogin : undefined;
  const byEmail = namedEmail && isSameAddress(namedEmail.email, email) ? namedEmail : undefined;
  if (byLogin !== undefined && byEmail !== undefined && byLogin.id !== byEmail.id) {
    throw new UpstreamFailure('not-admitted', 'SEVERAL_USERS_MATCH');
  }
  return byLogin ?? byEmail;
}

async function linkCandidate(admission: Admission, { id }: User, email: string): Promise<User> {
  const { services, trx, provider, identity, request } = admission;
  const user = await lockUser(trx, id);
  if (user === undefined) throw new UpstreamFailure('not-admitted', 'USER_NOT_ACTIVE');
  const isAddress = isSameAddress(user.email, email);
  const orgIds = await findOrgIds(trx, id);
  const connection = await connectionOf(trx, provider.id, email);
  const untouched = user.passwordHash === null && user.lastLogin === null && !(await hasLinks(trx, id)) && !(await hasFactor(trx, id));
  const emailProved = isAddress && user.emailVerified;
  const refusal = linkRefusal(provider.policy, {
    // Invited: the provider verifies the mailbox as the link would.
    active: user.status === 'ACTIVE' || user.status === 'PROVISIONED',
    administrator: (await findRights(trx, id)).length > 0,
    emailProved,
    untouched,
    linkedAlready: (await findIdentityLink(trx, provider.id, id)) !== undefined,
    groupIds: await listGroupIds(trx, id),
    orgIds,
    connection,
    isOutside: await isOutside(trx, provider.id, email),
  });
  if (refusal !== undefined) throw new UpstreamFailure('not-admitted', refusal);
  await linkUser(services, provider.id, id, identity.subject, request);
  // A link to choose a password would give anyone who has it access to the user's account.
  await deleteLinksOf(trx, id);
  // Someone else may have signed in with the address before its owner.
  if (!emailProved && !untouched) await endSessionsLinksAndTokens(trx, id);
  await acceptInvitation(trx, user, request);
  if (isAddress && !user.emailVerified) await updateUser(trx, id, { emailVerified: true });
  return (await findUserById(trx, id)) ?? user;
}

async function createNew(admission: Admission): Promise<Admitted> {
  const { services, trx, provider, identity, request } = admission;
  const { orgId, groups } = provider.policy.provisioning;
  const given = mappedLogin(provider.policy, identity.claims, identity.email);
  if (given === undefined) throw new UpstreamFailure('no-email', 'NO_VERIFIED_LOGIN');
  if (await isOutside(trx, provider.id, identity.email)) throw new UpstreamFailure('not-admitted', 'EMAIL_NOT_OF_ORGANIZATION');
  const { values, leftOut, missing } = await filledAttributes(trx, provider.policy, identity, undefined);
  if (missing.length > 0)
    throw new UpstreamFailure('not-admitted', 'REQUIRED_ATTRIBUTE', undefined, { missing, attributesLeftOut: leftOut });
  const profile = userProfile.safeParse({ ...values, login: given });
  if (!profile.success) throw new UpstreamFailure('no-user-name', 'LOGIN_NOT_ALLOWED');
  // A user with one of these names is a different user, even where addresses can be shared.
  const names = { id: '', login: profile.data.login, email: profile.data.email ?? identity.email ?? null };
  if ((await findTakenNames(trx, names)).size > 0) throw new UpstreamFailure('not-admitted', 'NAME_TAKEN');
  try {
    const created = await createUser(
      services,
      { profile: profile.data, isByMachine: true, activate: true, orgId, groupIds: groups.assignments },
      request,
    );
    const emailVerified = created.email !== null && created.email === identity.email;
    if (emailVerified) await updateUser(trx, created.id, { emailVerified });
    await linkUser(services, provider.id, created.id, identity.subject, request);
    return { user: { ...created, emailVerified }, leftOut };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Either the user name is taken, or the organization or a group has just been deleted.
    throw new UpstreamFailure('not-admitted', error.errorCode === 'E0000014' ? 'NAME_TAKEN' : 'PROVISIONING_NOT_POSSIBLE', error);
  }
}

/**
 * Updates attributes from the claims; attributes without a claim stay. Addresses that belong to another user, or that the provider is not trusted
 * for, are omitted.
 */
async function masterProfile(
  { trx, provider, identity, request }: Admission,
  before: User,
): Promise<{ user: User; leftOut: readonly LeftOut[] }> {
  const { values, leftOut } = await filledAttributes(trx, provider.policy, identity, before);
  const { email: given, ...attributes } = values;
  const isVouchedFor = !(await isOutside(trx, provider.id, identity.email));
  const isUsable = typeof given === 'string' && isVouchedFor && (await findTakenNames(trx, { ...before, email: given })).size === 0;
  const email = isUsable ? keepSpelling(before.email, composedName(given)) : before.email;
  const emailVerified =
    email === before.email
      ? before.emailVerified || (isVouchedFor && identity.email !== undefined && isSameAddress(email, identity.email))
      : true;
  const after: User = { ...before, email, emailVerified, profile: { ...before.profile, ...attributes } };
  const described = (user: User) => ({ profile: profileFields(user) });
  if (JSON.stringify(described(after)) === JSON.stringify(described(before))) return { user: before, leftOut };
  const changes = { email, emailVerified: email !== null && emailVerified, profile: after.profile, lastUpdated: present() };
  await updateUser(trx, before.id, changes);
  await claimAttributes(trx, await shareLockUserSchema(trx), before, after, SYSTEM);
  if (email !== before.email) await deleteLinksOf(trx, before.id);
  await notifyFormerAddress(trx, before, email, request);
  await recordEvent(trx, {
    eventType: 'user.account.update_profile',
    displayMessage: 'Update user profile',
    request,
    targets: [userTarget(after)],
    before: { profile: profileFields(before) },
    after: { profile: profileFields(after) },
  });
  return { user: { ...after, ...changes }, leftOut };
}
