/** Roles that organizations have defined. The only SQL that writes that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { OrganizationRole } from './organization-roles.resource.ts';

const ROLE: Columns<OrganizationRole> = {
  id: 'id',
  name: 'name',
  description: 'description',
  permissions: 'permissions',
  created: 'created',
  lastUpdated: 'last_updated',
};

/** @returns false when the organization has a role of this name */
export async function insertOrganizationRole(trx: Executor, orgId: string, role: OrganizationRole): Promise<boolean> {
  const row = { org_id: orgId, ...toRow<OrganizationRole>(ROLE, role) };
  return (await trx('organization_roles').insert(row).onConflict(['org_id', 'name']).ignore().returning('id')).length === 1;
}

/** @returns false when another role of the organization has this name; the transaction is then good for nothing more */
export async function updateOrganizationRoleRow(trx: Executor, role: OrganizationRole): Promise<boolean> {
  try {
    await trx('organization_roles').where({ id: role.id }).update(toRow<OrganizationRole>(ROLE, role));
    return true;
  } catch (error) {
    if (violatedConstraint(error) !== undefined) return false;
    throw error;
  }
}

export async function deleteOrganizationRoleRow(trx: Executor, id: string): Promise<void> {
  await trx('organization_roles').where({ id }).delete();
}

export const findOrganizationRole = (executor: Executor, orgId: string, id: string): Promise<OrganizationRole | undefined> =>
  executor('organization_roles').where({ org_id: orgId, id }).first<OrganizationRole | undefined>(ROLE);

/** Oldest first. */
export const readOrganizationRoles = (executor: Executor, orgId: string, window: Window): Promise<Page<OrganizationRole>> =>
  readPage(executor('organization_roles').where({ org_id: orgId }), ROLE, window);

/** All of them, oldest first. */
export const listOrganizationRoles = (executor: Executor, orgId: string): Promise<OrganizationRole[]> =>
  executor('organization_roles').where({ org_id: orgId }).orderBy('seq').select<OrganizationRole[]>(ROLE);
