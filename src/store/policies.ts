/** Access policies of an authorization server and their rules. The only SQL on those tables. */
import type { AccessPolicy } from '../policy/access-policy.ts';
import type { Executor } from './database.ts';

export interface Policy {
  readonly id: string;
  readonly serverId: string;
  readonly name: string;
  readonly priority: number;
  /** `ALL_CLIENTS` or client ids. */
  readonly clients: readonly string[];
  readonly created: Date;
}

export interface PolicyRule {
  readonly id: string;
  readonly policyId: string;
  readonly name: string;
  readonly priority: number;
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly created: Date;
}

export async function insertPolicy(executor: Executor, policy: Policy): Promise<void> {
  const { id, name, priority, clients, created } = policy;
  await executor('policies').insert({ id, server_id: policy.serverId, name, priority, clients, created, last_updated: created });
}

export async function insertPolicyRule(executor: Executor, rule: PolicyRule): Promise<void> {
  const { id, name, priority, conditions, actions, created } = rule;
  await executor('policy_rules').insert({
    id,
    policy_id: rule.policyId,
    name,
    priority,
    conditions,
    actions,
    created,
    last_updated: created,
  });
}

/** The policies of a server that are in force, with their rules that are, both in the order of their priority. */
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
