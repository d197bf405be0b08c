/** `idps/{id}/users`: linked users of an identity provider, as in Okta: `id` is the user, `externalId` their ID at the provider. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { getLink, linkUser, listLinkedUsers, unlinkUser } from './identity-provider-links.service.ts';
import type { IdentityProviderLink } from './identity-providers.resource.ts';

const params = idParams.extend({ userId: z.string().min(1) });

const linkedUser = z.object({
  id: z.string(),
  externalId: z.string(),
  created: time,
  lastUpdated: time,
  _links: links.extend({ idp: z.object({ href: z.url() }), user: z.object({ href: z.url() }) }),
});

export const idpUsers: readonly Endpoint[] = [
  listing({
    path: '/idps/:id/users',
    access: 'service',
    summary: 'List the users who are linked to an identity provider, in the order of their linking',
    params: idParams,
    item: linkedUser,
    handler: async ({ services, params: { id }, query }) =>
      mapPage(await listLinkedUsers(services, id, query), (found) => present(found, services.config.baseUrl)),
  }),
  endpoint({
    method: 'GET',
    path: '/idps/:id/users/:userId',
    access: 'service',
    summary: 'Read how a user is linked to an identity provider',
    params,
    response: linkedUser,
    handler: async ({ services, params: { id, userId }, request }) =>
      present(await getLink(services, id, userId, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'POST',
    path: '/idps/:id/users/:userId',
    access: 'service',
    summary: 'Link a user to an identity provider: a sign-in there as externalId signs in that user',
    params,
    body: z.strictObject({ externalId: text({ least: 1 }) }),
    response: linkedUser,
    handler: async ({ services, params: { id, userId }, body, request }) =>
      present(await linkUser(services, id, userId, body.externalId, request), services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: '/idps/:id/users/:userId',
    access: 'service',
    summary: 'Unlink a user from an identity provider',
    params,
    handler: ({ services, params: { id, userId }, request }) => unlinkUser(services, id, userId, request),
  }),
];

function present({ idpId, subject, userId, created }: IdentityProviderLink, baseUrl: string): z.input<typeof linkedUser> {
  const idp = `${baseUrl}/api/v1/idps/${idpId}`;
  return {
    id: userId,
    externalId: subject,
    created: writeTime(created),
    lastUpdated: writeTime(created),
    _links: { self: { href: `${idp}/users/${userId}` }, idp: { href: idp }, user: { href: `${baseUrl}/api/v1/users/${userId}` } },
  };
}
