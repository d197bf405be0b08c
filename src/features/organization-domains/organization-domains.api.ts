/** `account/org/{orgId}/domain`: the e-mail domains of an organization, verified by a DNS TXT record. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { organizationDomain } from '../../platform/dns/domain-name.ts';
import { challengeName, type OrganizationDomain } from './organization-domains.resource.ts';
import { addDomain, getDomain, listDomains, removeDomain, verifyDomain } from './organization-domains.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });
const ofDomain = z.object({ orgId: z.string().min(1), domain: z.string().min(1) });

const domainAnswer = z.object({
  domain: z.string().meta({ description: 'Lower case, in ASCII: xn--bcher-kva.example for bücher.example' }),
  status: z.enum(['PENDING', 'VERIFIED']),
  verification: z
    .object({ type: z.literal('TXT'), name: z.string(), value: z.string() })
    .meta({ description: 'The DNS record that verifies the domain. It may be removed afterwards' }),
  created: time,
  verified: time.nullable(),
});

const present = ({ domain, challenge, created, verified }: OrganizationDomain): z.input<typeof domainAnswer> => ({
  domain,
  status: verified === null ? 'PENDING' : 'VERIFIED',
  verification: { type: 'TXT', name: challengeName(domain), value: challenge },
  created: writeTime(created),
  verified: writeTimeOrNull(verified),
});

export const domainEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/account/org/:orgId/domain',
    access: 'organizations',
    summary: 'Add a domain to an organization. It takes effect once it is verified',
    params: ofOrganization,
    body: z.strictObject({ domain: organizationDomain }),
    response: domainAnswer,
    handler: async ({ services, params, body, request }) => present(await addDomain(services, params.orgId, body.domain, request)),
  }),
  listing({
    path: '/account/org/:orgId/domain',
    access: 'organizations',
    summary: 'List the domains of an organization, oldest first',
    params: ofOrganization,
    item: domainAnswer,
    handler: async ({ services, params, query, request }) => mapPage(await listDomains(services, params.orgId, query, request), present),
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/domain/:domain',
    access: 'organizations',
    summary: 'Read a domain of an organization',
    params: ofDomain,
    response: domainAnswer,
    handler: async ({ services, params: { orgId, domain }, request }) => present(await getDomain(services, orgId, domain, request)),
  }),
  endpoint({
    method: 'POST',
    path: '/account/org/:orgId/domain/:domain/verify',
    access: 'organizations',
    summary: 'Verify a domain by its TXT record',
    params: ofDomain,
    response: domainAnswer,
    handler: async ({ services, params: { orgId, domain }, request }) => present(await verifyDomain(services, orgId, domain, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/domain/:domain',
    access: 'organizations',
    summary: 'Remove a domain that no identity provider of the organization uses',
    params: ofDomain,
    handler: ({ services, params: { orgId, domain }, request }) => removeDomain(services, orgId, domain, request),
  }),
];
