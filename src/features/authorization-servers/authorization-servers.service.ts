/** Operations on authorization servers. A change takes effect with the next request, in other processes within a second. */

import { isDeepStrictEqual } from 'node:util';
import { type ScopeSeed, STANDARD_SCOPES } from '../../../config/authorization-servers.ts';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import { newId, randomBase62 } from '../../platform/crypto/secrets.ts';
import type { Database, Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { deleteServerState } from '../../protocol/storage/server-state.store.ts';
import { FAPI2_ALGS } from '../applications/fapi2.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { EventType } from '../audit/event-types.policy.ts';
import { ALL_CLIENTS } from '../policies/access-policy.policy.ts';
import { insertPolicy, insertPolicyRule } from '../policies/policies.store.ts';
import { NO_REGISTRATION } from '../registration/registration.policy.ts';
import { insertScope } from '../scopes/scopes.store.ts';
import type { AuthorizationServer, AuthorizationServerParts, ServerStatus } from './authorization-servers.resource.ts';
import {
  deleteServer,
  findServer,
  insertServer,
  listServers,
  loadServerParts,
  lockServer,
  pageServers,
  updateServer,
} from './authorization-servers.store.ts';
import { BUILT_IN, serverIdProblem } from './server-id.policy.ts';
import { algsOf } from './signing-keys.policy.ts';
import { createSigningKeys, insertSigningKeys, syncKeys } from './signing-keys.service.ts';

type Settings = Pick<
  AuthorizationServer,
  | 'name'
  | 'description'
  | 'audience'
  | 'furtherAudiences'
  | 'profile'
  | 'accessTokenFormat'
  | 'accessTokenType'
  | 'accessTokenSeconds'
  | 'refreshTokenSeconds'
  | 'signingAlg'
  | 'additionalSigningAlgs'
  | 'rotationMode'
  | 'clientIdMetadata'
  | 'registration'
>;

export type NewAuthorizationServer = Partial<Settings> & { readonly id?: string | undefined; readonly name: string };

/** Initial settings of a new server. A change without these fields keeps the current values. */
const FIRST = {
  furtherAudiences: [],
  accessTokenType: 'at+jwt',
  additionalSigningAlgs: [],
  rotationMode: 'AUTO',
  clientIdMetadata: { enabled: false, allowedDomains: [] },
  registration: NO_REGISTRATION,
} as const;

/** Default settings of a server. */
const DEFAULTS: Omit<
  Settings,
  | 'name'
  | 'audience'
  | 'furtherAudiences'
  | 'accessTokenType'
  | 'additionalSigningAlgs'
  | 'rotationMode'
  | 'clientIdMetadata'
  | 'registration'
> = {
  description: '',
  profile: 'service',
  accessTokenFormat: 'jwt',
  accessTokenSeconds: LIFETIMES.accessToken,
  refreshTokenSeconds: LIFETIMES.refreshToken,
  signingAlg: 'RS256',
};

/**
 * Creates a server with the standard scopes, signing keys and a policy that allows everything.
 * @throws {ApiError} validation of the ID; conflict: ID or name is taken
 */
export async function createAuthorizationServer(
  services: Services,
  input: NewAuthorizationServer,
  request: RequestContext,
): Promise<AuthorizationServer> {
  const id = input.id ?? `aus${randomBase62(17)}`.toLowerCase();
  const problem = serverIdProblem(id);
  if (problem !== undefined) throw validation([{ field: 'id', message: problem }]);
  return seedAuthorizationServer(services, { ...input, id, system: false, scopes: STANDARD_SCOPES }, request);
}

/** Creates a server whose ID was validated before, such as the two of the first start. @throws {ApiError} conflict */
export async function seedAuthorizationServer(
  services: Services,
  input: NewAuthorizationServer & { readonly id: string; readonly system: boolean; readonly scopes: readonly ScopeSeed[] },
  request: RequestContext,
): Promise<AuthorizationServer> {
  const { id, scopes, system, ...given } = input;
  const now = present();
  const settings = { ...DEFAULTS, audience: `api://${id}`, ...FIRST, ...withoutUndefined(given) };
  requireFittingAlg(settings);
  const keys = await createSigningKeys(services.keyring, algsOf(settings));
  const { database, notifications } = services;

  const server = await database.transaction(async (trx) => {
    const row = { ...settings, id, system, refreshTokenWindowSeconds: LIFETIMES.refreshTokenWindow, status: 'ACTIVE' as const };
    const created = await insertServer(trx, { ...row, created: now, lastUpdated: now });
    if (created === undefined)
      throw conflict({ field: 'name', message: 'another authorization server has this name or ID. Choose others' });
    for (const scope of scopes) await insertScope(trx, id, asStandardScope(scope));
    await insertSigningKeys(trx, id, keys);
    await insertOpenPolicy(trx, id, now);
    await recordEvent(trx, {
      eventType: 'oauth2.as.created',
      displayMessage: 'Create authorization server',
      request,
      targets: [target(created)],
      after: described(created),
    });
    await notifications.publish(trx, { kind: 'server', id });
    return created;
  });
  notifications.announce({ kind: 'server', id });
  return server;
}

/** @throws {ApiError} not found */
export const getAuthorizationServer = async (services: Services, id: string): Promise<AuthorizationServer> =>
  requireFound(await findServer(services.database.knex, id), id, 'AuthorizationServer');

/** Oldest first. @param q words of the ID, the name or the audiences, or a part of one */
export const pageAuthorizationServers = (
  services: Services,
  { q, ...window }: Window & { readonly q?: string | undefined },
): Promise<Page<AuthorizationServer>> => pageServers(services.database.knex, q, window);

/** All servers, oldest first. */
export const listAuthorizationServers = (services: Services): Promise<AuthorizationServer[]> => listServers(services.database.knex);

/**
 * Replaces a server's settings; absent ones return to their defaults, except audiences, type of access tokens, additional algorithms,
 * rotation of keys, and registration of clients.
 * @throws {ApiError} not found; conflict of the name; wrong state: name, description, audience and access token format of the built-in
 * server are fixed
 */
export async function updateAuthorizationServer(
  services: Services,
  id: string,
  input: Omit<NewAuthorizationServer, 'id'>,
  request: RequestContext,
): Promise<AuthorizationServer> {
  return change(services, id, request, 'oauth2.as.updated', 'Update authorization server', async (trx, before) => {
    const { audience, furtherAudiences, accessTokenType, additionalSigningAlgs, rotationMode, clientIdMetadata, registration } = before;
    const kept = { audience, furtherAudiences, accessTokenType, additionalSigningAlgs, rotationMode, clientIdMetadata, registration };
    const wanted = { ...DEFAULTS, ...kept, ...withoutUndefined(input) };
    requireFittingAlg(wanted);
    if (id === BUILT_IN) refuseBuiltInChanges(before, wanted);
    await syncKeys(trx, { ...wanted, id }, services.keyring);
    return wanted;
  });
}

/** @throws {ApiError} validation: FAPI 2.0 Security Profile section 5.4.1 does not allow RS256 */
function requireFittingAlg({ profile, signingAlg }: Pick<AuthorizationServer, 'profile' | 'signingAlg'>): void {
  if (profile === 'fapi2' && !FAPI2_ALGS.includes(signingAlg))
    throw validation([{ field: 'signingAlg', message: 'must be PS256, ES256 or EdDSA with profile fapi2' }]);
}

/** @throws {ApiError} not found; wrong state: the built-in server is always active */
export async function setServerStatus(
  services: Services,
  id: string,
  status: ServerStatus,
  request: RequestContext,
): Promise<AuthorizationServer> {
  const [type, message] =
    status === 'ACTIVE' ? (['oauth2.as.activated', 'Activate'] as const) : (['oauth2.as.deactivated', 'Deactivate'] as const);
  return change(services, id, request, type, `${message} authorization server`, async () => {
    if (id === BUILT_IN) throw wrongState('the built-in authorization server cannot be deactivated');
    return { status };
  });
}

/**
 * Deletes a server with everything in it. Its endpoints return 404, and its tokens are invalid with the commit, even if another server gets its ID;
 * their rows are removed later.
 * @throws {ApiError} not found; wrong state: a server that cannot be deleted
 */
export async function deleteAuthorizationServer(services: Services, id: string, request: RequestContext): Promise<void> {
  const { database, notifications, log } = services;
  const { key } = await database.transaction(async (trx) => {
    const before = requireFound(await lockServer(trx, id), id, 'AuthorizationServer');
    if (before.system) throw wrongState('this authorization server is part of the service and cannot be deleted');
    await deleteServer(trx, id);
    await recordEvent(trx, {
      eventType: 'oauth2.as.deleted',
      displayMessage: 'Delete authorization server',
      request,
      targets: [target(before)],
      before: described(before),
    });
    await notifications.publish(trx, { kind: 'server', id });
    return before;
  });
  notifications.announce({ kind: 'server', id });
  await deleteServerState(database.knex, key).catch((error: unknown) =>
    log.warn({ err: error, serverId: id }, 'could not delete the tokens of a deleted authorization server; they stay until they expire'),
  );
}

/** Changes a server: locks, writes, records and announces. */
async function change(
  services: Services,
  id: string,
  request: RequestContext,
  eventType: EventType,
  displayMessage: string,
  decide: (trx: Executor, before: AuthorizationServer) => Promise<Partial<Settings & { status: ServerStatus }>>,
): Promise<AuthorizationServer> {
  const { database, notifications } = services;
  const after = await database.transaction(async (trx) => {
    const before = requireFound(await lockServer(trx, id), id, 'AuthorizationServer');
    const changes = { ...(await decide(trx, before)), lastUpdated: present() };
    if (!(await updateServer(trx, id, changes)))
      throw conflict({ field: 'name', message: 'another authorization server has this name. Choose another name' });
    const changed = { ...before, ...changes };
    await recordEvent(trx, {
      eventType,
      displayMessage,
      request,
      targets: [target(changed)],
      before: described(before),
      after: described(changed),
    });
    await notifications.publish(trx, { kind: 'server', id });
    return changed;
  });
  notifications.announce({ kind: 'server', id });
  return after;
}

function refuseBuiltInChanges(before: AuthorizationServer, wanted: Settings): void {
  const fixed = ['name', 'description', 'audience', 'furtherAudiences', 'accessTokenFormat', 'accessTokenType'] as const;
  const changed = fixed.filter((field) => !isDeepStrictEqual(wanted[field], before[field]));
  if (changed.length > 0) throw wrongState(`these settings of the built-in authorization server cannot be changed: ${changed.join(', ')}`);
}

async function insertOpenPolicy(trx: Executor, serverId: string, created: Date): Promise<void> {
  const policyId = newId('pol');
  const first = { priority: 1, status: 'ACTIVE', created, lastUpdated: created } as const;
  await insertPolicy(trx, { ...first, id: policyId, serverId, name: 'Everything', description: '', clients: [ALL_CLIENTS] });
  await insertPolicyRule(trx, { ...first, id: newId('rul'), policyId, name: 'Everyone', conditions: {}, actions: {} });
}

const asStandardScope = (seed: ScopeSeed) => ({
  ...seed,
  id: newId('scp'),
  consent: 'IMPLICIT' as const,
  isDefault: false,
  optional: false,
  translations: {},
  system: true,
  metadataPublish: 'ALL_CLIENTS' as const,
});

const target = ({ id, name }: AuthorizationServer) => ({ id, type: 'AuthorizationServer', displayName: name });

/** The server's data in audit events. */
function described({ key: _, created: __, lastUpdated: ___, ...rest }: AuthorizationServer) {
  return rest;
}

const withoutUndefined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, content]) => content !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

/** @returns the server with its scopes, claims, policies and keys; undefined: it does not exist */
export const loadServer = ({ knex }: Database, id: string): Promise<AuthorizationServerParts | undefined> => loadServerParts(knex, id);
