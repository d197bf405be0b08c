/** `users/{id}/grants`: consents of a user to applications, one per scope or authorization detail, as in Okta's User Grants API. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import type { Consent } from './consents.resource.ts';
import { getGrant, listGrants, revokeGrant, revokeGrants } from './consents.service.ts';

const linked = z.object({ href: z.url() });

const grant = z.object({
  id: z.string(),
  status: z.literal('ACTIVE'),
  created: time,
  lastUpdated: time,
  issuer: z.url(),
  clientId: z.string(),
  userId: z.string(),
  /** Name of the scope, or of the authorization detail's type. */
  scopeId: z.string(),
  /** The allowed authorization detail (RFC 9396); absent for a scope. */
  authorizationDetail: z.record(z.string(), z.unknown()).optional(),
  _links: links.extend({ app: linked, user: linked, authorizationServer: linked }),
});

const grantParams = idParams.extend({ grantId: z.string().min(1) });

export const userGrants: readonly Endpoint[] = [
  listing({
    path: '/users/:id/grants',
    access: 'organizations',
    summary: 'List the consents of a user, oldest first',
    params: idParams,
    item: grant,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listGrants(services, params.id, query, request), (found) => present(found, services.config.baseUrl)),
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/grants/:grantId',
    access: 'organizations',
    summary: 'Read a consent of a user',
    params: grantParams,
    response: grant,
    handler: async ({ services, params, request }) =>
      present(await getGrant(services, params.id, params.grantId, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/grants/:grantId',
    access: 'organizations',
    summary: "Revoke a consent; the application's tokens for the user at that server stop working",
    params: grantParams,
    handler: ({ services, params, request }) => revokeGrant(services, params.id, params.grantId, request),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/grants',
    access: 'organizations',
    summary: 'Revoke all consents of a user',
    params: idParams,
    handler: ({ services, params, request }) => revokeGrants(services, params.id, request),
  }),
];

/** A consent is given or revoked, never changed. */
const present = (found: Consent, baseUrl: string): z.input<typeof grant> => {
  const api = `${baseUrl}/api/v1`;
  const user = `${api}/users/${found.userId}`;
  return {
    id: found.id,
    status: 'ACTIVE',
    created: writeTime(found.created),
    lastUpdated: writeTime(found.created),
    issuer: issuerOf(baseUrl, found.serverId),
    clientId: found.applicationId,
    userId: found.userId,
    scopeId: found.detail === null ? found.scope : found.detail.type,
    ...(found.detail !== null && { authorizationDetail: found.detail }),
    _links: {
      self: { href: `${user}/grants/${found.id}` },
      app: { href: `${api}/apps/${encodeURIComponent(found.applicationId)}` },
      user: { href: user },
      authorizationServer: { href: `${api}/authorizationServers/${found.serverId}` },
    },
  };
};
