/**
 * Operations on claims that an authorization server adds to its tokens. A change takes effect with the next request, in other processes within a
 * second.
 */

import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { changeServerPart, refuseOneMore } from '../authorization-servers/authorization-server-parts.service.ts';
import { getAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import { listScopes } from '../scopes/scopes.store.ts';
import { shareLockUserSchema } from '../user-schema/user-schema.store.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import { claimProblems } from './claim-settings.policy.ts';
import { deleteClaim as deleteRow, findClaim, insertClaim, listClaims, readClaims, updateClaim as updateRow } from './claims.store.ts';
import type { ServerClaim } from './custom-claims.policy.ts';
export type ClaimSettings = Omit<ServerClaim, 'id'>;

/** Oldest first. @throws {ApiError} not found */
export async function listServerClaims(services: Services, serverId: string, window: Window): Promise<Page<ServerClaim>> {
  await getAuthorizationServer(services, serverId);
  return readClaims(services.database.knex, serverId, window);
}

/** @throws {ApiError} not found: the server or the claim */
export async function getServerClaim(services: Services, serverId: string, id: string): Promise<ServerClaim> {
  await getAuthorizationServer(services, serverId);
  return requireClaim(services.database.knex, serverId, id);
}

/** @throws {ApiError} not found, wrong state of the built-in server, validation, conflict of type and name */
export async function createServerClaim(
  services: Services,
  serverId: string,
  settings: ClaimSettings,
  request: RequestContext,
): Promise<ServerClaim> {
  const claim = { ...settings, id: newId('clm') };
  return changeServerPart(services, serverId, {}, async (trx) => {
    refuseOneMore('claims', await listClaims(trx, serverId));
    await checkClaim(trx, serverId, claim);
    if (!(await insertClaim(trx, serverId, claim))) throw nameTaken();
    await record(trx, 'created', request, { after: claim });
    return claim;
  });
}

/** Replaces a claim's settings. @throws {ApiError} as `createServerClaim` */
export async function updateServerClaim(
  services: Services,
  serverId: string,
  id: string,
  settings: ClaimSettings,
  request: RequestContext,
): Promise<ServerClaim> {
  return changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requireClaim(trx, serverId, id);
    const after = { ...settings, id };
    await checkClaim(trx, serverId, after);
    if (!(await updateRow(trx, after))) throw nameTaken();
    await record(trx, 'updated', request, { before, after });
    return after;
  });
}

/** @throws {ApiError} not found, wrong state of the built-in server */
export async function deleteServerClaim(services: Services, serverId: string, id: string, request: RequestContext): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requireClaim(trx, serverId, id);
    await deleteRow(trx, id);
    await record(trx, 'deleted', request, { before });
  });
}

/** Checks the claim against the server's other claims and scopes. @throws {ApiError} validation */
async function checkClaim(trx: Executor, serverId: string, claim: ServerClaim): Promise<void> {
  const scopes = (await listScopes(trx, serverId)).map(({ name }) => name);
  const claims = (await listClaims(trx, serverId)).filter(({ id }) => id !== claim.id);
  // The lock on the schema keeps anyone from removing the claim's attribute before the commit.
  const { attributes } = await shareLockUserSchema(trx);
  const names = ['login', 'email', ...BASE_ATTRIBUTES, ...attributes.map(({ name }) => name)];
  const problems = claimProblems(claim, { scopes, claims, attributes: names });
  if (problems.length > 0) throw validation(problems);
}

const requireClaim = async (executor: Executor, serverId: string, id: string): Promise<ServerClaim> =>
  requireFound(await findClaim(executor, serverId, id), id, 'OAuth2Claim');

function record(
  trx: Executor,
  step: 'created' | 'updated' | 'deleted',
  request: RequestContext,
  { before, after }: { before?: ServerClaim; after?: ServerClaim },
): Promise<string> {
  const { id = '', name = '' } = after ?? before ?? {};
  return recordEvent(trx, {
    eventType: `oauth2.claim.${step}`,
    displayMessage: `OAuth2 claim is ${step}`,
    request,
    targets: [{ id, type: 'OAuth2Claim', displayName: name }],
    ...(before && { before }),
    ...(after && { after }),
  });
}

const nameTaken = () => conflict({ field: 'name', message: 'another claim of this type has this name. Choose another name' });
