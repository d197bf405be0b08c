/** `account/org/{orgId}/branding`: branding of an organization on its sign-in pages. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { organizationBrandingFields } from '../settings/settings-fields.service.ts';
import { readOrganizationBranding, replaceOrganizationBranding } from './organization-branding.service.ts';

const params = z.object({ orgId: z.string().min(1) });
const path = '/account/org/:orgId/branding';
const response = z.object({
  name: z.string().nullable(),
  logoUrl: z.string().nullable(),
  primaryColorHex: z.string().nullable(),
  primaryColorDarkHex: z.string().nullable(),
});

export const organizationBrandingEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    access: 'organizations',
    summary: "Read the branding of an organization's sign-in pages. Null: the branding of the service",
    params,
    response,
    handler: ({ services, params: { orgId }, request }) => readOrganizationBranding(services, orgId, request),
  }),
  endpoint({
    method: 'PUT',
    path,
    access: 'organizations',
    summary: 'Replace the branding of an organization. Absent fields: the branding of the service',
    params,
    body: organizationBrandingFields,
    response,
    handler: ({ services, params: { orgId }, body, request }) => replaceOrganizationBranding(services, orgId, body, request),
  }),
];
