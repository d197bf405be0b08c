/** Roles of applications, and which of them come with assignments. The only SQL that writes these tables. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import type { AssigneeKind } from '../applications/applications.resource.ts';
import type { ApplicationRole, HeldRole } from './application-roles.resource.ts';

const ROLE: Columns<ApplicationRole> = columns('id', 'name', 'displayName', 'description', 'created', 'lastUpdated');

/** @returns false if the application already has a role of this name */
export async function insertApplicationRole(trx: Executor, applicationId: string, role: ApplicationRole): Promise<boolean> {
  const row = { application_id: applicationId, ...toRow<ApplicationRole>(ROLE, role) };
  return (await trx('application_roles').insert(row).onConflict(['application_id', 'name']).ignore().returning('id')).length === 1;
}

/** @returns false if another role of the application has this name; the transaction can then only be rolled back */
export const updateRoleRow = (trx: Executor, role: ApplicationRole): Promise<boolean> =>
  unlessRefused(trx('application_roles').where({ id: role.id }).update(toRow<ApplicationRole>(ROLE, role)));

export async function deleteRoleRow(trx: Executor, id: string): Promise<void> {
  await trx('application_roles').where({ id }).delete();
}

export const findApplicationRole = (executor: Executor, applicationId: string, id: string): Promise<ApplicationRole | undefined> =>
  executor('application_roles').where({ application_id: applicationId, id }).first<ApplicationRole | undefined>(ROLE);

/** Oldest first. */
export const readApplicationRoles = (executor: Executor, applicationId: string, window: Window): Promise<Page<ApplicationRole>> =>
  readPage(executor('application_roles').where({ application_id: applicationId }), ROLE, window);

/** A name of roles, and one of the applications that have such a role. */
export interface RoleName {
  readonly name: string;
  readonly id: string;
  readonly applicationId: string;
  readonly application: string;
  /** Number of applications that have such a role. */
  readonly applications: number;
}

/** Names of the roles of all applications, in alphabetical order. @param words of the names; undefined: all */
export async function findRoleNames(executor: Executor, words: string | undefined, most: number): Promise<readonly RoleName[]> {
  const found = executor('application_roles as r').join('applications as a', 'a.id', 'r.application_id');
  if (words !== undefined) applyWords(found, ['r.name'], words, 'part');
  const first = (column: string) => `(array_agg(${column} ORDER BY a.label, a.id))[1]`;
  const rows = await found
    .groupBy('r.name')
    .orderByRaw('r.name COLLATE "C"')
    .limit(most)
    .select<(Omit<RoleName, 'applications'> & { readonly count: string })[]>(
      'r.name',
      executor.raw(`${first('r.id')} AS id, ${first('a.id')} AS "applicationId", ${first('a.label')} AS application, count(*) AS count`),
    );
  return rows.map(({ count, ...row }) => ({ ...row, applications: Number(count) }));
}

/** All of them, oldest first; locked against deletion until the transaction ends. */
export const lockApplicationRoles = (trx: Executor, applicationId: string): Promise<ApplicationRole[]> =>
  trx('application_roles').where({ application_id: applicationId }).orderBy('seq').forShare().select<ApplicationRole[]>(ROLE);

const tableOf = (kind: AssigneeKind) => ({ table: `application_${kind}_roles`, column: `${kind}_id` });

/** Names of the roles that come with an assignment, in alphabetical order; an expression of a statement with the assignment as `a`. */
export const rolesOfAssignment = (kind: AssigneeKind): string => {
  const { table, column } = tableOf(kind);
  return `ARRAY(SELECT r.name FROM ${table} x JOIN application_roles r ON r.id = x.role_id
    WHERE x.application_id = a.application_id AND x.${column} = a.${column} ORDER BY r.name COLLATE "C")`;
};

/** Replaces the roles that come with an assignment. */
export async function replaceAssignedRoles(
  trx: Executor,
  applicationId: string,
  { kind, id }: { readonly kind: AssigneeKind; readonly id: string },
  roleIds: readonly string[],
): Promise<void> {
  const { table, column } = tableOf(kind);
  const assignment = { application_id: applicationId, [column]: id };
  await trx(table)
    .where(assignment)
    .whereNotIn('role_id', [...roleIds])
    .delete();
  if (roleIds.length > 0)
    await trx(table)
      .insert(roleIds.map((role_id) => ({ ...assignment, role_id })))
      .onConflict()
      .ignore();
}

const HELD = `SELECT r.name, bool_or(held.group_id IS NULL) AS direct,
    coalesce(array_agg(g.name ORDER BY g.name COLLATE "C") FILTER (WHERE g.id IS NOT NULL), '{}') AS groups
  FROM (SELECT role_id, NULL AS group_id FROM application_user_roles WHERE application_id = :applicationId AND user_id = :userId
    UNION ALL SELECT x.role_id, x.group_id FROM application_group_roles x JOIN group_members m ON m.group_id = x.group_id
      WHERE x.application_id = :applicationId AND m.user_id = :userId) AS held
  JOIN application_roles r ON r.id = held.role_id LEFT JOIN groups g ON g.id = held.group_id
  GROUP BY r.name ORDER BY r.name COLLATE "C"`;

/** The roles of a user at an application, in alphabetical order, with their sources. */
export async function listHeldRoles(executor: Executor, applicationId: string, userId: string): Promise<readonly HeldRole[]> {
  const { rows } = await executor.raw<{ rows: HeldRole[] }>(HELD, { applicationId, userId });
  return rows;
}
