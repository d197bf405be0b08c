/** Reads the facts of a simulated request for features/policies/simulation.policy.ts. Changes nothing. */

import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type FieldProblem, notFound, validation } from '../../platform/errors/errors.ts';
import type { HeldRole } from '../application-roles/application-roles.resource.ts';
import { listHeldRoles } from '../application-roles/application-roles.store.ts';
import { isAssigned } from '../applications/application-assignments.store.ts';
import type { Application } from '../applications/applications.resource.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { mismatchIn } from '../authorization-details/detail-schema.service.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { loadServerParts } from '../authorization-servers/authorization-servers.store.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import { readBelongings } from '../claims/claims.store.ts';
import { keyOfDetail } from '../consents/consents.resource.ts';
import { rememberedScopes } from '../consents/consents.store.ts';
import { listGroupIds } from '../groups/groups.store.ts';
import { withChanges } from '../inline-hooks/token-hook.policy.ts';
import { runTokenHook } from '../inline-hooks/token-hook.service.ts';
import type { OrganizationPolicy } from '../organization-policy/organization-policy.policy.ts';
import { findOrganizationPolicy } from '../organization-policy/organization-policy.store.ts';
import { findRequiredProvider, type RequiredProvider } from '../organization-providers/home-realm.store.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import { listUsableFactors, type SecondFactor } from '../second-factors/factors.service.ts';
import { readSettings } from '../settings/settings.service.ts';
import { PASSWORD_AMR } from '../sign-in/sign-in.service.ts';
import { countryFact } from '../sign-in-countries/sign-in-countries.service.ts';
import { decideSignIn, type SignInDecision } from '../sign-in-rules/sign-in-rules.policy.ts';
import { zonesAround } from '../sign-in-rules/sign-in-rules.service.ts';
import { sectorOf } from '../subjects/pairwise.policy.ts';
import { subjectFor } from '../subjects/pairwise-subjects.service.ts';
import { findUserById, findUserByLogin } from '../users/users.store.ts';
import { type AccessGrantType, TOKEN_EXCHANGE_GRANT } from './access-policy.policy.ts';
import { DENIED, evaluatePasswordGrant } from './simulated-password.service.ts';
import { isExchange, type Simulation, simulate } from './simulation.policy.ts';
import type { SimulatedPrompt, SimulatedUser } from './simulation-facts.policy.ts';

export interface SimulatedRequest {
  readonly clientId: string;
  /** ID or user name; absent: the application acts for itself. */
  readonly user?: string | undefined;
  readonly grantType: AccessGrantType;
  /** Token exchange: client ID of the acting application; absent: the requesting one. */
  readonly actor?: string | undefined;
  readonly scopes: readonly string[];
  readonly details: readonly AuthorizationDetail[];
  /** Types of authorization details whose content is not known. */
  readonly detailTypes: readonly string[];
  /** The parameter `organization`. */
  readonly organization?: string | undefined;
  /** The parameters `resource` and `audience`. */
  readonly resources: readonly string[];
  readonly prompts: ReadonlySet<SimulatedPrompt>;
  /** Call the inline hook? Its response is shown and affects nothing else. */
  readonly runHook: boolean;
  /** Circumstances of the sign-in; absent: the rules of the sign-in policy are not evaluated. */
  readonly signIn?: SimulatedSignIn | undefined;
}

interface SimulatedSignIn {
  readonly ipAddress?: string | undefined;
  readonly newBrowser: boolean;
  /** Absent: determined from the address by the database of countries. */
  readonly newCountry?: boolean | undefined;
  /** Absent: the user's actual value. */
  readonly daysSinceLastSignIn?: number | undefined;
}

/** The inline hook of the rule that allowed the request. */
export interface SimulatedHook {
  readonly id: string;
  readonly outcome: 'NOT_RUN' | 'CHANGED' | 'UNCHANGED' | 'DENIED' | 'FAILED';
  /** Why it failed, or the hook's message if it denied. */
  readonly reason?: string;
}

/** The parsed request and its result. */
export interface SimulatedResult extends Simulation {
  readonly server: AuthorizationServer;
  readonly application: Application;
  readonly user: SimulatedUser | undefined;
  /** undefined: there is no user. */
  readonly isAssigned: boolean | undefined;
  /** The user's roles at the application, with their sources; undefined: there is no user. */
  readonly heldRoles: readonly HeldRole[] | undefined;
  readonly offered: readonly Scope[];
  /** undefined: the request is refused, or the rule has none. */
  readonly hook: SimulatedHook | undefined;
  /** Seconds, if the hook shortens them. */
  readonly hookedLifetimes: { readonly access?: number | undefined; readonly identity?: number | undefined };
  /** Decision of the sign-in rules; undefined: not simulated, or no user. */
  readonly signIn: SignInDecision | undefined;
  /** Provider that the user must use; undefined: any, or no user. */
  readonly requiredProvider: RequiredProvider | undefined;
  /** Requirements of the user's organization; undefined: none. */
  readonly organizationPolicy: OrganizationPolicy | undefined;
  /** Second factors that could be required after a password; undefined: as `signIn`. */
  readonly factors: readonly SecondFactor['type'][] | undefined;
}

