/** Reads what a user may administer, in one statement: assigned roles and the roles of members in organizations. */
import type { Executor } from '../../platform/database/database.ts';
import type { OrganizationPermission, Role, RoleType } from './administration.policy.ts';

/** Row of the statement. */
export interface StoredRight {
  readonly type: RoleType;
  readonly org_id: string | null;
  /** null: everything in the organization. */
  readonly permissions: readonly OrganizationPermission[] | null;
  readonly owner: boolean;
}

/** A JSON array of rights; an expression of a statement with the user as `u`. */
export const RIGHTS_OF_USER = `(SELECT coalesce(json_agg(held), '[]') FROM (
    SELECT type, org_id, NULL::text[] AS permissions, false AS owner FROM roles WHERE roles.user_id = u.id
    UNION ALL SELECT 'ORG_ADMIN', org_id, NULL, true FROM memberships WHERE memberships.user_id = u.id AND is_owner
    UNION ALL SELECT 'ORG_ADMIN', x.org_id, r.permissions, false FROM member_roles x JOIN organization_roles r ON r.id = x.role_id
      WHERE x.user_id = u.id AND cardinality(r.permissions) > 0) held)`;

/** SQL expression: does the user administer an organization with any role? @param user expression of the user's id */
export const administersOrganization = (
  user: string,
): string => `(EXISTS (SELECT FROM roles WHERE roles.user_id = ${user} AND type = 'ORG_ADMIN')
    OR EXISTS (SELECT FROM memberships WHERE memberships.user_id = ${user} AND is_owner)
    OR EXISTS (SELECT FROM member_roles x JOIN organization_roles r ON r.id = x.role_id WHERE x.user_id = ${user} AND cardinality(r.permissions) > 0))`;

export const roleOfRight = ({ type, org_id, permissions, owner }: StoredRight): Role => ({
  type,
  ...(org_id !== null && { orgId: org_id }),
  ...(permissions !== null && { permissions }),
  ...(owner && { isOwner: true }),
});

/** Everything that the user may administer. A custom role counts as an ORG_ADMIN with its permissions. */
export async function findRights(executor: Executor, userId: string): Promise<readonly Role[]> {
  const { rows } = await executor.raw<{ rows: { rights: StoredRight[] }[] }>(
    `SELECT ${RIGHTS_OF_USER} AS rights FROM (SELECT ?::text AS id) u`,
    [userId],
  );
  return (rows[0]?.rights ?? []).map(roleOfRight);
}
