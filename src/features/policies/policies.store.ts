/** Access policies of an authorization server and their rules. The only SQL on those tables. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import type { AccessPolicy, NamedInRule } from './access-policy.policy.ts';
import type { Policy, PolicyRule } from './policies.resource.ts';

const POLICY: Columns<Policy> = columns('id', 'serverId', 'name', 'description', 'priority', 'status', 'clients', 'created', 'lastUpdated');

const RULE: Columns<PolicyRule> = {
  id: 'id',
  policyId: 'policy_id',
  name: 'name',
  priority: 'priority',
  status: 'status',
  conditions: 'conditions',
  actions: 'actions',
  created: 'created',
  lastUpdated: 'last_updated',
};

type Changes<T> = Partial<Omit<T, 'id' | 'serverId' | 'policyId' | 'priority' | 'created'>>;

/** @returns false if another policy of the server has that name */
export async function insertPolicy(executor: Executor, policy: Policy): Promise<boolean> {
  const inserted = await executor('policies').insert(toRow(POLICY, policy)).onConflict(['server_id', 'name']).ignore().returning('id');
  return inserted.length === 1;
}

/** @returns false if another rule of the policy has that name */
export async function insertPolicyRule(executor: Executor, rule: PolicyRule): Promise<boolean> {
  const inserted = await executor('policy_rules').insert(toRow(RULE, rule)).onConflict(['policy_id', 'name']).ignore().returning('id');
  return inserted.length === 1;
}

/** @returns false if another policy of the server has that name; the transaction can then only be rolled back */
export const updatePolicy = (trx: Executor, id: string, changes: Changes<Policy>): Promise<boolean> =>
  unlessRefused(trx('policies').where({ id }).update(toRow<Policy>(POLICY, changes)), 'policies_server_id_name_key');

/** @returns false if another rule of the policy has that name; the transaction can then only be rolled back */
export const updatePolicyRule = (trx: Executor, id: string, changes: Changes<PolicyRule>): Promise<boolean> =>
  unlessRefused(trx('policy_rules').where({ id }).update(toRow<PolicyRule>(RULE, changes)), 'policy_rules_policy_id_name_key');

/** Also deletes its rules. */
export async function deletePolicyRow(executor: Executor, id: string): Promise<void> {
  await executor('policies').where({ id }).delete();
}

export async function deletePolicyRule(executor: Executor, id: string): Promise<void> {
  await executor('policy_rules').where({ id }).delete();
}

export async function findPolicy(executor: Executor, serverId: string, id: string): Promise<Policy | undefined> {
  return executor('policies').where({ server_id: serverId, id }).first<Policy | undefined>(POLICY);
}

export async function findPolicyRule(executor: Executor, policyId: string, id: string): Promise<PolicyRule | undefined> {
  return executor('policy_rules').where({ policy_id: policyId, id }).first<PolicyRule | undefined>(RULE);
}

/** By `priority`; equal ones (no longer created) by age. */
const ORDER = ['priority', 'created', 'id'];

export async function selectPolicies(executor: Executor, serverId: string): Promise<Policy[]> {
  return executor('policies').where({ server_id: serverId }).orderBy(ORDER).select<Policy[]>(POLICY);
}

export async function listPolicyRules(executor: Executor, policyId: string): Promise<PolicyRule[]> {
  return executor('policy_rules').where({ policy_id: policyId }).orderBy(ORDER).select<PolicyRule[]>(RULE);
}

/** Numbers the priorities from 1. @param ids all policies of one server, or all rules of one policy, in order */
export async function writePriorities(trx: Executor, table: 'policies' | 'policy_rules', ids: readonly string[]): Promise<void> {
  await trx.raw(
    `UPDATE ${table} SET priority = wanted.turn FROM unnest(?::text[]) WITH ORDINALITY AS wanted (id, turn)
      WHERE ${table}.id = wanted.id AND ${table}.priority <> wanted.turn`,
    [[...ids]],
  );
}

/** The policies of all servers that name the client, by ID. */
export async function listPoliciesNaming(executor: Executor, clientId: string): Promise<Policy[]> {
  return executor('policies').whereRaw('? = ANY(clients)', [clientId]).orderBy('id').select<Policy[]>(POLICY);
}

const LISTS: Readonly<Record<NamedInRule, string>> = {
  user: '{people,users,include}',
  group: '{people,groups,include}',
  application: '{actors,include}',
};
const RULE_AMONG_OTHERS = Object.fromEntries(Object.entries(RULE).map(([field, column]) => [field, `policy_rules.${column}`]));

/** The rules of all servers whose conditions contain the name, by ID. @returns each with its server */
export async function listRulesNaming(
  executor: Executor,
  kind: NamedInRule,
  id: string,
): Promise<(PolicyRule & { readonly serverId: string })[]> {
  return executor('policy_rules')
    .join('policies', 'policies.id', 'policy_rules.policy_id')
    .whereRaw('policy_rules.conditions #> ?::text[] @> to_jsonb(?::text)', [LISTS[kind], id])
    .orderBy('policy_rules.id')
    .select<(PolicyRule & { serverId: string })[]>({ ...RULE_AMONG_OTHERS, serverId: 'policies.server_id' });
}

/** The rules of all servers with the inline hook, by ID. @returns each with its server */
export async function listRulesWithHook(executor: Executor, hookId: string): Promise<(PolicyRule & { readonly serverId: string })[]> {
  return executor('policy_rules')
    .join('policies', 'policies.id', 'policy_rules.policy_id')
    .whereRaw("policy_rules.actions #>> '{token,inlineHook,id}' = ?", [hookId])
    .orderBy('policy_rules.id')
    .select<(PolicyRule & { serverId: string })[]>({ ...RULE_AMONG_OTHERS, serverId: 'policies.server_id' });
}

/** The active policies of a server with their active rules, both in order of priority. */
export async function listActivePolicies(executor: Executor, serverId: string): Promise<AccessPolicy[]> {
  const { rows } = await executor.raw<{ rows: AccessPolicy[] }>(
    `SELECT p.id, p.name, p.clients,
        coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name, 'conditions', r.conditions, 'actions', r.actions)
          ORDER BY r.priority, r.created, r.id) FILTER (WHERE r.id IS NOT NULL), '[]') AS rules
      FROM policies p LEFT JOIN policy_rules r ON r.policy_id = p.id AND r.status = 'ACTIVE'
      WHERE p.server_id = ? AND p.status = 'ACTIVE'
      GROUP BY p.id ORDER BY p.priority, p.created, p.id`,
    [serverId],
  );
  return rows;
}
