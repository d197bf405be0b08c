/** Assignments of applications to users and groups. The only SQL on those tables. */
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { rolesOfAssignment } from '../application-roles/application-roles.store.ts';
import { applyWordsOfUser } from '../users/user-orders.store.ts';
import type { AssigneeKind, Assignment } from './applications.resource.ts';

/** Assignment and assignee tables for each kind. */
const TABLES = {
  user: { table: 'application_users', column: 'user_id', assignees: 'users', name: 'login' },
  group: { table: 'application_groups', column: 'group_id', assignees: 'groups', name: 'name' },
} as const;

const columnsOf = (executor: Executor, kind: AssigneeKind) => ({
  id: 'of.id',
  name: `of.${TABLES[kind].name}`,
  created: 'a.created',
  roles: executor.raw(rolesOfAssignment(kind)),
});

/** @returns `missing` if the application or assignee no longer exists; the transaction must then be rolled back */
export async function insertAssignment(
  trx: Executor,
  applicationId: string,
  kind: AssigneeKind,
  assigneeId: string,
  created: Date,
): Promise<'added' | 'there already' | 'missing'> {
  const { table, column } = TABLES[kind];
  try {
    const row = { application_id: applicationId, [column]: assigneeId, created };
    const inserted = await trx(table).insert(row).onConflict(['application_id', column]).ignore().returning(column);
    return inserted.length === 1 ? 'added' : 'there already';
  } catch (error) {
    if (violatedConstraint(error) !== undefined) return 'missing';
    throw error;
  }
}

/** @returns false if there is no such assignment */
export async function deleteAssignment(trx: Executor, applicationId: string, kind: AssigneeKind, assigneeId: string): Promise<boolean> {
  const { table, column } = TABLES[kind];
  return (
    (await trx(table)
      .where({ application_id: applicationId, [column]: assigneeId })
      .delete()) === 1
  );
}

export async function findAssignment(
  executor: Executor,
  applicationId: string,
  kind: AssigneeKind,
  assigneeId: string,
): Promise<Assignment | undefined> {
  return assignments(executor, applicationId, kind)
    .where('of.id', assigneeId)
    .select(columnsOf(executor, kind))
    .first<Assignment | undefined>();
}

/** Locks it, so that the second of two concurrent changes of roles sees the first. @returns false if there is no such assignment */
export async function lockAssignment(trx: Executor, applicationId: string, kind: AssigneeKind, assigneeId: string): Promise<boolean> {
  const { table, column } = TABLES[kind];
  return (
    (await trx(table)
      .where({ application_id: applicationId, [column]: assigneeId })
      .forUpdate()
      .first(column)) !== undefined
  );
}

/** @returns those of these users or groups that are assigned */
export const listAssignedAmong = (
  executor: Executor,
  applicationId: string,
  kind: AssigneeKind,
  ids: readonly string[],
): Promise<string[]> =>
  executor(TABLES[kind].table)
    .where({ application_id: applicationId })
    .whereIn(TABLES[kind].column, [...ids])
    .pluck(TABLES[kind].column);

/** Oldest users or groups first. Words find users by all their names. */
export const selectAssignments = (
  executor: Executor,
  applicationId: string,
  kind: AssigneeKind,
  window: Window,
): Promise<Page<Assignment>> =>
  readPage(assignments(executor, applicationId, kind), columnsOf(executor, kind), window, {
    by: 'of.seq',
    counted: assigned(executor, applicationId, kind),
    isFilled: true,
    search: kind === 'user' ? applyWordsOfUser('of.id') : undefined,
  });

const assigned = (executor: Executor, applicationId: string, kind: AssigneeKind) =>
  executor(`${TABLES[kind].table} AS a`).where('a.application_id', applicationId);

function assignments(executor: Executor, applicationId: string, kind: AssigneeKind) {
  const { column, assignees } = TABLES[kind];
  return assigned(executor, applicationId, kind).join(`${assignees} AS of`, 'of.id', `a.${column}`);
}

const IS_ASSIGNED = `SELECT EXISTS (SELECT FROM application_users WHERE application_id = :applicationId AND user_id = :userId)
  OR EXISTS (SELECT FROM application_groups a JOIN group_members m ON m.group_id = a.group_id
    WHERE a.application_id = :applicationId AND m.user_id = :userId) AS assigned`;

/** Is the application assigned to the user, directly or by a group? */
export async function isAssigned(executor: Executor, applicationId: string, userId: string): Promise<boolean> {
  const { rows } = await executor.raw<{ rows: { assigned: boolean }[] }>(IS_ASSIGNED, { applicationId, userId });
  return rows[0]?.assigned === true;
}

/** The users that an application is assigned to, directly or by groups, oldest first. */
export function listAssignedUserIds(
  executor: Executor,
  applicationId: string,
  window: Window,
): Promise<Page<{ readonly id: string; readonly login: string }>> {
  const assigned = `SELECT user_id FROM application_users WHERE application_id = :applicationId
    UNION SELECT m.user_id FROM application_groups a JOIN group_members m ON m.group_id = a.group_id WHERE a.application_id = :applicationId`;
  return readPage(executor('users').whereRaw(`id IN (${assigned})`, { applicationId }), { id: 'id', login: 'login' }, window);
}

/** An application that is assigned to a user, directly or by a group. */
export interface UserAssignment {
  readonly applicationId: string;
  readonly label: string;
  readonly status: 'ACTIVE' | 'INACTIVE';
  /** Directly. */
  readonly isDirect: boolean;
  /** Names of the user's groups that it is assigned to. */
  readonly groups: readonly string[];
}

const OF_USER = 'SELECT application_id FROM application_users WHERE user_id = :userId';
const OF_USERS_GROUPS =
  'SELECT a.application_id FROM application_groups a JOIN group_members m ON m.group_id = a.group_id WHERE m.user_id = :userId';
const USERS_GROUPS = `ARRAY(SELECT g.name FROM application_groups a JOIN group_members m ON m.group_id = a.group_id JOIN groups g ON g.id = a.group_id
  WHERE a.application_id = applications.id AND m.user_id = :userId ORDER BY g.name)`;

/** Oldest applications first. */
export function listAssignmentsOf(executor: Executor, userId: string, window: Window): Promise<Page<UserAssignment>> {
  const columns = {
    applicationId: 'id',
    label: 'label',
    status: 'status',
    isDirect: executor.raw(`id IN (${OF_USER})`, { userId }),
    groups: executor.raw(USERS_GROUPS, { userId }),
  };
  return readPage(executor('applications').whereRaw(`id IN (${OF_USER} UNION ${OF_USERS_GROUPS})`, { userId }), columns, window);
}
