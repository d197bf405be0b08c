/** `users/{id}/roles`: administrators' roles, as Okta's Role Assignments API shows them. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import type { AssignedRole, RoleType } from './administration.policy.ts';
import { getRole, grantRole, listRoles, revokeRole } from './user-roles.service.ts';

const LABELS: Readonly<Record<RoleType, string>> = {
  SUPER_ADMIN: 'Super Administrator',
  ORG_ADMIN: 'Organization Administrator',
  READ_ONLY_ADMIN: 'Read-only Administrator',
};

const type = z.enum(['SUPER_ADMIN', 'ORG_ADMIN', 'READ_ONLY_ADMIN']);

const newRole = z
  .strictObject({ type, orgId: text({ least: 1 }).optional() })
  .refine((role) => role.type !== 'ORG_ADMIN' || role.orgId !== undefined, { path: ['orgId'], error: 'is required for ORG_ADMIN' })
  .refine((role) => role.type === 'ORG_ADMIN' || role.orgId === undefined, { path: ['orgId'], error: 'can only be used with ORG_ADMIN' });

const role = z.object({
  id: z.string(),
  label: z.string(),
  type,
  status: z.literal('ACTIVE'),
  orgId: z.string().optional(),
  created: time,
  lastUpdated: time,
  assignmentType: z.literal('USER'),
  _links: links.extend({ assignee: z.object({ href: z.url() }) }),
});

const roleParams = idParams.extend({ roleId: z.string().min(1) });

export const userRoleEndpoints: readonly Endpoint[] = [
  listing({
    path: '/users/:id/roles',
    access: 'service',
    summary: 'List the roles of a user, oldest first',
    params: idParams,
    item: role,
    handler: async ({ services, params, query, request }) =>
      inPages(
        (await listRoles(services, params.id, request)).map((found) => present(found, services.config.baseUrl)),
        query,
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/roles',
    access: 'service',
    summary:
      'Give a user a role; it counts from the next request on. If it reaches beyond the organization of a member, their password, factors, links and tokens end: reset the password next',
    params: idParams,
    body: newRole,
    response: role,
    status: 201,
    handler: async ({ services, params, body, request }) =>
      present(await grantRole(services, params.id, body, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/roles/:roleId',
    access: 'service',
    summary: 'Read a role of a user',
    params: roleParams,
    response: role,
    handler: async ({ services, params, request }) =>
      present(await getRole(services, params.id, params.roleId, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/roles/:roleId',
    access: 'service',
    summary: 'Take a role from a user',
    params: roleParams,
    handler: ({ services, params, request }) => revokeRole(services, params.id, params.roleId, request),
  }),
];

/** A role is assigned or removed, never changed. */
const present = (found: AssignedRole, baseUrl: string): z.input<typeof role> => ({
  id: found.id,
  label: LABELS[found.type],
  type: found.type,
  status: 'ACTIVE',
  orgId: found.orgId,
  created: writeTime(found.created),
  lastUpdated: writeTime(found.created),
  assignmentType: 'USER',
  _links: {
    self: { href: `${baseUrl}/api/v1/users/${found.userId}/roles/${found.id}` },
    assignee: { href: `${baseUrl}/api/v1/users/${found.userId}` },
  },
});
