/**
 * Configures an authorization server for an MCP server: its URL as an audience, the scopes of its tools, registration of unknown clients, and an
 * access policy for their users. All changes are one transaction.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { lockExisting } from '../../platform/database/named-statements.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { audiencesOf, decideAudiences, MOST_AUDIENCES } from '../authorization-servers/audience.policy.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { createAuthorizationServer, updateAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import { loadServerParts, lockServer } from '../authorization-servers/authorization-servers.store.ts';
import { BUILT_IN } from '../authorization-servers/server-id.policy.ts';
import { ALL_CLIENTS, type RuleConditions } from '../policies/access-policy.policy.ts';
import { createPolicy, listPolicies, replacePolicy } from '../policies/policies.service.ts';
import { createRule, listRules, updateRule } from '../policies/policy-rules.service.ts';
import { NO_REGISTRATION } from '../registration/registration.policy.ts';
import { createServerScope } from '../scopes/scopes.service.ts';
import { listScopes } from '../scopes/scopes.store.ts';
import { admitsUnknownClients, CODE_GRANT } from './protected-resource.policy.ts';

interface ToolScope {
  readonly name: string;
  /** Description of the scope on the consent page. */
  readonly words: string;
}

export interface McpServer {
  /** In the format of `mcpServerUrl`. */
  readonly url: string;
  readonly name: string;
  readonly scopes: readonly ToolScope[];
  /** An existing authorization server, or a new one; `id` undefined: generated. */
  readonly server: { readonly existing: string } | { readonly id: string | undefined };
  /** Accept clients with a client ID metadata document? */
  readonly acceptsDocuments: boolean;
  /** Allow dynamic registration for everyone? */
  readonly acceptsRegistration: boolean;
  /** IDs of the groups whose members can use it; undefined: everyone. */
  readonly groups: readonly string[] | undefined;
}

/** Unknown clients that refresh their tokens get this scope, even if they do not request it. */
const OFFLINE_ACCESS = 'offline_access';

/** Days without a sign-in after which a registered client is deleted. */
const FORGOTTEN_AFTER = 90;

/**
 * @returns the authorization server
 * @throws {ApiError} validation; conflict of the name or ID; not found; wrong state: the server cannot accept unknown clients
 */
export function protectMcpServer(services: Services, input: McpServer, request: RequestContext): Promise<AuthorizationServer> {
  return inOneTransaction(services, async (within, trx) => {
    // Groups are locked before the server, as in every change that refers to groups.
    if (input.groups !== undefined) await lockExisting(trx, 'group', input.groups);
    const { server: target } = input;
    const server =
      'existing' in target ? await extend(within, trx, target.existing, input, request) : await make(within, target.id, input, request);
    await addScopes(within, trx, server.id, input, !('existing' in target), request);
    if ('existing' in target) await admit(within, trx, server.id, input, request);
    else await restrict(within, server.id, input, request);
    return server;
  });
}

function make(services: Services, id: string | undefined, input: McpServer, request: RequestContext): Promise<AuthorizationServer> {
  const { name, url } = input;
  const clients = clientsOf({ clientIdMetadata: { enabled: false, allowedDomains: [] }, registration: NO_REGISTRATION }, input);
  return createAuthorizationServer(services, { id, name, audience: url, profile: 'openid', ...clients }, request);
}

/** The settings with the requested ones turned on; none is turned off. */
function clientsOf(
  { clientIdMetadata, registration }: Pick<AuthorizationServer, 'clientIdMetadata' | 'registration'>,
  { acceptsDocuments, acceptsRegistration, scopes }: McpServer,
): Pick<AuthorizationServer, 'clientIdMetadata' | 'registration'> {
  const { mode, allowedScopes, expiresAfterDays } = registration;
  const opened = {
    ...registration,
    mode: 'OPEN' as const,
    // An existing list is kept, with the scopes of the tools added.
    allowedScopes: allowedScopes.length === 0 ? [] : [...new Set([...allowedScopes, ...scopes.map(({ name }) => name), OFFLINE_ACCESS])],
    expiresAfterDays: mode === 'OFF' ? FORGOTTEN_AFTER : expiresAfterDays,
  };
  return {
    clientIdMetadata: acceptsDocuments ? { ...clientIdMetadata, enabled: true } : clientIdMetadata,
    registration: acceptsRegistration ? opened : registration,
  };
}

