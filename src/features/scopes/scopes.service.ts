/**
 * Operations on scopes of an authorization server (RFC 6749 section 3.3). A change takes effect with the next request, in other processes within a
 * second.
 */

import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { changeServerPart, refuseOneMore } from '../authorization-servers/authorization-server-parts.service.ts';
import { getAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import { BUILT_IN } from '../authorization-servers/server-id.policy.ts';
import { scopeNameProblem } from '../claims/claim-settings.policy.ts';
import { forgetScope } from '../consents/consents.store.ts';
import type { Scope, ScopeSettings } from './scopes.resource.ts';
import {
  deleteScope as deleteRow,
  findScope,
  findScopeUses,
  insertScope,
  listScopes,
  readScopes,
  updateScope as updateRow,
} from './scopes.store.ts';

/** Oldest first. @param q words of the names @throws {ApiError} not found */
export async function listServerScopes(services: Services, serverId: string, q: string | undefined, window: Window): Promise<Page<Scope>> {
  await getAuthorizationServer(services, serverId);
  return readScopes(services.database.knex, serverId, q, window);
}

/** @throws {ApiError} not found: the server or the scope */
export async function getServerScope(services: Services, serverId: string, id: string): Promise<Scope> {
  await getAuthorizationServer(services, serverId);
  return requireScope(services.database.knex, serverId, id);
}

/** @throws {ApiError} not found, wrong state of the built-in server, validation of the name, conflict of the name */
export async function createServerScope(
  services: Services,
  serverId: string,
  settings: ScopeSettings,
  request: RequestContext,
): Promise<Scope> {
  requireName(settings.name);
  const scope = { ...settings, id: newId('scp'), system: false };
  return changeServerPart(services, serverId, {}, async (trx) => {
    refuseOneMore('scopes', await listScopes(trx, serverId));
    if (!(await insertScope(trx, serverId, scope))) throw nameTaken();
    await record(trx, 'created', request, { after: scope });
    return scope;
  });
}

/**
 * Replaces a scope's settings. A new name means another scope: consents to the old one do not apply.
 * @throws {ApiError} not found; validation of the name; conflict: the name is taken, or conditions refer to the old one; wrong state: everything
 * except consent and translations of the built-in server's scopes, a standard scope's name, and the consent of `openid`
 */
export async function updateServerScope(
  services: Services,
  serverId: string,
  id: string,
  settings: ScopeSettings,
  request: RequestContext,
): Promise<Scope> {
  const change = async (trx: Executor): Promise<Scope> => {
    const before = await requireScope(trx, serverId, id);
    if (serverId === BUILT_IN) requireConsentAlone(before, settings);
    if (settings.name !== before.name) await abandonName(trx, serverId, before, 'renamed');
    if (settings.name !== before.name) requireName(settings.name);
    if (before.name === 'openid' && settings.consent !== before.consent)
      throw wrongState('the consent setting of the scope openid cannot be changed');
    if (!(await updateRow(trx, id, settings))) throw nameTaken();
    const after = { ...before, ...settings };
    await record(trx, 'updated', request, { before, after });
    return after;
  };
  return changeServerPart(services, serverId, {}, change, true);
}

/** Fields of built-in scopes that the operator can change. */
const OF_OPERATOR: ReadonlySet<keyof ScopeSettings> = new Set(['consent', 'translations']);

function requireConsentAlone(before: Scope, settings: ScopeSettings): void {
  const fixed = (Object.keys(settings) as (keyof ScopeSettings)[]).filter(
    (name) => !OF_OPERATOR.has(name) && settings[name] !== before[name],
  );
  if (fixed.length > 0)
    throw wrongState(`these settings of a scope of the built-in authorization server cannot be changed: ${fixed.join(', ')}`);
}

/** Deletes consents for the scope. @throws {ApiError} not found, wrong state of a standard scope, conflict: conditions name it */
export async function deleteServerScope(services: Services, serverId: string, id: string, request: RequestContext): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requireScope(trx, serverId, id);
    await abandonName(trx, serverId, before, 'deleted');
    await deleteRow(trx, id);
    await record(trx, 'deleted', request, { before });
  });
}

/** Names of the claims and of the access rules, active or not, whose conditions name a scope of the server. */
export const scopeUses = ({ database }: Services, serverId: string, name: string) => findScopeUses(database.knex, serverId, name);

/** No reference to a deleted name may remain: a later scope with the same name would inherit it. */
async function abandonName(trx: Executor, serverId: string, { name, system }: Scope, how: 'renamed' | 'deleted'): Promise<void> {
  if (system) throw wrongState(`a standard scope cannot be ${how}`);
  const { claims, rules } = await findScopeUses(trx, serverId, name);
  const uses = [...claims.map((claim) => `claim ${claim}`), ...rules.map((rule) => `rule ${rule}`)];
  if (uses.length > 0) throw conflict({ field: 'name', message: `is used in conditions: ${uses.join(', ')}. Remove it there first` });
  await forgetScope(trx, serverId, name);
}

const requireScope = async (executor: Executor, serverId: string, id: string): Promise<Scope> =>
  requireFound(await findScope(executor, serverId, id), id, 'OAuth2Scope');

function requireName(name: string): void {
  const message = scopeNameProblem(name);
  if (message !== undefined) throw validation([{ field: 'name', message }]);
}

function record(
  trx: Executor,
  step: 'created' | 'updated' | 'deleted',
  request: RequestContext,
  { before, after }: { before?: Scope; after?: Scope },
): Promise<string> {
  const { id = '', name = '' } = after ?? before ?? {};
  return recordEvent(trx, {
    eventType: `oauth2.scope.${step}`,
    displayMessage: `OAuth2 scope is ${step}`,
    request,
    targets: [{ id, type: 'OAuth2Scope', displayName: name }],
    ...(before && { before }),
    ...(after && { after }),
  });
}

const nameTaken = () =>
  conflict({ field: 'name', message: 'another scope of this authorization server has this name. Choose another name' });
