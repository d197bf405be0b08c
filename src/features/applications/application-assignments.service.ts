/** Assignments of applications. Their effect (`assignment: ASSIGNED`) is decided at sign-in. */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound, requireFound, validation } from '../../platform/errors/errors.ts';
import { lockApplicationRoles, replaceAssignedRoles } from '../application-roles/application-roles.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { Event, RequestContext } from '../audit/audit-event.policy.ts';
import { getGroup } from '../groups/groups.service.ts';
import { findGroup } from '../groups/groups.store.ts';
import { findVisibleUser } from '../users/user-reach.service.ts';
import { findUserById } from '../users/users.store.ts';
import {
  deleteAssignment,
  findAssignment,
  insertAssignment,
  listAssignedAmong,
  listAssignmentsOf,
  selectAssignments as listRows,
  lockAssignment,
  type UserAssignment,
} from './application-assignments.store.ts';
import type { Application, AssigneeKind, Assignment } from './applications.resource.ts';
import { applicationTarget, getApplication } from './applications.service.ts';
import { findApplicationById, listApplicationsOfGroup, listApplicationsOpenTo } from './applications.store.ts';

/** A user or a group. */
export interface Assignee {
  readonly kind: AssigneeKind;
  readonly id: string;
}

interface Target {
  readonly id: string;
  readonly type: string;
  readonly displayName: string;
}

/**
 * Assigning twice is not an error.
 * @param roles names of the roles to set with the assignment; undefined: keep the current roles
 * @throws {ApiError} not found: the application, the user or the group; validation of `roles`
 */
export const assign = (
  services: Services,
  applicationId: string,
  assignee: Assignee,
  request: RequestContext,
  roles?: readonly string[],
): Promise<Assignment> =>
  services.database.transaction(async (trx) => (await assignWithin(trx, applicationId, assignee, request, roles)).assignment);

/**
 * Assigns all of them or, if one is invalid, none.
 * @returns the IDs of those that were not assigned before
 * @throws {ApiError} not found: the application, a user or a group
 */
export const assignAll = (
  services: Services,
  applicationId: string,
  assignees: readonly Assignee[],
  request: RequestContext,
): Promise<readonly string[]> =>
  services.database.transaction(async (trx) => {
    const added: string[] = [];
    for (const assignee of assignees) {
      const { isNew } = await assignWithin(trx, applicationId, assignee, request);
      if (isNew) added.push(assignee.id);
    }
    return added;
  });

async function assignWithin(
  trx: Executor,
  applicationId: string,
  assignee: Assignee,
  request: RequestContext,
  roles?: readonly string[],
): Promise<{ readonly assignment: Assignment; readonly isNew: boolean }> {
  const { kind, id } = assignee;
  const [application, target] = await findBoth(trx, applicationId, assignee);
  const outcome = await insertAssignment(trx, applicationId, kind, id, present());
  if (outcome === 'missing' || !(await lockAssignment(trx, applicationId, kind, id))) throw assigneeNotFound(assignee);
  const before = await findAssignment(trx, applicationId, kind, id);
  if (roles !== undefined) await setRoles(trx, applicationId, assignee, roles);
  const after = await findAssignment(trx, applicationId, kind, id);
  if (before === undefined || after === undefined) throw assigneeNotFound(assignee);
  if (outcome === 'added') await recordAssignment(trx, 'add', application, kind, target, request, { after: after.roles });
  else if (!isDeepStrictEqual(before.roles, after.roles))
    await recordAssignment(trx, 'update', application, kind, target, request, { before: before.roles, after: after.roles });
  return { assignment: after, isNew: outcome === 'added' };
}

/** @throws {ApiError} validation: a role does not belong to the application */
async function setRoles(trx: Executor, applicationId: string, assignee: Assignee, names: readonly string[]): Promise<void> {
  const known = new Map((await lockApplicationRoles(trx, applicationId)).map((role) => [role.name, role.id]));
  const problems = names.flatMap((name, at) =>
    known.has(name) ? [] : [{ field: `roles.${at}`, message: `${name} is not a role of the application` }],
  );
  if (problems.length > 0) throw validation(problems);
  await replaceAssignedRoles(
    trx,
    applicationId,
    assignee,
    [...new Set(names)].map((name) => known.get(name) ?? ''),
  );
}

