/**
 * Operations on access policies of an authorization server: their applications and priorities. features/policies/access-policy.policy.ts evaluates
 * them; rules have their own file. A change takes effect with the next token.
 */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, type FieldProblem, notFound, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { changeServerPart, type Existing, refuseOneMore } from '../authorization-servers/authorization-server-parts.service.ts';
import type { AuthorizationServer } from '../authorization-servers/authorization-servers.resource.ts';
import { findServer } from '../authorization-servers/authorization-servers.store.ts';
import { isClientIdUrl } from '../client-documents/client-id.policy.ts';
import { ALL_CLIENTS, inOrder } from './access-policy.policy.ts';
import type { Policy, PolicyStatus } from './policies.resource.ts';
import {
  deletePolicyRow as deleteRow,
  findPolicy,
  insertPolicy,
  selectPolicies as listRows,
  updatePolicy,
  writePriorities,
} from './policies.store.ts';

export interface PolicyInput {
  readonly name: string;
  readonly description?: string | undefined;
  /** Absent or too large: last; on a change: unchanged. */
  readonly priority?: number | undefined;
  /** Absent: ACTIVE; on a change: unchanged. */
  readonly status?: PolicyStatus | undefined;
  readonly clients: readonly string[];
}

/** In order of priority. @throws {ApiError} not found */
export async function listPolicies({ database }: Services, serverId: string): Promise<Policy[]> {
  await requireServer(database.knex, serverId);
  return listRows(database.knex, serverId);
}

/** @throws {ApiError} not found */
export const getPolicy = ({ database }: Services, serverId: string, id: string): Promise<Policy> =>
  requirePolicy(database.knex, serverId, id);

/**
 * Policies from its priority on move down by one.
 * @throws {ApiError} not found; wrong state: the built-in server; validation: a client does not exist; conflict of the name
 */
export async function createPolicy(services: Services, serverId: string, input: PolicyInput, request: RequestContext): Promise<Policy> {
  return changeServerPart(services, serverId, { application: input.clients }, async (trx, existing) => {
    refuseOneMore('policies', await listRows(trx, serverId));
    refuseMissing(input.clients, existing);
    const now = present();
    const { name, description = '', status = 'ACTIVE', clients } = input;
    const policy = { id: newId('pol'), serverId, name, description, priority: 0, status, clients, created: now, lastUpdated: now };
    if (!(await insertPolicy(trx, policy))) throw nameTaken();
    const created = { ...policy, priority: await place(trx, serverId, policy.id, input.priority) };
    await recordEvent(trx, { ...policyEvent('create', created, request), after: described(created) });
    return created;
  });
}

/** @throws {ApiError} as `createPolicy` */
export async function replacePolicy(
  services: Services,
  serverId: string,
  id: string,
  input: PolicyInput,
  request: RequestContext,
): Promise<Policy> {
  return changeServerPart(services, serverId, { application: input.clients }, async (trx, existing) => {
    const before = await requirePolicy(trx, serverId, id);
    refuseMissing(input.clients, existing);
    const { name, description = '', status = before.status, clients } = input;
    const changes = { name, description, status, clients, lastUpdated: present() };
    if (!(await updatePolicy(trx, id, changes))) throw nameTaken();
    const after = { ...before, ...changes, priority: await place(trx, serverId, id, input.priority ?? before.priority) };
    await recordEvent(trx, { ...policyEvent('update', after, request), before: described(before), after: described(after) });
    return after;
  });
}

/** Changes only the priority of a policy. @param priority from 1 on @throws {ApiError} not found; wrong state: the built-in server */
export async function movePolicy(
  services: Services,
  serverId: string,
  id: string,
  priority: number,
  request: RequestContext,
): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requirePolicy(trx, serverId, id);
    const after = { ...before, priority: await place(trx, serverId, id, priority) };
    if (after.priority === before.priority) return;
    await updatePolicy(trx, id, { lastUpdated: present() });
    await recordEvent(trx, { ...policyEvent('update', after, request), before: described(before), after: described(after) });
  });
}

