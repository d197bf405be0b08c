/** Assigns and removes administrator roles. A change takes effect with the next request; an API token has its creator's current roles. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, notFound, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { revokeForGain, revokeForGainAfterCommit } from '../sign-in/credential-revocation.service.ts';
import { endApiTokens } from '../users/account-state.store.ts';
import { LAST_SUPER_ADMIN } from '../users/user-lifecycle.policy.ts';
import { findVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import type { AssignedRole, Role } from './administration.policy.ts';
import { deleteRole, findRights, findRole, findRoles, insertRole, isLastSuperAdmin, lockSuperAdmins } from './roles.store.ts';

/** @throws {ApiError} not found */
export async function listRoles(services: Services, idOrLogin: string, request: RequestContext): Promise<AssignedRole[]> {
  const { knex } = services.database;
  return findRoles(knex, (await findVisibleUser(knex, idOrLogin, request)).id);
}

/** @throws {ApiError} not found */
export async function getRole(services: Services, idOrLogin: string, roleId: string, request: RequestContext): Promise<AssignedRole> {
  const { knex } = services.database;
  return requireFound(await findRole(knex, (await findVisibleUser(knex, idOrLogin, request)).id, roleId), roleId, 'Role');
}

/** @throws {ApiError} as {@link grantRoles} */
export async function grantRole(services: Services, idOrLogin: string, role: Role, request: RequestContext): Promise<AssignedRole> {
  const [granted] = await grantRoles(services, [idOrLogin], role, request);
  if (granted === undefined) throw notFound(idOrLogin, 'User');
  return granted;
}

/**
 * Gives all these users the role, or none of them.
 * @throws {ApiError} not found; validation: the organization does not exist; conflict: a user already has the role
 */
export async function grantRoles(
  services: Services,
  idsOrLogins: readonly string[],
  role: Role,
  request: RequestContext,
): Promise<AssignedRole[]> {
  const grants = await services.database.transaction(async (trx) => {
    const grants = [];
    // In one order, so that two requests for the same users do not wait for each other.
    for (const idOrLogin of [...idsOrLogins].sort()) grants.push(await grantWithin(trx, idOrLogin, role, request));
    return grants;
  });
  // Includes rows written while the transaction was open.
  for (const { user, rises } of grants) await revokeForGainAfterCommit(services.database.knex, user.id, rises, request);
  return grants.map(({ granted }) => granted);
}

async function grantWithin(trx: Executor, idOrLogin: string, role: Role, request: RequestContext) {
  const user = await lockChangeableUser(trx, idOrLogin, request);
  const rises = await revokeForGain(trx, user.id, role, request);
  const granted = await insertRole(trx, user.id, role, present());
  if (granted === 'no such organization') throw validation([{ field: 'orgId', message: 'does not exist' }]);
  if (granted === 'held already') throw conflict({ field: 'type', message: `${user.login} already has this role` });
  await recordEvent(trx, {
    eventType: 'user.account.privilege.grant',
    displayMessage: 'Grant user privilege',
    request,
    targets: targets(user, granted),
    after: described(granted),
  });
  return { user, granted, rises };
}

/**
 * Removing a user's last role also revokes their API tokens.
 * @throws {ApiError} not found; wrong state: nobody would be left who administers the service
 */
export async function revokeRole(services: Services, idOrLogin: string, roleId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    await lockSuperAdmins(trx);
    const user = await lockChangeableUser(trx, idOrLogin, request);
    const role = requireFound(await findRole(trx, user.id, roleId), roleId, 'Role');
    if (role.type === 'SUPER_ADMIN' && (await isLastSuperAdmin(trx, user.id))) throw wrongState(LAST_SUPER_ADMIN);
    await deleteRole(trx, role.id);
    const isWithoutRoles = (await findRights(trx, user.id)).length === 0;
    const apiTokens = isWithoutRoles ? await endApiTokens(trx, user.id) : 0;
    await recordEvent(trx, {
      eventType: 'user.account.privilege.revoke',
      displayMessage: 'Revoke user privilege',
      request,
      targets: targets(user, role),
      before: described(role),
      ...(apiTokens > 0 && { after: { apiTokensRevoked: apiTokens } }),
    });
  });
}

const targets = (user: User, { id, type }: AssignedRole) => [userTarget(user), { id, type: 'Role', displayName: type }];
const described = ({ type, orgId }: AssignedRole) => ({ type, orgId });
