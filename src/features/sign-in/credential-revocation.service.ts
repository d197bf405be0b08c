/**
 * Ends every way to sign in as a user that an organization's administrator may have prepared: password, second factors, passkeys, linked
 * accounts, links, sessions and tokens. Used when the user gets more rights than that administrator has.
 */

import type { Executor } from '../../platform/database/database.ts';
import { type Gain, gainsBeyondReach } from '../administrators/administration.policy.ts';
import { findRights } from '../administrators/roles.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { recordLink } from '../identity-providers/identity-provider-links.service.ts';
import { deleteLink, listLinksOf, listLinksOfOtherOrganizations, type NamedLink } from '../identity-providers/identity-providers.store.ts';
import { findRequiredProvider } from '../organization-providers/home-realm.store.ts';
import { findOrgIds, findOrgIdsEver, forgetFormerMemberships } from '../organizations/memberships.store.ts';
import { rememberReplaced } from '../passwords/password-policy.service.ts';
import { removeFactors } from '../second-factors/factors.service.ts';
import { endApiTokens, endBrowserSessions, endOAuthTokens } from '../users/account-state.store.ts';
import { applyStep } from '../users/user-lifecycle.service.ts';
import type { User } from '../users/users.resource.ts';
import { lockUser, updateUser } from '../users/users.store.ts';
import { deleteLinksOf } from './one-time-links.store.ts';

/**
 * Revokes access that others may have to a user who gets a role: everything if the role raises the user above administrators who could
 * change them; otherwise links and, unless the user acts themselves, sessions. With any permission, also accounts at providers of other
 * organizations, whose owners could sign in as the user.
 * @param trx before the role is written
 * @returns whether the user lost a way to sign in
 */
export async function revokeForGain(trx: Executor, userId: string, gain: Gain, request: RequestContext): Promise<boolean> {
  const rises = await gainsRights(trx, userId, gain);
  if (rises) await revokeCredentials(trx, userId, gain, request);
  else await endWhatOthersMayHold(trx, userId, request);
  return (!gain.isMembership && (await endForeignAccounts(trx, userId, gain, request))) || rises;
}

/** @returns whether there were any */
async function endForeignAccounts(trx: Executor, userId: string, { orgId }: Gain, request: RequestContext): Promise<boolean> {
  const links = await listLinksOfOtherOrganizations(trx, userId, orgId);
  const user = links.length === 0 ? undefined : await lockUser(trx, userId);
  if (user === undefined) return false;
  for (const link of links) await endLink(trx, user, link, request);
  await endSessionsLinksAndTokens(trx, userId);
  return true;
}

async function endLink(trx: Executor, user: User, { idpId, name, subject }: NamedLink, request: RequestContext): Promise<void> {
  await deleteLink(trx, idpId, user.id);
  await recordLink(trx, 'unlink', { id: idpId, name }, user, subject, request);
}

/** Call after the commit, for writes that were concurrent with the transaction of `revokeForGain`. @param rises its result */
export const revokeForGainAfterCommit = (executor: Executor, userId: string, rises: boolean, request: RequestContext): Promise<void> =>
  rises ? endSessionsLinksAndTokens(executor, userId) : endWhatOthersMayHold(executor, userId, request);

async function endWhatOthersMayHold(executor: Executor, userId: string, request: RequestContext): Promise<void> {
  await deleteLinksOf(executor, userId);
  if (userId !== request.actor.id) await endBrowserSessions(executor, userId);
}

/** Does this role or organization give the user more rights than the administrators have who can or could change the user? */
export const gainsRights = async (executor: Executor, userId: string, gain: Gain): Promise<boolean> =>
  gainsBeyondReach(
    {
      orgIds: await findOrgIds(executor, userId),
      orgIdsEver: await findOrgIdsEver(executor, userId),
      roles: await findRights(executor, userId),
    },
    gain,
  );

/**
 * Afterwards the user has no way to sign in, and needs a link to choose a password. Only the account at the required provider remains;
 * otherwise a second organization could be used to bypass the requirement. For owners, and with a role for the service, no provider is
 * required until they connect it.
 * @param trx before the role or membership is added
 */
export async function revokeCredentials(trx: Executor, userId: string, gain: Gain, request: RequestContext): Promise<void> {
  const user = await lockUser(trx, userId);
  if (user === undefined) return;
  const required = gain.orgId === undefined || gain.isOwner ? undefined : await findRequiredProvider(trx, user.id);
  await removeFactors(trx, user, request);
  for (const link of await listLinksOf(trx, user.id)) if (link.idpId !== required?.id) await endLink(trx, user, link, request);
  await endPassword(trx, user, required !== undefined, request);
  await forgetFormerMemberships(trx, user.id);
  await endSessionsLinksAndTokens(trx, user.id);
}

/** Ends sessions, links and tokens. Call again after the commit: a concurrent request may have written one. */
export async function endSessionsLinksAndTokens(executor: Executor, userId: string): Promise<void> {
  await deleteLinksOf(executor, userId);
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
  await endApiTokens(executor, userId);
}

/** @param hasProvider the user signs in with a provider: requiring a new password would lock them out */
async function endPassword(trx: Executor, user: User, hasProvider: boolean, request: RequestContext): Promise<void> {
  if (user.passwordHash === null) return;
  if (!hasProvider && (user.status === 'ACTIVE' || user.status === 'PASSWORD_EXPIRED')) {
    await applyStep(trx, user, 'reset_password', request);
    return;
  }
  await rememberReplaced(trx, user);
  await updateUser(trx, user.id, { passwordHash: null });
}
