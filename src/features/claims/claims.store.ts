/** Custom claims of authorization servers, and the user data that they need. The only SQL that writes the table of claims. */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { rolesOfMember } from '../organization-roles/organization-roles.store.ts';
import type { Belongings, ClaimMembership, ServerClaim } from './custom-claims.policy.ts';

const CLAIM: Columns<ServerClaim> = {
  id: 'id',
  name: 'name',
  claimType: 'claim_type',
  valueType: 'value_type',
  value: 'value',
  valueFormat: 'value_format',
  scopes: 'scopes',
  alwaysIncludeInToken: 'always_include',
  groupFilterType: 'group_filter_type',
  status: 'status',
};

/** @returns false if the server already has a claim of this type and name */
export async function insertClaim(trx: Executor, serverId: string, claim: ServerClaim): Promise<boolean> {
  const row = { server_id: serverId, ...toRow<ServerClaim>(CLAIM, claim) };
  return (await trx('claims').insert(row).onConflict(['server_id', 'claim_type', 'name']).ignore().returning('id')).length === 1;
}

/** All claims of a server, active or not, oldest first. */
export const listClaims = (executor: Executor, serverId: string): Promise<ServerClaim[]> =>
  executor('claims').where({ server_id: serverId }).select<ServerClaim[]>(CLAIM).orderBy('seq');

/** Claims of any server based on a user attribute. */
export const listClaimsOfAttribute = (executor: Executor, attribute: string): Promise<{ name: string; serverId: string }[]> =>
  executor('claims')
    .where({ value_type: 'USER_ATTRIBUTE' })
    .whereIn('value', [attribute, `user.${attribute}`, `user.profile.${attribute}`])
    .select<{ name: string; serverId: string }[]>({ name: 'name', serverId: 'server_id' })
    .orderBy('seq');

/** Oldest first. */
export const readClaims = (executor: Executor, serverId: string, window: Window): Promise<Page<ServerClaim>> =>
  readPage(executor('claims').where({ server_id: serverId }), CLAIM, window);

export const findClaim = (executor: Executor, serverId: string, id: string): Promise<ServerClaim | undefined> =>
  executor('claims').where({ server_id: serverId, id }).first<ServerClaim | undefined>(CLAIM);

/** @returns false if another claim of the server has the wanted type and name; the transaction can then only be rolled back */
export const updateClaim = (trx: Executor, claim: ServerClaim): Promise<boolean> =>
  unlessRefused(trx('claims').where({ id: claim.id }).update(toRow<ServerClaim>(CLAIM, claim)));

export async function deleteClaim(trx: Executor, id: string): Promise<void> {
  await trx('claims').where({ id }).delete();
}

/**
 * Memberships of a user for claims: names of groups and application roles in alphabetical order, organizations and departments in the order of
 * joining.
 */
const ROLES_OF_MEMBER = rolesOfMember('m');

export async function readBelongings(executor: Executor, userId: string, applicationId: string): Promise<Belongings> {
  const { rows } = await executor.raw<{ rows: { groups: string[]; memberships: ClaimMembership[]; roles: string[] }[] }>(
    `SELECT
      coalesce((SELECT jsonb_agg(g.name ORDER BY g.name COLLATE "C") FROM group_members m JOIN groups g ON g.id = m.group_id
        WHERE m.user_id = :userId), '[]') AS groups,
      coalesce((SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('orgId', o.id, 'orgName', o.name, 'department',
          CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('depId', d.id, 'name', d.name) END, 'roles', ${ROLES_OF_MEMBER})) ORDER BY m.seq)
        FROM memberships m JOIN organizations o ON o.id = m.org_id LEFT JOIN departments d ON d.id = m.dep_id
        WHERE m.user_id = :userId), '[]') AS memberships,
      coalesce((SELECT jsonb_agg(r.name ORDER BY r.name COLLATE "C") FROM application_roles r WHERE r.application_id = :applicationId
        AND (EXISTS (SELECT FROM application_user_roles x WHERE x.application_id = :applicationId AND x.user_id = :userId AND x.role_id = r.id)
          OR EXISTS (SELECT FROM application_group_roles x JOIN group_members m ON m.group_id = x.group_id
            WHERE x.application_id = :applicationId AND x.role_id = r.id AND m.user_id = :userId))), '[]') AS roles`,
    { userId, applicationId },
  );
  const [found] = rows;
  return found ?? { groups: [], memberships: [] };
}
