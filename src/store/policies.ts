/** Access policies of an authorization server and their rules. The only SQL on those tables. */
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
