/** Access policies of a custom server, put in place of those that it has by the management API. */
import assert from 'node:assert/strict';
import type { RuleActions, RuleConditions } from '../../src/features/policies/access-policy.policy.ts';
import type { ServiceCalls } from './service.ts';

export interface GivenPolicy {
  readonly clients?: readonly string[];
  readonly status?: 'ACTIVE' | 'INACTIVE';
  readonly rules: readonly {
    readonly conditions?: RuleConditions;
    readonly actions?: RuleActions;
    readonly status?: 'ACTIVE' | 'INACTIVE';
  }[];
}

/** They and their rules count in this order. */
export async function setPolicies(service: ServiceCalls, serverId: string, policies: readonly GivenPolicy[]): Promise<void> {
  const path = `/authorizationServers/${serverId}/policies`;
  const done = async (method: string, address: string, body?: unknown) => {
    const answer = await service.api(method, address, body);
    assert.ok(answer.status < 300, `${method} ${address}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (const { id } of await done('GET', path)) await done('DELETE', `${path}/${id}`);
  // The first is the youngest: what orders them is their priority.
  for (const [index, { clients = ['ALL_CLIENTS'], status = 'ACTIVE', rules }] of [...policies.entries()].reverse()) {
    const policy = { name: `Policy ${index}`, priority: 1, status, conditions: { clients: { include: clients } } };
    const { id } = await done('POST', path, policy);
    for (const [turn, { conditions = {}, ...rule }] of [...rules.entries()].reverse()) {
      await done('POST', `${path}/${id}/rules`, { ...rule, name: `Rule ${turn}`, priority: 1, conditions });
    }
  }
}
