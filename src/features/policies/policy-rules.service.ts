/** Operations on rules of an access policy: users, grants, scopes and token lifetimes. features/policies/access-policy.policy.ts evaluates them. */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, type FieldProblem, notFound, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { listDetailTypes } from '../authorization-details/detail-types.store.ts';
import { changeServerPart, type Existing, type Names, refuseOneMore } from '../authorization-servers/authorization-server-parts.service.ts';
import { TOKENS_TRANSFORM } from '../inline-hooks/inline-hooks.resource.ts';
import { shareLockInlineHook } from '../inline-hooks/inline-hooks.store.ts';
import { listScopes } from '../scopes/scopes.store.ts';
import { ANY, EVERYONE, inOrder, type RuleActions, type RuleConditions } from './access-policy.policy.ts';
import type { Policy, PolicyRule, PolicyStatus } from './policies.resource.ts';
import { policyProblems, policyTarget, requirePolicy } from './policies.service.ts';
import {
  deletePolicyRule,
  findPolicyRule,
  insertPolicyRule,
  listPolicyRules as listRows,
  updatePolicyRule,
  writePriorities,
} from './policies.store.ts';

/** IDs of the policy and its server. */
export interface PolicyPath {
  readonly serverId: string;
  readonly policyId: string;
}

export interface RuleInput {
  readonly name: string;
  /** Absent or too large: last; on a change: unchanged. */
  readonly priority?: number | undefined;
  /** Absent: ACTIVE; on a change: unchanged. */
  readonly status?: PolicyStatus | undefined;
  readonly conditions: RuleConditions;
  readonly actions: RuleActions;
}

/** In order of priority. @throws {ApiError} not found */
export async function listRules({ database }: Services, { serverId, policyId }: PolicyPath): Promise<PolicyRule[]> {
  await requirePolicy(database.knex, serverId, policyId);
  return listRows(database.knex, policyId);
}

/** @throws {ApiError} not found */
export async function getRule({ database }: Services, path: PolicyPath, id: string): Promise<PolicyRule> {
  return (await requireRule(database.knex, path, id)).rule;
}

/**
 * Rules from its priority on move down by one.
 * @throws {ApiError} not found; wrong state: the built-in server; validation: a user, group or scope does not exist; conflict of the name
 */
export async function createRule(services: Services, path: PolicyPath, input: RuleInput, request: RequestContext): Promise<PolicyRule> {
  return changeServerPart(services, path.serverId, namesOf(input.conditions), async (trx, existing) => {
    const policy = await requirePolicy(trx, path.serverId, path.policyId);
    refuseOneMore('rules', await listRows(trx, policy.id));
    await refuseMissing(trx, path.serverId, input, existing);
    const now = present();
    const { name, status = 'ACTIVE', conditions, actions } = input;
    const rule = { id: newId('rul'), policyId: policy.id, name, priority: 0, status, conditions, actions, created: now, lastUpdated: now };
    if (!(await insertPolicyRule(trx, rule))) throw nameTaken();
    const created = { ...rule, priority: await place(trx, policy.id, rule.id, input.priority) };
    await recordEvent(trx, { ...ruleEvent('add', created, policy, request), after: describedRule(created) });
    return created;
  });
}

/** @throws {ApiError} as `createRule` */
export async function updateRule(
  services: Services,
  path: PolicyPath,
  id: string,
  input: RuleInput,
  request: RequestContext,
): Promise<PolicyRule> {
  return changeServerPart(services, path.serverId, namesOf(input.conditions), async (trx, existing) => {
    const { policy, rule: before } = await requireRule(trx, path, id);
    await refuseMissing(trx, path.serverId, input, existing);
    const { name, status = before.status, conditions, actions } = input;
    const changes = { name, status, conditions, actions, lastUpdated: present() };
    if (!(await updatePolicyRule(trx, id, changes))) throw nameTaken();
    const after = { ...before, ...changes, priority: await place(trx, policy.id, id, input.priority ?? before.priority) };
    await recordEvent(trx, { ...ruleEvent('update', after, policy, request), before: describedRule(before), after: describedRule(after) });
    return after;
  });
}

/** Changes only the priority of a rule. @param priority from 1 on @throws {ApiError} not found; wrong state: the built-in server */
export async function moveRule(services: Services, path: PolicyPath, id: string, priority: number, request: RequestContext): Promise<void> {
  await changeServerPart(services, path.serverId, {}, async (trx) => {
    const { policy, rule: before } = await requireRule(trx, path, id);
    const after = { ...before, priority: await place(trx, policy.id, id, priority) };
    if (after.priority === before.priority) return;
    await updatePolicyRule(trx, id, { lastUpdated: present() });
    await recordEvent(trx, { ...ruleEvent('update', after, policy, request), before: describedRule(before), after: describedRule(after) });
  });
}