async function extend(
  services: Services,
  trx: Executor,
  id: string,
  input: McpServer,
  request: RequestContext,
): Promise<AuthorizationServer> {
  const before = requireFound(await lockServer(trx, id), id, 'AuthorizationServer');
  if (id === BUILT_IN) throw wrongState('the audience of the built-in authorization server cannot be changed. Use a custom one');
  if (before.profile === 'fapi2')
    throw wrongState('an authorization server with profile fapi2 cannot accept unknown clients. Use another authorization server');
  const audiences = audiencesOf(before);
  const isKnown = decideAudiences({ offered: audiences, requested: [input.url], granted: undefined }).audiences !== undefined;
  if (!isKnown && audiences.length >= MOST_AUDIENCES)
    throw wrongState(`the limit of ${MOST_AUDIENCES} audiences is reached. Remove one first`);
  const { name, description, profile, accessTokenFormat, accessTokenSeconds, refreshTokenSeconds, signingAlg } = before;
  const furtherAudiences = isKnown ? before.furtherAudiences : [...before.furtherAudiences, input.url];
  const changes = { furtherAudiences, ...clientsOf(before, input) };
  if (isDeepStrictEqual({ ...before, ...changes }, before)) return before;
  const kept = { name, description, profile, accessTokenFormat, accessTokenSeconds, refreshTokenSeconds, signingAlg };
  return updateAuthorizationServer(services, id, { ...kept, ...changes }, request);
}

/** @param areDefault are they granted to clients that request no scope? */
async function addScopes(
  services: Services,
  trx: Executor,
  serverId: string,
  { scopes }: McpServer,
  areDefault: boolean,
  request: RequestContext,
): Promise<void> {
  const known = new Set((await listScopes(trx, serverId)).map(({ name }) => name));
  for (const { name, words } of scopes) {
    if (known.has(name)) continue;
    const settings = { name, displayName: words, description: '', optional: false, isDefault: areDefault } as const;
    await createServerScope(
      services,
      serverId,
      { ...settings, consent: 'REQUIRED', metadataPublish: 'ALL_CLIENTS', translations: {} },
      request,
    );
  }
}

const usersAndGroupsIn = ({ groups }: McpServer): RuleConditions =>
  groups === undefined ? {} : { people: { groups: { include: groups } } };

/** Limits the first rule of a new server, which allows everyone, to the groups. */
async function restrict(services: Services, serverId: string, input: McpServer, request: RequestContext): Promise<void> {
  if (input.groups === undefined) return;
  const [policy] = await listPolicies(services, serverId);
  if (policy === undefined) return;
  const path = { serverId, policyId: policy.id };
  const [rule] = await listRules(services, path);
  if (rule === undefined) return;
  await replacePolicy(services, serverId, policy.id, { name: 'MCP clients', clients: [ALL_CLIENTS] }, request);
  const conditions = { ...usersAndGroupsIn(input), grantTypes: { include: [CODE_GRANT] } };
  await updateRule(services, path, rule.id, { name: 'Members of the groups', conditions, actions: {} }, request);
}

/** If the policies refuse unknown clients, add a rule after the others. Requests that were allowed before are decided as before. */
async function admit(services: Services, trx: Executor, serverId: string, input: McpServer, request: RequestContext): Promise<void> {
  const { groups, scopes, name } = input;
  const parts = requireFound(await loadServerParts(trx, serverId), serverId, 'AuthorizationServer');
  const requested = [...scopes.map((scope) => scope.name), OFFLINE_ACCESS];
  if (groups !== undefined && admitsUnknownClients(parts, requested, []))
    throw validation([
      {
        field: 'people',
        message: 'has no effect: the access policies of this authorization server already allow everyone. Change them first',
      },
    ]);
  const belongings = groups === undefined ? [[]] : groups.map((group) => [group]);
  if (belongings.every((belonging) => admitsUnknownClients(parts, requested, belonging))) return;
  const policyId =
    parts.policies.find(({ clients }) => clients.includes(ALL_CLIENTS))?.id ??
    (await createPolicy(services, serverId, { name: 'MCP clients', clients: [ALL_CLIENTS] }, request)).id;
  const conditions = { ...usersAndGroupsIn(input), grantTypes: { include: [CODE_GRANT] }, scopes: { include: ['openid', ...requested] } };
  await createRule(services, { serverId, policyId }, { name: `MCP: ${name}`.slice(0, 255), conditions, actions: {} }, request);
}
