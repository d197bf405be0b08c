/** `account/org/{orgId}/idp`: the identity providers of an organization. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { type OrganizationProvider, organizationProviderBody, PROVIDER_MODES } from './organization-providers.resource.ts';
import { getProviderOf, listProvidersOf, putProviderOf, removeProviderOf } from './organization-providers.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });
const ofProvider = z.object({ orgId: z.string().min(1), idpId: z.string().min(1) });

const providerAnswer = z.object({
  idpId: z.string(),
  name: z.string().meta({ description: 'Of the identity provider' }),
  status: z
    .enum(['ACTIVE', 'INACTIVE'])
    .meta({ description: 'Of the identity provider. While it is inactive, it is neither offered nor required' }),
  domains: z.array(z.string()),
  mode: z.enum(PROVIDER_MODES),
  autoJoin: z.boolean(),
  defaultDepId: z.string().meta({ description: 'Empty: directly in the organization' }),
  created: time,
  lastUpdated: time,
});

const present = ({
  orgId: _,
  domains,
  defaultDepId,
  created,
  lastUpdated,
  ...rest
}: OrganizationProvider): z.input<typeof providerAnswer> => ({
  ...rest,
  domains: [...domains],
  defaultDepId: defaultDepId ?? '',
  created: writeTime(created),
  lastUpdated: writeTime(lastUpdated),
});

export const organizationProviderEndpoints: readonly Endpoint[] = [
  listing({
    path: '/account/org/:orgId/idp',
    access: 'organizations',
    summary: 'List the identity providers of an organization, oldest first',
    params: ofOrganization,
    item: providerAnswer,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listProvidersOf(services, params.orgId, query, request), present),
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/idp/:idpId',
    access: 'organizations',
    summary: 'Read how an identity provider is connected with an organization',
    params: ofProvider,
    response: providerAnswer,
    handler: async ({ services, params: { orgId, idpId }, request }) => present(await getProviderOf(services, orgId, idpId, request)),
  }),
  endpoint({
    method: 'PUT',
    path: '/account/org/:orgId/idp/:idpId',
    access: 'organizations',
    summary:
      'Connect an identity provider with an organization, or replace how it is connected. Administrators of an organization change what is connected',
    params: ofProvider,
    body: organizationProviderBody,
    response: providerAnswer,
    handler: async ({ services, params: { orgId, idpId }, body, request }) =>
      present(await putProviderOf(services, orgId, idpId, body, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/idp/:idpId',
    access: 'organizations',
    summary: 'Remove an identity provider from an organization. The provider itself and the members stay',
    params: ofProvider,
    handler: ({ services, params: { orgId, idpId }, request }) => removeProviderOf(services, orgId, idpId, request),
  }),
];