/** Filters users or groups to those that are assigned. */
export const findAssigned = async (
  services: Services,
  applicationId: string,
  kind: AssigneeKind,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => new Set(await listAssignedAmong(services.database.knex, applicationId, kind, ids));

/** Unassigning twice is not an error. @returns the assignment that ended @throws {ApiError} not found: the application, the user or the group */
export async function unassign(
  services: Services,
  applicationId: string,
  assignee: Assignee,
  request: RequestContext,
): Promise<Assignment | undefined> {
  return services.database.transaction(async (trx) => {
    const [application, target] = await findBoth(trx, applicationId, assignee);
    const before = await findAssignment(trx, applicationId, assignee.kind, assignee.id);
    if (!(await deleteAssignment(trx, applicationId, assignee.kind, assignee.id))) return undefined;
    await recordAssignment(trx, 'remove', application, assignee.kind, target, request, { before: before?.roles ?? [] });
    return before;
  });
}

/** Can assigning again restore the ended assignment? It does not restore roles. */
export const hasNoRoles = (ended: Assignment | undefined): boolean => ended?.roles.length === 0;

/** @throws {ApiError} not found: the application, or the assignment */
export async function getAssignment(services: Services, applicationId: string, assignee: Assignee): Promise<Assignment> {
  await getApplication(services, applicationId);
  const assignment = await findAssignment(services.database.knex, applicationId, assignee.kind, assignee.id);
  if (assignment === undefined) throw assigneeNotFound(assignee);
  return assignment;
}

/** Oldest users or groups first. @throws {ApiError} not found */
export async function listAssignments(
  services: Services,
  applicationId: string,
  kind: AssigneeKind,
  window: Window,
): Promise<Page<Assignment>> {
  await getApplication(services, applicationId);
  return listRows(services.database.knex, applicationId, kind, window);
}

/** The applications that are assigned to a group, oldest first. @throws {ApiError} not found */
export async function listGroupApplications(services: Services, groupId: string, window: Window): Promise<Page<Application>> {
  const { id } = await getGroup(services, groupId);
  return listApplicationsOfGroup(services.database.knex, id, window);
}

/** The applications that are assigned to a user, directly or by a group, oldest first. @throws {ApiError} not found */
export async function listUserAssignments(
  services: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<UserAssignment>> {
  const { knex } = services.database;
  return listAssignmentsOf(knex, (await findVisibleUser(knex, idOrLogin, request)).id, window);
}

/** The applications that a user can open, oldest first. @throws {ApiError} not found */
export async function listOpenApplications(
  services: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<Application>> {
  const { id } = await findVisibleUser(services.database.knex, idOrLogin, request);
  return listApplicationsOpenTo(services.database.knex, id, window);
}

async function findBoth(trx: Executor, applicationId: string, assignee: Assignee): Promise<[Application, Target]> {
  const application = requireFound(await findApplicationById(trx, applicationId), applicationId, 'Application');
  const target = await findTarget(trx, assignee);
  if (target === undefined) throw assigneeNotFound(assignee);
  return [application, target];
}

async function findTarget(trx: Executor, { kind, id }: Assignee): Promise<Target | undefined> {
  if (kind === 'user') {
    const user = await findUserById(trx, id);
    return user && { id, type: 'User', displayName: user.login };
  }
  const group = await findGroup(trx, id);
  return group && { id, type: 'UserGroup', displayName: group.name };
}

type RolesOfAssignment = { readonly before?: readonly string[]; readonly after?: readonly string[] };

const recordAssignment = (
  trx: Executor,
  change: 'add' | 'update' | 'remove',
  application: Application,
  kind: AssigneeKind,
  assignee: Target,
  request: RequestContext,
  roles: RolesOfAssignment,
): Promise<string> => recordEvent(trx, assignmentEvent(change, application, kind, assignee, request, roles));

/** Audit event of an assignment. */
export const assignmentEvent = (
  change: 'add' | 'update' | 'remove',
  application: Pick<Application, 'id' | 'label'>,
  kind: AssigneeKind,
  assignee: Target,
  request: RequestContext,
  roles: RolesOfAssignment,
): Event => {
  const described = (names: readonly string[]) => ({
    ...{ applicationId: application.id, [`${kind}Id`]: assignee.id },
    ...(names.length > 0 && { roles: names }),
  });
  return {
    eventType: kind === 'user' ? `application.user_membership.${change}` : `group.application_assignment.${change}`,
    displayMessage: { add: `Assign application to ${kind}`, update: `Change roles of ${kind}`, remove: `Take application from ${kind}` }[
      change
    ],
    request,
    targets: [assignee, applicationTarget(application)],
    ...(roles.before && { before: described(roles.before) }),
    ...(roles.after && { after: described(roles.after) }),
  };
};

const assigneeNotFound = ({ kind, id }: Assignee) => notFound(id, kind === 'user' ? 'User' : 'Group');
