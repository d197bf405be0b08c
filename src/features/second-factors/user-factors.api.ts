/** `users/{id}/factors`: the second factors of a user, and their reset when they are lost, as Okta's Factors API shows them. Users enrol them themselves. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import type { User } from '../users/users.resource.ts';
import { factorFields, factorStates, presentFactor, presentStates } from './factor-fields.api.ts';
import { getUserFactor, listUserFactors, resetUserFactor, resetUserFactors, type SecondFactor } from './factors.service.ts';

const factor = z.object({ ...factorFields, ...factorStates, _links: links.extend({ user: z.object({ href: z.url() }) }) });
const factorParams = idParams.extend({ factorId: z.string().min(1) });

export const userFactorEndpoints: readonly Endpoint[] = [
  listing({
    path: '/users/:id/factors',
    access: 'organizations',
    summary: 'List the second factors of a user: the authenticator app, then the passkeys, oldest first',
    params: idParams,
    item: factor,
    handler: async ({ services, params, query, request }) => {
      const { user, factors } = await listUserFactors(services, params.id, request);
      return inPages(
        factors.map((found) => present(found, user, services.config.baseUrl)),
        query,
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/factors/:factorId',
    access: 'organizations',
    summary: 'Read a second factor of a user',
    params: factorParams,
    response: factor,
    handler: async ({ services, params, request }) => {
      const { user, factor: found } = await getUserFactor(services, params.id, params.factorId, request);
      return present(found, user, services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/factors/:factorId',
    access: 'organizations',
    summary: 'Reset a second factor of a user, e.g. a lost one; with the last one go the recovery codes',
    params: factorParams,
    handler: async ({ services, params, request }) => {
      await resetUserFactor(services, params.id, params.factorId, request);
      return undefined;
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/factors',
    access: 'organizations',
    summary: 'Reset all second factors of a user, and the recovery codes',
    params: idParams,
    handler: async ({ services, params, request }) => {
      await resetUserFactors(services, params.id, request);
      return undefined;
    },
  }),
];

const present = (found: SecondFactor, user: User, baseUrl: string): z.input<typeof factor> => {
  const href = `${baseUrl}/api/v1/users/${user.id}`;
  return {
    ...presentFactor(found, user.login),
    ...presentStates(found),
    _links: { self: { href: `${href}/factors/${found.id}` }, user: { href } },
  };
};
