/** `users/{id}/trustedBrowsers`: browsers in which a user needs no second factor. An extension to Okta's API. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import type { TrustedBrowser } from './trusted-browsers.resource.ts';
import { endAllTrust, endUserTrust, listUserTrustedBrowsers } from './trusted-browsers.service.ts';

const trustedBrowser = z.object({
  id: z.string(),
  name: z.string().nullable().meta({ description: 'The browser and the operating system, e.g. `Firefox, Windows`; null: not recognized' }),
  ipAddress: z.string().nullable().meta({ description: 'From where the user trusted it' }),
  created: time,
  lastUsed: time.nullable().meta({ description: 'The last sign-in without a second factor; null: none yet' }),
  expiresAt: time,
  _links: links.extend({ user: z.object({ href: z.url() }) }),
});
const browserParams = idParams.extend({ browserId: z.string().min(1) });

export const trustedBrowserEndpoints: readonly Endpoint[] = [
  listing({
    path: '/users/:id/trustedBrowsers',
    access: 'organizations',
    summary: 'List the browsers that a user trusts, newest first; there no second factor is asked for until they expire',
    params: idParams,
    item: trustedBrowser,
    handler: async ({ services, params, query, request }) => {
      const { user, browsers } = await listUserTrustedBrowsers(services, params.id, request);
      return inPages(
        browsers.map((browser) => present(browser, `${services.config.baseUrl}/api/v1/users/${user.id}`)),
        query,
      );
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/trustedBrowsers/:browserId',
    access: 'organizations',
    summary: 'End the trust in one browser: the next sign-in there asks for the second factor',
    params: browserParams,
    handler: ({ services, params, request }) => endUserTrust(services, params.id, params.browserId, request),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/trustedBrowsers',
    access: 'organizations',
    summary: 'End the trust in all browsers of a user',
    params: idParams,
    handler: ({ services, params, request }) => endAllTrust(services, params.id, request),
  }),
];

const present = (
  { id, userAgent, ipAddress, created, lastUsed, expiresAt }: TrustedBrowser,
  user: string,
): z.input<typeof trustedBrowser> => ({
  ...{ id, ipAddress },
  name: browserName(userAgent) ?? null,
  created: writeTime(created),
  lastUsed: writeTimeOrNull(lastUsed),
  expiresAt: writeTime(expiresAt),
  _links: { self: { href: `${user}/trustedBrowsers/${id}` }, user: { href: user } },
});