/** @throws {ApiError} not found: the server; validation: the application or the user does not exist, or is given although the grant has none */
export async function simulateRequest(
  services: Services,
  serverId: string,
  request: SimulatedRequest,
  caller: RequestContext,
): Promise<SimulatedResult> {
  const { database, config } = services;
  const { knex } = database;
  const parts = await loadServerParts(knex, serverId);
  if (parts === undefined) throw notFound(serverId, 'AuthorizationServer');
  const { server, policies, scopes, claims } = parts;
  const detailTypes = new Map(parts.detailTypes.map(({ name, schema }) => [name, { name, mismatch: mismatchIn(schema) }]));
  const isRemembered = new Map(parts.detailTypes.map(({ name, rememberConsent }) => [name, rememberConsent]));
  const application = await findApplicationById(knex, request.clientId);
  const user = await findSimulatedUser(knex, request.user, request.clientId);
  const actorExists = request.actor === undefined || (await findApplicationById(knex, request.actor)) !== undefined;
  const problems = problemsOf(request, application, user, actorExists);
  if (problems.length > 0 || application === undefined) throw validation(problems);

  const key = user && { userId: user.id, applicationId: application.id, serverId };
  const assigned = user && (await isAssigned(knex, application.id, user.id));
  const signIn = request.signIn && user && (await simulateSignIn(services, user.id, request.signIn));
  const isByPassword = request.grantType === 'password';
  const simulation = simulate({
    server: { ...server, issuer: issuerOf(config.baseUrl, serverId), lifetimes: server, policies, scopes, claims, detailTypes },
    application,
    user,
    subject: user && (await subjectFor(services, sectorOf(application.settings), user.id)),
    isAssigned: assigned ?? false,
    remembered: new Set(key && (await rememberedScopes(knex, key))),
    grantType: request.grantType,
    actor: request.grantType === TOKEN_EXCHANGE_GRANT ? (request.actor ?? application.id) : undefined,
    asked: request.scopes,
    details: request.details.map((detail) => ({
      detail,
      key: keyOfDetail(detail),
      rememberConsent: isRemembered.get(detail.type) === true,
    })),
    detailTypes: [...new Set([...request.details.map(({ type }) => type), ...request.detailTypes])],
    organization: request.organization,
    resources: request.resources,
    prompts: request.prompts,
    byPassword: isByPassword && user ? await evaluatePasswordGrant(services, user.id, application.id, signIn) : undefined,
  });
  const heldRoles = user && (await listHeldRoles(knex, application.id, user.id));
  const requiredProvider = user && (await findRequiredProvider(knex, user.id));
  const factors = signIn && user && (await listUsableFactors(knex, user.id, PASSWORD_AMR)).map(({ type }) => type);
  const bySignIn = signIn && !isByPassword ? refusalOf(signIn, factors ?? []) : undefined;
  const refusal = PRECEDES_SIGN_IN.has(simulation.refusal?.error ?? '') ? undefined : bySignIn;
  const result = refusal === undefined ? simulation : { ...simulation, outcome: 'REFUSED' as const, refusal, tokens: undefined };
  const found = {
    ...result,
    server,
    application,
    user,
    isAssigned: assigned,
    heldRoles,
    offered: scopes,
    signIn,
    factors,
    requiredProvider,
    organizationPolicy:
      simulation.organization === undefined ? undefined : ((await findOrganizationPolicy(knex, simulation.organization)) ?? undefined),
  };
  return { ...found, ...(await simulateHook(services, found, request, caller)) };
}

/** Errors that refuse a request before the sign-in. */
const PRECEDES_SIGN_IN: ReadonlySet<string> = new Set([
  ...['invalid_request', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'invalid_target', 'invalid_authorization_details'],
]);

/** Refuses like `admitSignIn`, including users who lack a required factor. */
function refusalOf({ action }: SignInDecision, factors: readonly unknown[]) {
  if (action === 'DENY') return { error: 'sign_in_denied', reason: DENIED } as const;
  if (action === 'SECOND_FACTOR' && factors.length === 0)
    return {
      error: 'sign_in_denied',
      reason: 'a rule of the sign-in policy requires a second factor, and the user has none that can be used',
    } as const;
  return undefined;
}