/** Later rules move up. @throws {ApiError} not found; wrong state: the built-in server */
export async function deleteRule(services: Services, path: PolicyPath, id: string, request: RequestContext): Promise<void> {
  await changeServerPart(services, path.serverId, {}, async (trx) => {
    const { policy, rule } = await requireRule(trx, path, id);
    await deletePolicyRule(trx, id);
    await writePriorities(trx, 'policy_rules', await idsOf(trx, policy.id));
    await recordEvent(trx, { ...ruleEvent('delete', rule, policy, request), before: describedRule(rule) });
  });
}

/** @throws {ApiError} not found; wrong state: the built-in server */
export async function setRuleStatus(
  services: Services,
  path: PolicyPath,
  id: string,
  status: PolicyStatus,
  request: RequestContext,
): Promise<void> {
  await changeServerPart(services, path.serverId, {}, async (trx) => {
    const { policy, rule } = await requireRule(trx, path, id);
    if (rule.status === status) return;
    await updatePolicyRule(trx, id, { status, lastUpdated: present() });
    const step = status === 'ACTIVE' ? 'activate' : 'deactivate';
    await recordEvent(trx, { ...ruleEvent(step, rule, policy, request), before: { status: rule.status }, after: { status } });
  });
}

async function requireRule(executor: Executor, path: PolicyPath, id: string): Promise<{ policy: Policy; rule: PolicyRule }> {
  const policy = await requirePolicy(executor, path.serverId, path.policyId);
  const rule = await findPolicyRule(executor, policy.id, id);
  if (rule === undefined) throw notFound(id, 'PolicyRule');
  return { policy, rule };
}

const namesOf = ({ people, actors }: RuleConditions): Names => ({
  user: people?.users?.include ?? [],
  group: people?.groups?.include ?? [],
  application: (actors?.include ?? []).filter((id) => id !== ANY),
});

/**
 * The server's lock prevents changes of its scopes and types.
 * @throws {ApiError} validation: a user, group, application, scope, type of details or hook does not exist
 */
async function refuseMissing(
  trx: Executor,
  serverId: string,
  { conditions: { people, scopes, authorizationDetails, actors }, actions: { token } }: Pick<RuleInput, 'conditions' | 'actions'>,
  existing: Existing,
): Promise<void> {
  const scopeNames = (await listScopes(trx, serverId)).map(({ name }) => name);
  const typeNames = authorizationDetails === undefined ? [] : (await listDetailTypes(trx, serverId)).map(({ name }) => name);
  const problems = [
    ...policyProblems('conditions.people.users.include', people?.users?.include ?? [], existing.user),
    ...policyProblems('conditions.people.groups.include', people?.groups?.include ?? [], new Set([EVERYONE, ...existing.group])),
    ...policyProblems('conditions.actors.include', actors?.include ?? [], new Set([ANY, ...existing.application])),
    ...policyProblems('conditions.scopes.include', scopes?.include ?? [], new Set([ANY, ...scopeNames])),
    ...policyProblems('conditions.authorizationDetails.include', authorizationDetails?.include ?? [], new Set([ANY, ...typeNames])),
    ...(token?.inlineHook === undefined ? [] : await hookProblems(trx, token.inlineHook.id)),
  ];
  if (problems.length > 0) throw validation(problems);
}

/** Locks the hook against deletion until the end of the transaction. */
async function hookProblems(trx: Executor, id: string): Promise<FieldProblem[]> {
  const hook = await shareLockInlineHook(trx, id);
  if (hook?.type === TOKENS_TRANSFORM) return [];
  const message = hook === undefined ? `${id} does not exist` : `must have the type ${TOKENS_TRANSFORM}`;
  return [{ field: 'actions.token.inlineHook.id', message }];
}

/** Moves a rule to its position. @returns its priority */
async function place(trx: Executor, policyId: string, id: string, priority: number | undefined): Promise<number> {
  const order = inOrder(await idsOf(trx, policyId), id, priority);
  await writePriorities(trx, 'policy_rules', order);
  return order.indexOf(id) + 1;
}

const idsOf = async (trx: Executor, policyId: string): Promise<string[]> => (await listRows(trx, policyId)).map(({ id }) => id);

const VERBS = { add: 'Add', update: 'Update', delete: 'Delete', activate: 'Activate', deactivate: 'Deactivate' } as const;

/** Audit event of a rule. */
export const ruleEvent = (
  step: keyof typeof VERBS,
  { id, name }: Pick<PolicyRule, 'id' | 'name'>,
  policy: Pick<Policy, 'id' | 'name'>,
  request: RequestContext,
) => ({
  eventType: `policy.rule.${step}` as const,
  displayMessage: `${VERBS[step]} rule of access policy`,
  request,
  targets: [{ id, type: 'PolicyRule', displayName: name }, policyTarget(policy)],
});

/** The rule's data in audit events. */
const describedRule = ({ name, priority, status, conditions, actions }: PolicyRule) => ({ name, priority, status, conditions, actions });
const nameTaken = () => conflict({ field: 'name', message: 'another rule of this policy has this name. Choose another name' });
