/** Custom roles of organizations, and the roles of members. The only SQL that writes these tables and marks owners. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { OrganizationRole } from './organization-roles.resource.ts';

const ROLE: Columns<OrganizationRole> = columns('id', 'name', 'description', 'permissions', 'created', 'lastUpdated');

/** @returns false if the organization already has a role of this name */
export async function insertOrganizationRole(trx: Executor, orgId: string, role: OrganizationRole): Promise<boolean> {
  const row = { org_id: orgId, ...toRow<OrganizationRole>(ROLE, role) };
  return (await trx('organization_roles').insert(row).onConflict(['org_id', 'name']).ignore().returning('id')).length === 1;
}

/** @returns false if another role of the organization has this name; the transaction can then only be rolled back */
export const updateOrganizationRoleRow = (trx: Executor, role: OrganizationRole): Promise<boolean> =>
  unlessRefused(trx('organization_roles').where({ id: role.id }).update(toRow<OrganizationRole>(ROLE, role)));

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

/**
 * SQL expression for the names of a member's roles, as a JSON array: built-in roles first, then the organization's own in alphabetical order.
 * @param m alias of the membership's row
 */
export const rolesOfMember = (m: string): string => `(SELECT jsonb_agg(held.name ORDER BY held.place, held.name COLLATE "C") FROM (
    SELECT 0 AS place, 'owner' AS name WHERE ${m}.is_owner
    UNION ALL SELECT 1, 'admin' WHERE EXISTS (SELECT FROM roles WHERE roles.user_id = ${m}.user_id AND roles.org_id = ${m}.org_id AND roles.type = 'ORG_ADMIN')
    UNION ALL SELECT 2, 'member'
    UNION ALL SELECT 3, r.name FROM member_roles x JOIN organization_roles r ON r.org_id = x.org_id AND r.id = x.role_id
      WHERE x.org_id = ${m}.org_id AND x.user_id = ${m}.user_id) held)`;

/** Are there other members but no other owner? */
export async function isLastOwnerAmongOthers(executor: Executor, orgId: string, userId: string): Promise<boolean> {
  const others = executor('memberships').where({ org_id: orgId }).whereNot({ user_id: userId });
  if ((await others.clone().where({ is_owner: true }).first('user_id')) !== undefined) return false;
  return (await others.first('user_id')) !== undefined;
}

/** Names of a member's roles; undefined: the user is not a member. */
export async function findMemberRoles(executor: Executor, orgId: string, userId: string): Promise<readonly string[] | undefined> {
  const { rows } = await executor.raw<{ rows: { roles: string[] }[] }>(
    `SELECT ${rolesOfMember('m')} AS roles FROM memberships m WHERE m.org_id = ? AND m.user_id = ?`,
    [orgId, userId],
  );
  return rows[0]?.roles;
}

/** Replaces a member's custom roles and ownership. Needs the lock of the organization. */
export async function replaceMemberRoles(
  trx: Executor,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  { isOwner: owns, roleIds }: { readonly isOwner: boolean; readonly roleIds: readonly string[] },
): Promise<void> {
  const member = { org_id: orgId, user_id: userId };
  await trx('memberships').where(member).update({ is_owner: owns });
  await trx('member_roles')
    .where(member)
    .whereNotIn('role_id', [...roleIds])
    .delete();
  if (roleIds.length > 0)
    await trx('member_roles')
      .insert(roleIds.map((role_id) => ({ ...member, role_id })))
      .onConflict()
      .ignore();
}

/** Holders of a custom role, in the order of row locks. @param most maximum number */
export const listUserIdsWithRole = (executor: Executor, orgId: string, roleId: string, most: number): Promise<string[]> =>
  executor('member_roles').where({ org_id: orgId, role_id: roleId }).orderBy('user_id').limit(most).pluck('user_id');
