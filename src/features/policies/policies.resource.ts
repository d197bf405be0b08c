/** Policies: the fields of a record. */
import type { RuleActions, RuleConditions } from './access-policy.policy.ts';

export type PolicyStatus = 'ACTIVE' | 'INACTIVE';

export interface Policy {
  readonly id: string;
  readonly serverId: string;
  /** Unique at its server. */
  readonly name: string;
  readonly description: string;
  /** Priority among the server's policies, from 1. */
  readonly priority: number;
  readonly status: PolicyStatus;
  /** `ALL_CLIENTS`, or client IDs. */
  readonly clients: readonly string[];
  readonly created: Date;
  readonly lastUpdated: Date;
}

export interface PolicyRule {
  readonly id: string;
  readonly policyId: string;
  /** Unique in its policy. */
  readonly name: string;
  /** Priority among the policy's rules, from 1. */
  readonly priority: number;
  readonly status: PolicyStatus;
  readonly conditions: RuleConditions;
  readonly actions: RuleActions;
  readonly created: Date;
  readonly lastUpdated: Date;
}
