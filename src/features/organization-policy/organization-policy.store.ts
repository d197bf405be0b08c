/** The policies of organizations. The only SQL that writes that column; sign-ins and tokens read it with other data. */
import type { Executor } from '../../platform/database/database.ts';
import type { OrganizationPolicy } from './organization-policy.policy.ts';

/** @returns null: none is set; undefined: there is no such organization */
export async function findOrganizationPolicy(executor: Executor, orgId: string): Promise<OrganizationPolicy | null | undefined> {
  const row = await executor('organizations').where({ id: orgId }).first<{ policy: OrganizationPolicy | null } | undefined>('policy');
  return row?.policy;
}

/** @param policy null: none */
export async function updateOrganizationPolicy(trx: Executor, orgId: string, policy: OrganizationPolicy | null): Promise<void> {
  await trx('organizations')
    .where({ id: orgId })
    .update({ policy: policy === null ? null : JSON.stringify(policy) });
}

/** Organizations whose sessions can last longer than the service's, because the service's setting was later made stricter. */
export async function listWithoutEffect(
  executor: Executor,
  { sessionIdleMinutes, sessionLifetimeDays }: { readonly sessionIdleMinutes: number; readonly sessionLifetimeDays: number },
  most: number,
): Promise<readonly string[]> {
  return executor('organizations')
    .whereRaw("(policy->>'sessionIdleMinutes')::int > ? OR (policy->>'sessionLifetimeHours')::int > ?", [
      sessionIdleMinutes,
      sessionLifetimeDays * 24,
    ])
    .orderBy('name')
    .limit(most)
    .pluck('name');
}
