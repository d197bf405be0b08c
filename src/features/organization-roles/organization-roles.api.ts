/** `account/org/{orgId}/role`: the roles of an organization; `…/member/{userId}/role`: the roles of a member. */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { links, time, writeTime } from '../../api/fields.ts';
import { getMemberRoles, memberRolesBody, setMemberRoles } from './member-roles.service.ts';
import {
  createOrganizationRole,
  deleteOrganizationRole,
  getOrganizationRole,
  organizationRoleFields,
  pageOfOrganizationRoles,
  updateOrganizationRole,
} from './organization-roles.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });
const ofMember = z.object({ orgId: z.string().min(1), userId: z.string().min(1) });
const memberRoles = z.object({ orgId: z.string(), userId: z.string(), roles: z.array(z.string()) });

export const organizationRoleEndpoints: readonly Endpoint[] = [
  ...collection({
    path: '/account/org/:orgId/role',
    params: ofOrganization,
    idParam: 'roleId',
    access: 'organizations',
    summaries: {
      create: 'Create a role of an organization',
      list: 'List the roles that an organization has defined, oldest first. Every organization also has owner, admin and member',
      read: 'Read a role of an organization',
      replace: 'Replace a role of an organization; its members keep it',
      remove: 'Delete a role of an organization and remove it from all members',
    },
    body: organizationRoleFields,
    response: z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      permissions: z.array(z.string()),
      created: time,
      lastUpdated: time,
      _links: links,
    }),
    create: ({ services, params, request }, body) => createOrganizationRole(services, params.orgId, body, request),
    list: ({ services, params, request }, window) => pageOfOrganizationRoles(services, params.orgId, window, request),
    read: ({ services, params, request }, id) => getOrganizationRole(services, params.orgId, id, request),
    replace: ({ services, params, request }, id, body) => updateOrganizationRole(services, params.orgId, id, body, request),
    remove: ({ services, params, request }, id) => deleteOrganizationRole(services, params.orgId, id, request),
    present: ({ id, name, description, permissions, created, lastUpdated }, { services, params }) => ({
      ...{ id, name, description, permissions: [...permissions], created: writeTime(created), lastUpdated: writeTime(lastUpdated) },
      _links: { self: { href: `${services.config.baseUrl}/api/v1/account/org/${encodeURIComponent(params.orgId)}/role/${id}` } },
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/member/:userId/role',
    access: 'organizations',
    summary: 'List the names of the roles that a member has in the organization',
    params: ofMember,
    response: memberRoles,
    handler: async ({ services, params: { orgId, userId }, request }) => ({
      ...{ orgId, userId, roles: [...(await getMemberRoles(services, orgId, userId, request))] },
    }),
  }),
  endpoint({
    method: 'PUT',
    path: '/account/org/:orgId/member/:userId/role',
    access: 'organizations',
    summary: 'Replace the roles that a member has in the organization',
    params: ofMember,
    body: memberRolesBody,
    response: memberRoles,
    handler: async ({ services, params: { orgId, userId }, body, request }) => ({
      ...{ orgId, userId, roles: [...(await setMemberRoles(services, orgId, userId, body.roles, request))] },
    }),
  }),
];
