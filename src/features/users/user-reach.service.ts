/** Finds the user of a call and checks the caller's access. features/administrators/administration.policy.ts defines the scope of administrators. */

import type { Executor } from '../../platform/database/database.ts';
import { forbidden, requireFound } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { isPersonWithin, mayChangeOwners, type Reach, reachOf } from '../administrators/administration.policy.ts';
import { findRights } from '../administrators/roles.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findMemberNamed, findOrgIds, isJoinedOnly } from '../organizations/memberships.store.ts';
import type { User } from './users.resource.ts';
import { findUserById, findUserByLogin, lockUser } from './users.store.ts';

/**
 * @param idOrLogin IDs take precedence: a user name that looks like another user's ID does not hide that user
 * @param reach organizations of which the user must be a member
 */
export async function findNamedUser(executor: Executor, idOrLogin: string, reach: Reach = 'everything'): Promise<User | undefined> {
  if (!isPrintable(idOrLogin)) return undefined;
  if (reach !== 'everything') return findMemberNamed(executor, idOrLogin, reach);
  return (await findUserById(executor, idOrLogin)) ?? (await findUserByLogin(executor, idOrLogin));
}

/** @throws {ApiError} not found, also if the caller cannot see the user */
export async function findVisibleUser(executor: Executor, idOrLogin: string, request: RequestContext): Promise<User> {
  const reach = reachOf(request.roles ?? [], 'read', 'MANAGE_MEMBERS');
  return requireFound(await findNamedUser(executor, idOrLogin, reach), idOrLogin, 'User');
}

/**
 * Like `findVisibleUser`, for data about where a user is: refused to callers who see the user only as a member of one of several organizations.
 * @throws {ApiError} not found, forbidden
 */
export async function findCloselyVisibleUser(executor: Executor, idOrLogin: string, request: RequestContext): Promise<User> {
  const user = await findVisibleUser(executor, idOrLogin, request);
  if (reachOf(request.roles ?? [], 'read') !== 'everything' && !(await mayChangeUser(executor, user.id, request))) throw forbidden();
  return user;
}

/**
 * Finds the user and locks their row for a change.
 * @throws {ApiError} not found, also if the caller cannot see the user; forbidden if they can only see them
 */
export async function lockChangeableUser(trx: Executor, idOrLogin: string, request: RequestContext): Promise<User> {
  const { id } = await findVisibleUser(trx, idOrLogin, request);
  const user = requireFound(await lockUser(trx, id), idOrLogin, 'User');
  if (!(await mayChangeUser(trx, id, request))) throw forbidden();
  return user;
}

/** The request with the authenticated user as the actor. */
export const asUser = (request: RequestContext, { id, login }: Pick<User, 'id' | 'login'>): RequestContext => ({
  ...request,
  actor: { id, type: 'User', displayName: login },
});
/** Can the caller change this visible user? */
export async function mayChangeUser(executor: Executor, userId: string, request: RequestContext): Promise<boolean> {
  const reach = reachOf(request.roles ?? [], 'write');
  if (reach === 'everything') return true;
  const roles = await findRights(executor, userId);
  // An administrator who could set an owner's password could become the owner.
  const isOfOwners = roles.some(({ isOwner, orgId = '' }) => isOwner === true && !mayChangeOwners(request.roles ?? [], orgId));
  const [orgIds, isJoined] = [await findOrgIds(executor, userId), await isJoinedOnly(executor, userId)];
  return !isOfOwners && isPersonWithin(reach, { orgIds, roles, isJoined });
}

/** The user as the target of audit events. */
export const userTarget = ({ id, login }: Pick<User, 'id' | 'login'>) => ({ id, type: 'User', displayName: login });
