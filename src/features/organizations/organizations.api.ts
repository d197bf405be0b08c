/** `account/org`: organizations, as in "Organization endpoints", and their deletion. Departments and members have their own files. */
import { z } from 'zod';
import { type Endpoint, endpoint, parameterized } from '../../api/endpoint.ts';
import { wholeNumber } from '../../api/fields.ts';
import { text } from '../../platform/validation/text.ts';
import { createOrganization, deleteOrganization, getOrganization, listOrganizations, renameOrganization } from './organizations.service.ts';

const orgParams = z.object({ orgId: z.string().min(1) });
const done = z.object({ orgId: z.string(), success: z.boolean() });
const detail = z.object({
  orgId: z.string(),
  name: z.string(),
  originId: z.string(),
  type: z.string(),
  memberCount: z.int(),
  editable: z.boolean(),
});

export const organizationEndpoints: readonly Endpoint[] = [
  parameterized({
    method: 'POST',
    path: '/account/org',
    access: 'service',
    summary: 'Create an organization',
    parameters: z.object({
      orgName: text({ least: 1 }),
      originId: text().exactOptional(),
      type: z.enum(['LOCAL', 'LDAP', 'SCIM', 'OIDC']).exactOptional(),
    }),
    response: done,
    handler: async ({ services, request }, { orgName: name, ...given }) => {
      const { id } = await createOrganization(services, { name, ...given }, request);
      return { orgId: id, success: true };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/account/org',
    access: 'organizations',
    summary: 'List the organizations, oldest first',
    query: z.object({ page: wholeNumber(1, 999_999_999_999_999).default(1), limit: wholeNumber(1, 200).default(20) }),
    response: z.object({
      count: z.int(),
      organizations: z.array(z.object({ orgId: z.string(), name: z.string(), originId: z.string() })),
    }),
    handler: async ({ services, query, request }) => {
      const { total, items } = await listOrganizations(services, query, request);
      return { count: total, organizations: items.map(({ id, ...rest }) => ({ orgId: id, ...rest })) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId',
    access: 'organizations',
    summary: 'Read an organization',
    params: orgParams,
    response: detail,
    handler: async ({ services, params, request }) => {
      const { id, ...rest } = await getOrganization(services, params.orgId, request);
      return { orgId: id, ...rest };
    },
  }),
  parameterized({
    method: 'PUT',
    path: '/account/org/:orgId',
    access: 'service',
    summary: 'Rename an organization',
    params: orgParams,
    parameters: z.object({ name: text({ least: 1 }) }),
    response: done,
    readBefore: detail,
    handler: async ({ services, params: { orgId }, request }, { name }) => {
      await renameOrganization(services, orgId, name, request);
      return { orgId, success: true };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId',
    access: 'service',
    summary: 'Delete an organization that has neither departments nor members',
    params: orgParams,
    response: done,
    handler: async ({ services, params: { orgId }, request }) => {
      await deleteOrganization(services, orgId, request);
      return { orgId, success: true };
    },
  }),
];
