/** Departments of organizations. The only SQL on that table. Every change needs the lock of their organization. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import type { Department } from './organizations.resource.ts';

export interface DepartmentRecord extends Department {
  readonly orgId: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}

const DEPARTMENT: Columns<Department> = { id: 'id', parentId: 'parent_id', name: 'name', originId: 'origin_id' };
const RECORD: Columns<DepartmentRecord> = { ...DEPARTMENT, orgId: 'org_id', created: 'created', lastUpdated: 'last_updated' };

export async function insertDepartment(trx: Executor, department: DepartmentRecord): Promise<void> {
  await trx('departments').insert(toRow(RECORD, department));
}

export async function findDepartment(executor: Executor, orgId: string, id: string): Promise<DepartmentRecord | undefined> {
  return executor('departments').where({ org_id: orgId, id }).first<DepartmentRecord | undefined>(RECORD);
}

/** All departments of an organization, oldest first. */
export async function listDepartments(executor: Executor, orgId: string): Promise<Department[]> {
  return executor('departments').where({ org_id: orgId }).orderBy('seq').select<Department[]>(DEPARTMENT);
}

const SELF_AND_ABOVE = `WITH RECURSIVE line AS (
    SELECT id, parent_id FROM departments WHERE org_id = :orgId AND id = :id
    UNION ALL
    SELECT d.id, d.parent_id FROM departments d JOIN line ON d.org_id = :orgId AND d.id = line.parent_id
  ) SELECT 1 FROM line WHERE id = :above`;

/** Is it the same department, or below it at any depth? */
export async function isWithinDepartment(executor: Executor, orgId: string, id: string, above: string): Promise<boolean> {
  const { rows } = await executor.raw<{ rows: unknown[] }>(SELF_AND_ABOVE, { orgId, id, above });
  return rows.length > 0;
}

export async function updateDepartmentRow(
  trx: Executor,
  id: string,
  changes: Pick<DepartmentRecord, 'name' | 'originId' | 'parentId' | 'lastUpdated'>,
): Promise<void> {
  await trx('departments').where({ id }).update(toRow<DepartmentRecord>(RECORD, changes));
}

/** @returns the contents that prevented the deletion; undefined: deleted */
export async function deleteDepartmentRow(trx: Executor, id: string): Promise<'departments' | 'members' | undefined> {
  try {
    await trx('departments').where({ id }).delete();
    return undefined;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'departments_org_id_parent_id_fkey') return 'departments';
    if (constraint === 'memberships_org_id_dep_id_fkey') return 'members';
    throw error;
  }
}
