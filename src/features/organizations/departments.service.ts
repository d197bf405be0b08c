/** Operations on departments of an organization ("Department node"). */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { inPreOrder } from './department-tree.policy.ts';
import {
  type DepartmentRecord,
  deleteDepartmentRow as deleteRow,
  findDepartment,
  insertDepartment,
  isWithinDepartment,
  listDepartments,
  updateDepartmentRow as updateRow,
} from './departments.store.ts';
import { countMembersByDepartment } from './memberships.store.ts';
import type { Department } from './organizations.resource.ts';
import { checkReadable, lockForChange, target as organizationTarget } from './organizations.service.ts';
import { organizationExists } from './organizations.store.ts';

/** All fields of a department. */
export interface DepartmentInput {
  readonly name: string;
  /** Absent: empty. */
  readonly originId?: string | undefined;
  /** Absent, null or empty: at the top level. */
  readonly parentId?: string | null | undefined;
}

/**
 * All departments of an organization; each is directly followed by the departments below it.
 * @returns the departments and their number
 * @throws {ApiError} not found
 */
export async function departmentTree(
  { database: { knex } }: Services,
  orgId: string,
  request: RequestContext,
): Promise<{ readonly levelCount: number; readonly departments: readonly Department[] }> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  const departments = await listDepartments(knex, orgId);
  if (departments.length === 0 && !(await organizationExists(knex, orgId))) throw notFound(orgId, 'Organization');
  return { levelCount: departments.length, departments: inPreOrder(departments) };
}

/** Number of members of each department by ID, without departments below it. @throws {ApiError} not found */
export async function departmentMembers(
  { database: { knex } }: Services,
  orgId: string,
  request: RequestContext,
): Promise<ReadonlyMap<string, number>> {
  checkReadable(orgId, request, 'MANAGE_MEMBERS');
  return countMembersByDepartment(knex, orgId);
}

/** @throws {ApiError} not found, forbidden, validation of the parent */
export async function createDepartment(
  services: Services,
  orgId: string,
  input: DepartmentInput,
  request: RequestContext,
): Promise<Department> {
  const now = present();
  const department: DepartmentRecord = { id: newId('dep'), orgId, ...settingsOf(input), created: now, lastUpdated: now };
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    await checkParent(trx, department);
    await insertDepartment(trx, department);
    await recordEvent(trx, {
      eventType: 'department.create',
      displayMessage: 'Create department',
      request,
      targets: [target(department), organizationTarget(organization)],
      after: described(department),
    });
  });
  return department;
}

/**
 * Replaces all fields of a department; missing ones are cleared, so without a parent it moves to the top level.
 * @throws {ApiError} not found, forbidden, validation of the parent: unknown, or the department itself or below it
 */
export async function updateDepartment(
  services: Services,
  orgId: string,
  depId: string,
  input: DepartmentInput,
  request: RequestContext,
): Promise<Department> {
  return services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const before = await existing(trx, orgId, depId);
    const changes = { ...settingsOf(input), lastUpdated: present() };
    const after = { ...before, ...changes };
    await checkParent(trx, after);
    await updateRow(trx, depId, changes);
    await recordEvent(trx, {
      eventType: 'department.update',
      displayMessage: 'Update department',
      request,
      targets: [target(after), organizationTarget(organization)],
      before: described(before),
      after: described(after),
    });
    return after;
  });
}

/** @throws {ApiError} not found, forbidden, wrong state: it still has departments or members */
export async function deleteDepartment(services: Services, orgId: string, depId: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const organization = await lockForChange(trx, orgId, request, 'MANAGE_MEMBERS');
    const before = await existing(trx, orgId, depId);
    const kept = await deleteRow(trx, depId);
    if (kept !== undefined) throw wrongState(`the department still has ${kept}. Remove them first`);
    await recordEvent(trx, {
      eventType: 'department.delete',
      displayMessage: 'Delete department',
      request,
      targets: [target(before), organizationTarget(organization)],
      before: described(before),
    });
  });
}

const existing = async (trx: Executor, orgId: string, depId: string): Promise<DepartmentRecord> =>
  requireFound(await findDepartment(trx, orgId, depId), depId, 'Department');

async function checkParent(trx: Executor, { id, orgId, parentId }: DepartmentRecord): Promise<void> {
  if (parentId === null) return;
  const problem = (message: string) => validation([{ field: 'parentId', message }]);
  if ((await findDepartment(trx, orgId, parentId)) === undefined) throw problem('does not exist');
  if (await isWithinDepartment(trx, orgId, parentId, id)) throw problem('must not be the department itself or a department below it');
}

const settingsOf = ({ name, originId = '', parentId }: DepartmentInput) => ({ name, originId, parentId: parentId || null });

const target = ({ id, name }: Department) => ({ id, type: 'Department', displayName: name });

const described = ({ name, originId, parentId }: Department) => ({ name, originId, parentId: parentId ?? '' });
