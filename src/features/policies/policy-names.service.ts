/**
 * Removes a deleted object from the policies and rules that refer to it, in the transaction of its deletion: a later application with the same
 * client_id must not inherit anything. A list that contained only that name remains empty, and then means nobody
 * (features/policies/access-policy.policy.ts).
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { lockServer } from '../authorization-servers/authorization-servers.store.ts';
import { ALL_CLIENTS, type NamedInRule, withoutName } from './access-policy.policy.ts';
import { policyEvent } from './policies.service.ts';
import { findPolicy, listPoliciesNaming, listRulesNaming, updatePolicy, updatePolicyRule } from './policies.store.ts';
import { ruleEvent } from './policy-rules.service.ts';

/** @param trx in which the user or group is locked, so that new references are impossible */
export async function removePersonFromPolicies(
  services: Services,
  trx: Executor,
  kind: 'user' | 'group',
  id: string,
  request: RequestContext,
): Promise<void> {
  await lockServers(services, trx, await listRulesNaming(trx, kind, id));
  await removeFromRules(trx, kind, id, request);
}

async function removeFromRules(trx: Executor, kind: NamedInRule, id: string, request: RequestContext): Promise<void> {
  for (const rule of await listRulesNaming(trx, kind, id)) {
    const conditions = withoutName(rule.conditions, kind, id);
    await updatePolicyRule(trx, rule.id, { conditions, lastUpdated: present() });
    const policy = await findPolicy(trx, rule.serverId, rule.policyId);
    if (policy === undefined) throw new Error(`the rule ${rule.id} is of no policy`);
    await recordEvent(trx, {
      ...ruleEvent('update', rule, policy, request),
      before: { conditions: rule.conditions },
      after: { conditions },
    });
  }
}

/** @param trx in which the application is locked */
export async function removeClientFromPolicies(
  services: Services,
  trx: Executor,
  clientId: string,
  request: RequestContext,
): Promise<void> {
  // An application may have this ID; in a policy the word means all clients.
  const listPolicies = async () => (clientId === ALL_CLIENTS ? [] : listPoliciesNaming(trx, clientId));
  await lockServers(services, trx, [...(await listPolicies()), ...(await listRulesNaming(trx, 'application', clientId))]);
  await removeFromRules(trx, 'application', clientId, request);
  for (const policy of await listPolicies()) {
    const clients = policy.clients.filter((client) => client !== clientId);
    await updatePolicy(trx, policy.id, { clients, lastUpdated: present() });
    await recordEvent(trx, { ...policyEvent('update', policy, request), before: { clients: policy.clients }, after: { clients } });
  }
}

/** In a fixed order, so that concurrent deletions do not deadlock. */
async function lockServers({ notifications }: Services, trx: Executor, found: readonly { readonly serverId: string }[]): Promise<void> {
  for (const serverId of [...new Set(found.map(({ serverId: id }) => id))].toSorted()) {
    await lockServer(trx, serverId);
    await notifications.publish(trx, { kind: 'server', id: serverId });
  }
}
