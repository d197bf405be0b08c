/** Administrators' roles. The only SQL on that table but for the look-up of an API token, which reads its creator's roles along. */
import type { Role, RoleType } from '../policy/administration.ts';
import { newId } from '../secrets.ts';
import type { Executor } from './database.ts';

/** Gives a user a role; a role already held is left as it is. */
export async function insertRole(executor: Executor, userId: string, role: Role, created: Date): Promise<void> {
  await executor('roles')
    .insert({ id: newId('rol'), user_id: userId, type: role.type, org_id: role.orgId ?? null, created })
    .onConflict(['user_id', 'type', 'org_id'])
    .ignore();
}

export async function findRoles(executor: Executor, userId: string): Promise<Role[]> {
  const rows = await executor<{ user_id: string; type: RoleType; org_id: string | null }>('roles')
    .where({ user_id: userId })
    .select('type', 'org_id');
  return rows.map((row) => ({ type: row.type, orgId: row.org_id ?? undefined }));
}
