/** `account/org/{orgId}/setup`: the link with which a customer's administrator sets up the organization's sign-in. */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { time, writeTime } from '../../api/fields.ts';
import { PROVIDER_MODES } from '../organization-providers/organization-providers.resource.ts';
import { createSetup, getSetup, revokeSetup, type Setup, setupBody } from './organization-setup.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });

const setup = z.object({
  mode: z.enum(PROVIDER_MODES).meta({ description: 'How the provider is used once the customer has tried it' }),
  status: z.enum(['SENT', 'BEGUN']).meta({ description: 'BEGUN: a browser has opened it, and no other one can' }),
  domain: z.string().nullable().meta({ description: 'The domain that is being set up' }),
  created: time,
  expiresAt: time,
});

const shown = ({ mode, isBegun, domain, created, expiresAt }: Setup): z.input<typeof setup> => ({
  ...{ mode, domain, status: isBegun ? 'BEGUN' : 'SENT', created: writeTime(created), expiresAt: writeTime(expiresAt) },
});

export const organizationSetupEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/account/org/:orgId/setup',
    access: 'service',
    summary: 'Make the link with which a customer sets up the organization’s sign-in. The link before ends',
    params: ofOrganization,
    body: setupBody,
    response: setup.extend({ link: z.string().meta({ description: 'Returned this one time' }) }),
    handler: async ({ services, params: { orgId }, body, request }) => {
      const made = await createSetup(services, orgId, body.mode, request);
      return { ...shown(made), link: made.link };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/setup',
    access: 'service',
    summary: 'Read the set-up link of an organization, without its address',
    params: ofOrganization,
    response: setup,
    handler: async ({ services, params: { orgId }, request }) => shown(await getSetup(services, orgId, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/setup',
    access: 'service',
    summary: 'Revoke the set-up link of an organization',
    params: ofOrganization,
    handler: ({ services, params: { orgId }, request }) => revokeSetup(services, orgId, request),
  }),
];