/** Also deletes its rules; later policies move up. @throws {ApiError} not found; wrong state: the built-in server */
export async function deletePolicy(services: Services, serverId: string, id: string, request: RequestContext): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requirePolicy(trx, serverId, id);
    await deleteRow(trx, id);
    await writePriorities(trx, 'policies', await idsOf(trx, serverId));
    await recordEvent(trx, { ...policyEvent('delete', before, request), before: described(before) });
  });
}

/** @throws {ApiError} not found; wrong state: the built-in server */
export async function setPolicyStatus(
  services: Services,
  serverId: string,
  id: string,
  status: PolicyStatus,
  request: RequestContext,
): Promise<void> {
  await changeServerPart(services, serverId, {}, async (trx) => {
    const before = await requirePolicy(trx, serverId, id);
    if (before.status === status) return;
    await updatePolicy(trx, id, { status, lastUpdated: present() });
    const step = status === 'ACTIVE' ? 'activate' : 'deactivate';
    await recordEvent(trx, { ...policyEvent(step, before, request), before: { status: before.status }, after: { status } });
  });
}

/** @throws {ApiError} not found */
async function requireServer(executor: Executor, id: string): Promise<AuthorizationServer> {
  const server = await findServer(executor, id);
  if (server === undefined) throw notFound(id, 'AuthorizationServer');
  return server;
}

/** @throws {ApiError} not found */
export async function requirePolicy(executor: Executor, serverId: string, id: string): Promise<Policy> {
  await requireServer(executor, serverId);
  const policy = await findPolicy(executor, serverId, id);
  if (policy === undefined) throw notFound(id, 'Policy');
  return policy;
}

/** The policy as the target of audit events. */
export const policyTarget = ({ id, name }: Pick<Policy, 'id' | 'name'>) => ({ id, type: 'PolicyEntity', displayName: name });

/** @throws {ApiError} validation: a client that is neither the word for all nor an application */
function refuseMissing(clients: readonly string[], existing: Existing): void {
  // A client with a metadata document may be referenced before its first sign-in.
  const known = new Set([ALL_CLIENTS, ...existing.application, ...clients.filter(isClientIdUrl)]);
  const problems = policyProblems('conditions.clients.include', clients, known);
  if (problems.length > 0) throw validation(problems);
}

/** @returns a problem for each name of the list that does not exist */
export const policyProblems = (field: string, names: readonly string[], known: ReadonlySet<string>): FieldProblem[] =>
  names.flatMap((name, turn) => (known.has(name) ? [] : [{ field: `${field}.${turn}`, message: 'does not exist' }]));

/** Moves a policy to its position. @returns its priority */
async function place(trx: Executor, serverId: string, id: string, priority: number | undefined): Promise<number> {
  const order = inOrder(await idsOf(trx, serverId), id, priority);
  await writePriorities(trx, 'policies', order);
  return order.indexOf(id) + 1;
}

const idsOf = async (trx: Executor, serverId: string): Promise<string[]> => (await listRows(trx, serverId)).map(({ id }) => id);

const VERBS = { create: 'Create', update: 'Update', delete: 'Delete', activate: 'Activate', deactivate: 'Deactivate' } as const;

/** Audit event of a policy. */
export const policyEvent = (step: keyof typeof VERBS, policy: Policy, request: RequestContext) => ({
  eventType: `policy.lifecycle.${step}` as const,
  displayMessage: `${VERBS[step]} access policy`,
  request,
  targets: [policyTarget(policy), { id: policy.serverId, type: 'AuthorizationServer', displayName: policy.serverId }],
});

/** The policy's data in audit events. */
const described = ({ name, description, priority, status, clients }: Policy) => ({ name, description, priority, status, clients });
const nameTaken = () =>
  conflict({ field: 'name', message: 'another policy of this authorization server has this name. Choose another name' });
