/** `account/org/{orgId}/policy`: an organization's requirements for signing in to it. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { organizationPolicyFields, organizationPolicyResponse } from './organization-policy.resource.ts';
import { readOrganizationPolicy, replaceOrganizationPolicy } from './organization-policy.service.ts';

const params = z.object({ orgId: z.string().min(1) });
const path = '/account/org/:orgId/policy';

export const organizationPolicyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    access: 'organizations',
    summary: 'Read the sign-in policy of an organization. Null: the policy of the service',
    params,
    response: organizationPolicyResponse,
    handler: ({ services, params: { orgId }, request }) => readOrganizationPolicy(services, orgId, request),
  }),
  endpoint({
    method: 'PUT',
    path,
    access: 'organizations',
    summary: 'Replace the sign-in policy of an organization. Absent fields: the policy of the service',
    params,
    body: organizationPolicyFields,
    response: organizationPolicyResponse,
    handler: ({ services, params: { orgId }, body, request }) => replaceOrganizationPolicy(services, orgId, body, request),
  }),
];