/** Evaluates the simulated sign-in like a real one. */
async function simulateSignIn(
  services: Services,
  userId: string,
  { ipAddress, newBrowser, newCountry, daysSinceLastSignIn }: SimulatedSignIn,
): Promise<SignInDecision> {
  const { rules } = await readSettings(services, 'sign-in');
  const now = present();
  const lastLogin = (await findUserById(services.database.knex, userId))?.lastLogin ?? undefined;
  const lastSignIn = daysSinceLastSignIn === undefined ? lastLogin : new Date(now.getTime() - daysSinceLastSignIn * 86_400_000);
  const country = newCountry === undefined ? await countryFact(services, userId, ipAddress, now) : newCountry ? 'new' : 'known';
  return decideSignIn(rules, { zones: await zonesAround(services, ipAddress), newBrowser, country, lastSignIn }, now);
}

/** Changes by the rule's inline hook; it is called only on request. */
async function simulateHook(
  services: Services,
  { tokens, access, server, application, user, scopes }: Omit<SimulatedResult, 'hook' | 'hookedLifetimes'>,
  { grantType, runHook }: SimulatedRequest,
  caller: RequestContext,
): Promise<Pick<SimulatedResult, 'tokens' | 'hook' | 'hookedLifetimes'>> {
  const { policy, rule } = access;
  const id = rule?.actions.token?.inlineHook?.id;
  if (id === undefined || rule === undefined || policy === undefined || tokens === undefined)
    return { tokens, hook: undefined, hookedLifetimes: {} };
  if (!runHook) return { tokens, hook: { id, outcome: 'NOT_RUN' }, hookedLifetimes: {} };
  const { accessToken, idToken } = tokens;
  const issuer = issuerOf(services.config.baseUrl, server.id);
  const outcome = await runTokenHook(
    services,
    {
      hookId: id,
      ...(accessToken !== undefined && {
        access: { claims: accessToken, lifetime: access.lifetimes.accessTokenSeconds, scopes: scopes.granted },
      }),
      ...(idToken !== undefined && { identity: { claims: idToken, lifetime: LIFETIMES.idToken } }),
      issuer,
      server,
      client: { id: application.id, name: application.label, type: isPublic(application) ? 'PUBLIC' : 'CONFIDENTIAL' },
      user,
      policy: { id: policy.id, ruleId: rule.id },
      parameters: { client_id: application.id, grant_type: grantType, scope: scopes.granted.join(' ') },
      url: `${issuer}/token`,
      method: 'POST',
    },
    caller,
  );
  if (outcome.kind === 'denied')
    return { tokens: undefined, hook: { id, outcome: 'DENIED', reason: outcome.summary }, hookedLifetimes: {} };
  if (outcome.kind === 'failed')
    return { tokens: undefined, hook: { id, outcome: 'FAILED', reason: outcome.problem }, hookedLifetimes: {} };
  if (outcome.kind === 'unchanged') {
    const hook =
      outcome.problem === undefined ? { id, outcome: 'UNCHANGED' as const } : { id, outcome: 'FAILED' as const, reason: outcome.problem };
    return { tokens, hook, hookedLifetimes: {} };
  }
  return {
    tokens: {
      ...tokens,
      accessToken: accessToken && outcome.access ? withChanges(accessToken, outcome.access) : accessToken,
      idToken: idToken && outcome.identity ? withChanges(idToken, outcome.identity) : idToken,
    },
    hook: { id, outcome: 'CHANGED' },
    hookedLifetimes: { access: outcome.access?.lifetime, identity: outcome.identity?.lifetime },
  };
}

const isPublic = ({ settings }: Application): boolean => settings.token_endpoint_auth_method === 'none';

async function findSimulatedUser(knex: Executor, idOrLogin: string | undefined, applicationId: string): Promise<SimulatedUser | undefined> {
  if (idOrLogin === undefined) return undefined;
  const user = (await findUserById(knex, idOrLogin)) ?? (await findUserByLogin(knex, idOrLogin));
  if (user === undefined) return undefined;
  const belongings = await readBelongings(knex, user.id, applicationId);
  return { ...user, ...belongings, groupIds: await listGroupIds(knex, user.id) };
}

function problemsOf(
  request: SimulatedRequest,
  application: Application | undefined,
  user: SimulatedUser | undefined,
  actorExists: boolean,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string) => problems.push({ field, message });
  const byItself = request.grantType === 'client_credentials';
  if (application === undefined) refuse('client_id', 'does not exist');
  if (request.user !== undefined && byItself) refuse('user', 'cannot be used with grant_type client_credentials');
  else if (request.user !== undefined && user === undefined) refuse('user', 'does not exist');
  else if (request.user === undefined && !byItself) refuse('user', 'is required');
  if (request.actor !== undefined && request.grantType !== TOKEN_EXCHANGE_GRANT)
    refuse('actor', `cannot be used with grant_type ${request.grantType}`);
  else if (!actorExists) refuse('actor', 'does not exist');
  if (request.prompts.size > 0 && (byItself || request.grantType === 'password' || isExchange(request.grantType))) {
    refuse('prompt', `cannot be used with grant_type ${request.grantType}`);
  }
  return problems;
}
