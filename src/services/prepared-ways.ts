/**
 * Ends every way to sign in as a user that an organization's administrator may have prepared: password, second factors, passkeys, linked accounts, links,
 * sessions and tokens. For the moment in which the user gets more rights than that administrator has.
 */
import { type Gain, risesAbove } from '../policy/administration.ts';
import { endApiTokens, endBrowserSessions, endOAuthTokens } from '../store/account-state.ts';
import type { Executor } from '../store/database.ts';
import { deleteLink, listLinksOf } from '../store/identity-providers.ts';
import { findOrgIdsEver, forgetFormerMemberships } from '../store/memberships.ts';
import { deleteLinksOf } from '../store/one-time-links.ts';
import { findRoles } from '../store/roles.ts';
import { lockUser, type User, updateUser } from '../store/users.ts';
import type { RequestContext } from './audit.ts';
import { removeFactors } from './factors.ts';
import { recordLink } from './identity-provider-links.ts';
import { rememberReplaced } from './password-policy.ts';
import { applyStep } from './user-lifecycle.ts';

/** Would this role or organization open more to the user than to the administrators who can change the user, or could before? */
export const isRise = async (executor: Executor, userId: string, gain: Gain): Promise<boolean> =>
  risesAbove({ orgIds: await findOrgIdsEver(executor, userId), roles: await findRoles(executor, userId) }, gain);

/**
 * Afterwards the user has no way to sign in, and needs a link to choose a password.
 * @param trx before the role or membership is added
 */
export async function endPreparedWays(trx: Executor, userId: string, request: RequestContext): Promise<void> {
  const user = await lockUser(trx, userId);
  if (user === undefined) return;
  await removeFactors(trx, user, request);
  for (const { idpId, name, subject } of await listLinksOf(trx, user.id)) {
    await deleteLink(trx, idpId, user.id);
    await recordLink(trx, 'unlink', { id: idpId, name }, user, subject, request);
  }
  await endPassword(trx, user, request);
  await forgetFormerMemberships(trx, user.id);
  await endHeld(trx, user.id);
}

/** Sessions, links and tokens. Once more after the commit: a request under way may have written one. */
export async function endHeld(executor: Executor, userId: string): Promise<void> {
  await deleteLinksOf(executor, userId);
  await endBrowserSessions(executor, userId);
  await endOAuthTokens(executor, userId);
  await endApiTokens(executor, userId);
}

async function endPassword(trx: Executor, user: User, request: RequestContext): Promise<void> {
  if (user.passwordHash === null) return;
  if (user.status === 'ACTIVE' || user.status === 'PASSWORD_EXPIRED') {
    await applyStep(trx, user, 'reset_password', request);
    return;
  }
  await rememberReplaced(trx, user);
  await updateUser(trx, user.id, { passwordHash: null });
}
