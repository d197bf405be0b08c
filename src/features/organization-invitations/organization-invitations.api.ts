/** `account/org/{orgId}/invitation`: pending e-mail invitations to an organization. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import {
  getInvitation,
  type Invitation,
  invitationFields,
  inviteToOrganization,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from './organization-invitations.service.ts';

const ofOrganization = z.object({ orgId: z.string().min(1) });
const ofInvitation = z.object({ orgId: z.string().min(1), invitationId: z.string().min(1) });

const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role: z.string(),
  depId: z.string().meta({ description: 'Empty: directly in the organization' }),
  created: time,
  sent: time.meta({ description: 'The last time' }),
  expiresAt: time,
});

const shown = ({ id, email, role, depId, created, sent, expiresAt }: Invitation) => ({
  ...{ id, email, role, depId: depId ?? '', created: writeTime(created), sent: writeTime(sent), expiresAt: writeTime(expiresAt) },
});

export const organizationInvitationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/account/org/:orgId/invitation',
    access: 'organizations',
    summary: 'Invite somebody to an organization by e-mail, whether they have an account or not',
    params: ofOrganization,
    body: invitationFields,
    status: 201,
    response: invitation,
    handler: async ({ services, params: { orgId }, body, request }) => shown(await inviteToOrganization(services, orgId, body, request)),
  }),
  listing({
    path: '/account/org/:orgId/invitation',
    access: 'organizations',
    summary: 'List the pending invitations to an organization, oldest first',
    params: ofOrganization,
    item: invitation,
    handler: async ({ services, params, query, request }) => mapPage(await listInvitations(services, params.orgId, query, request), shown),
  }),
  endpoint({
    method: 'GET',
    path: '/account/org/:orgId/invitation/:invitationId',
    access: 'organizations',
    summary: 'Read an invitation to an organization',
    params: ofInvitation,
    response: invitation,
    handler: async ({ services, params: { orgId, invitationId }, request }) =>
      shown(await getInvitation(services, orgId, invitationId, request)),
  }),
  endpoint({
    method: 'POST',
    path: '/account/org/:orgId/invitation/:invitationId/resend',
    access: 'organizations',
    summary: 'Send an invitation again with a new link; the previous link stops working',
    params: ofInvitation,
    response: invitation,
    handler: async ({ services, params: { orgId, invitationId }, request }) =>
      shown(await resendInvitation(services, orgId, invitationId, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/org/:orgId/invitation/:invitationId',
    access: 'organizations',
    summary: 'Revoke an invitation to an organization',
    params: ofInvitation,
    status: 204,
    handler: ({ services, params: { orgId, invitationId }, request }) => revokeInvitation(services, orgId, invitationId, request),
  }),
];
