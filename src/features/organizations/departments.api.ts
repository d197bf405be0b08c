/** `account/org/{orgId}/tree` and `…/department`: the departments of an organization ("Department node"). */
import { z } from 'zod';
import { type Endpoint, endpoint, parameterized } from '../../api/endpoint.ts';
import { text } from '../../platform/validation/text.ts';
import { createDepartment, deleteDepartment, departmentTree, updateDepartment } from './departments.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });
const ofDepartment = z.object({ orgId: z.string().min(1), depId: z.string().min(1) });
const done = z.object({ depId: z.string(), success: z.boolean() });

const department = z.object({
  name: text({ least: 1 }),
  originId: text().exactOptional(),
  parentId: text().nullable().exactOptional().meta({ description: 'Empty, null or absent: at the top level' }),
});

export const departmentEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/tree',
    access: 'organizations',
    summary: 'Read all departments of an organization, each directly before those below it',
    params: ofOrganization,
    response: z.object({
      levelCount: z.int().meta({ description: 'Number of departments' }),
      treeStruct: z.array(z.object({ depId: z.string(), name: z.string(), originId: z.string(), parentId: z.string() })),
    }),
    handler: async ({ services, params, request }) => {
      const { levelCount, departments: found } = await departmentTree(services, params.orgId, request);
      const treeStruct = found.map(({ id, name, originId, parentId }) => ({ depId: id, name, originId, parentId: parentId ?? '' }));
      return { levelCount, treeStruct };
    },
  }),
  parameterized({
    method: 'POST',
    path: '/account/org/:orgId/department',
    access: 'organizations',
    summary: 'Create a department',
    params: ofOrganization,
    parameters: department,
    response: done,
    handler: async ({ services, params, request }, given) => {
      const { id } = await createDepartment(services, params.orgId, given, request);
      return { depId: id, success: true };
    },
  }),
  parameterized({
    method: 'PUT',
    path: '/account/org/:orgId/department/:depId',
    access: 'organizations',
    summary: 'Replace a department: rename or move it',
    params: ofDepartment,
    parameters: department,
    response: done,
    handler: async ({ services, params: { orgId, depId }, request }, given) => {
      await updateDepartment(services, orgId, depId, given, request);
      return { depId, success: true };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/department/:depId',
    access: 'organizations',
    summary: 'Delete a department that has neither departments nor members',
    params: ofDepartment,
    response: done,
    handler: async ({ services, params: { orgId, depId }, request }) => {
      await deleteDepartment(services, orgId, depId, request);
      return { depId, success: true };
    },
  }),
];
