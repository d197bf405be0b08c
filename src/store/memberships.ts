/** Which users belong to which organization, and to which department in it. The only SQL on that table. */
import type { Executor } from './database.ts';
import { violatedConstraint } from './failures.ts';

export interface Membership {
  readonly orgId: string;
  readonly userId: string;
  readonly depId?: string | undefined;
}

/** @returns what does not exist and kept the row out; undefined when it is written */
export async function insertMembership(executor: Executor, membership: Membership, created: Date): Promise<'orgId' | 'depId' | undefined> {
  try {
    await executor('memberships').insert({
      org_id: membership.orgId,
      user_id: membership.userId,
      dep_id: membership.depId ?? null,
      created,
    });
    return undefined;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'memberships_org_id_fkey') return 'orgId';
    if (constraint === 'memberships_org_id_dep_id_fkey') return 'depId';
    throw error;
  }
}
