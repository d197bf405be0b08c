/** Reads what a simulated request depends on, and has features/policies/simulation.policy.ts decide it. Nothing is changed by it. */

import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type FieldProblem, notFound, validation } from '../../platform/errors/errors.ts';
import { isAssigned } from '../applications/application-assignments.store.ts';
import type { Application } from '../applications/applications.resource.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import { sectorOf } from '../applications/pairwise.policy.ts';
import { subjectFor } from '../applications/pairwise-subjects.service.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { loadServerParts } from '../authorization-servers/authorization-servers.store.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import { readBelongings } from '../claims/claims.store.ts';
import { rememberedScopes } from '../consents/consents.store.ts';
import { listGroupIds } from '../groups/groups.store.ts';
import type { Scope } from '../scopes/scopes.resource.ts';
import { findUserById, findUserByLogin } from '../users/users.store.ts';
import type { AccessGrantType } from './access-policy.policy.ts';
import { type SimulatedPrompt, type SimulatedUser, type Simulation, simulate } from './simulation.policy.ts';

export interface SimulatedRequest {
  readonly clientId: string;
  /** Id or login; absent: the application asks for itself. */
  readonly user?: string | undefined;
  readonly grantType: AccessGrantType;
  readonly scopes: readonly string[];
  /** The parameters `resource` and `audience`. */
  readonly resources: readonly string[];
  readonly prompts: ReadonlySet<SimulatedPrompt>;
}

/** The request as it was understood, and what it comes to. */
export interface SimulatedAnswer extends Simulation {
  readonly server: AuthorizationServer;
  readonly application: Application;
  readonly user: SimulatedUser | undefined;
  /** undefined: there is no user. */
  readonly isAssigned: boolean | undefined;
  readonly offered: readonly Scope[];
}

/** @throws {ApiError} not found: the server; validation: the application or the user does not exist, or one is given where the grant has none */
export async function simulateRequest(services: Services, serverId: string, request: SimulatedRequest): Promise<SimulatedAnswer> {
  const { database, config } = services;
  const { knex } = database;
  const parts = await loadServerParts(knex, serverId);
  if (parts === undefined) throw notFound(serverId, 'AuthorizationServer');
  const { server, policies, scopes, claims } = parts;
  const application = await findApplicationById(knex, request.clientId);
  const user = await findSimulatedUser(knex, request.user);
  const problems = problemsOf(request, application, user);
  if (problems.length > 0 || application === undefined) throw validation(problems);

  const key = user && { userId: user.id, applicationId: application.id, serverId };
  const assigned = user && (await isAssigned(knex, application.id, user.id));
  const simulation = simulate({
    server: { ...server, issuer: issuerOf(config.baseUrl, serverId), lifetimes: server, policies, scopes, claims },
    application,
    user,
    subject: user && (await subjectFor(services, sectorOf(application.settings), user.id)),
    isAssigned: assigned ?? false,
    remembered: new Set(key && (await rememberedScopes(knex, key))),
    grantType: request.grantType,
    asked: request.scopes,
    resources: request.resources,
    prompts: request.prompts,
  });
  return { ...simulation, server, application, user, isAssigned: assigned, offered: scopes };
}

async function findSimulatedUser(knex: Executor, idOrLogin: string | undefined): Promise<SimulatedUser | undefined> {
  if (idOrLogin === undefined) return undefined;
  const user = (await findUserById(knex, idOrLogin)) ?? (await findUserByLogin(knex, idOrLogin));
  return user && { ...user, ...(await readBelongings(knex, user.id)), groupIds: await listGroupIds(knex, user.id) };
}

function problemsOf(request: SimulatedRequest, application: Application | undefined, user: SimulatedUser | undefined): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string) => problems.push({ field, message });
  const byItself = request.grantType === 'client_credentials';
  if (application === undefined) refuse('client_id', 'does not exist');
  if (request.user !== undefined && byItself) refuse('user', 'has no use with grant_type client_credentials');
  else if (request.user !== undefined && user === undefined) refuse('user', 'does not exist');
  else if (request.user === undefined && !byItself) refuse('user', 'is required');
  if (request.prompts.size > 0 && (byItself || request.grantType === 'password')) {
    refuse('prompt', `has no use with grant_type ${request.grantType}`);
  }
  return problems;
}
