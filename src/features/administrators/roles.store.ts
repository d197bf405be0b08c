/** Administrators' roles. The only SQL on that table, except for look-ups that read users with their roles. */

import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import type { UserStatus } from '../users/user-lifecycle.policy.ts';
import { applyUserWords, CURRENT_STATUS } from '../users/user-orders.store.ts';
import type { AssignedRole, OrganizationPermission, Role, RoleType } from './administration.policy.ts';

interface Row {
  readonly id: string;
  readonly user_id: string;
  readonly type: RoleType;
  readonly org_id: string | null;
  readonly created: Date;
}

const COLUMNS = ['id', 'user_id', 'type', 'org_id', 'created'] as const;
const roleOf = ({ id, user_id, type, org_id, created }: Row): AssignedRole => ({
  id,
  userId: user_id,
  type,
  ...(org_id !== null && { orgId: org_id }),
  created,
});

/** Assigns a role to a user. @returns the conflict that prevented it */
export async function insertRole(
  executor: Executor,
  userId: string,
  role: Role,
  created: Date,
): Promise<AssignedRole | 'held already' | 'no such organization'> {
  try {
    const [row] = await executor('roles')
      .insert({ id: newId('rol'), user_id: userId, type: role.type, org_id: role.orgId ?? null, created })
      .onConflict(['user_id', 'type', 'org_id'])
      .ignore()
      .returning<Row[]>([...COLUMNS]);
    return row === undefined ? 'held already' : roleOf(row);
  } catch (error) {
    if (violatedConstraint(error) === 'roles_org_id_fkey') return 'no such organization';
    throw error;
  }
}

/** The user's roles, oldest first. */
export async function findRoles(executor: Executor, userId: string): Promise<AssignedRole[]> {
  const rows = await executor('roles')
    .where({ user_id: userId })
    .orderBy(['created', 'id'])
    .select<Row[]>([...COLUMNS]);
  return rows.map(roleOf);
}

export async function findRole(executor: Executor, userId: string, id: string): Promise<AssignedRole | undefined> {
  const row = await executor('roles')
    .where({ user_id: userId, id })
    .first<Row | undefined>([...COLUMNS]);
  return row && roleOf(row);
}

export async function deleteRole(executor: Executor, id: string): Promise<void> {
  await executor('roles').where({ id }).delete();
}

/** Deletes the roles for an organization. @returns the IDs of the users who had them */
export async function deleteRolesOf(executor: Executor, orgId: string): Promise<string[]> {
  const rows = await executor('roles').where({ org_id: orgId }).delete().returning<{ user_id: string }[]>('user_id');
  return rows.map((row) => row.user_id);
}

const SUPER_ADMINS = 0x73757065;

/** Serializes changes of active SUPER_ADMINs until the transaction ends. Call it before locking rows. */
export async function lockSuperAdmins(trx: Executor): Promise<void> {
  await trx.raw('SELECT pg_advisory_xact_lock(?)', [SUPER_ADMINS]);
}

/**
 * Is this user an active SUPER_ADMIN, and is no other one able to sign in, with a password, a passkey or a link to an active provider? How the user
 * signs in does not matter.
 */
export async function isLastSuperAdmin(executor: Executor, userId: string): Promise<boolean> {
  const { rows } = await executor.raw<{ rows: { last: boolean }[] }>(
    `SELECT bool_or(u.id = :userId) AND NOT bool_or(u.id <> :userId AND (u.password_hash IS NOT NULL
        OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id)
        OR EXISTS (SELECT FROM identity_provider_links l JOIN identity_providers i ON i.id = l.idp_id WHERE l.user_id = u.id AND i.status = 'ACTIVE'))) AS last
      FROM roles JOIN users u ON u.id = roles.user_id WHERE roles.type = 'SUPER_ADMIN' AND u.status = 'ACTIVE'`,
    { userId },
  );
  return rows[0]?.last === true;
}

/** A user with their roles. */
export interface Administrator {
  readonly userId: string;
  readonly login: string;
  /** Stored status; combine it with `lockedUntil` in `statusAt`. */
  readonly status: UserStatus;
  readonly lockedUntil: Date | null;
  /** Oldest first. */
  readonly roles: readonly (Role & { readonly orgName: string | null })[];
}

const ROLES_OF = `(SELECT json_agg(json_build_object('type', r.type, 'orgId', r.org_id, 'orgName', o.name) ORDER BY r.created, r.id)
  FROM roles r LEFT JOIN organizations o ON o.id = r.org_id WHERE r.user_id = users.id)`;

/** Filters administrators by their roles. */
export interface AdministratorSelection {
  readonly type?: RoleType | undefined;
  /** A role for this organization. */
  readonly orgId?: string | undefined;
}

/** Oldest users first. */
export function selectAdministrators(
  executor: Executor,
  { type, orgId }: AdministratorSelection,
  window: Window,
): Promise<Page<Administrator>> {
  const holders = executor('roles').select('user_id');
  if (type !== undefined) holders.where({ type });
  if (orgId !== undefined) holders.where({ org_id: orgId });
  const columns = {
    userId: 'id',
    login: 'login',
    status: 'status',
    lockedUntil: 'locked_until',
    roles: executor.raw(ROLES_OF),
  };
  return readPage(executor('users').whereIn('id', holders), columns, window, {
    search: applyUserWords,
    orders: { status: executor.raw(CURRENT_STATUS) },
  });
}

// Reads what a user can administer, in one statement: assigned roles and the roles of members in organizations.

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

/** Everything that the user can administer. A custom role counts as an ORG_ADMIN with its permissions. */
export async function findRights(executor: Executor, userId: string): Promise<readonly Role[]> {
  const { rows } = await executor.raw<{ rows: { rights: StoredRight[] }[] }>(
    `SELECT ${RIGHTS_OF_USER} AS rights FROM (SELECT ?::text AS id) u`,
    [userId],
  );
  return (rows[0]?.rights ?? []).map(roleOfRight);
}
