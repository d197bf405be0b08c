/**
 * `authorizationServers/{id}/registrationTokens`: initial access tokens for dynamic client registration (RFC 7591 section 3). An extension: Okta uses
 * API tokens for it.
 */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, moment, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import type { RegistrationToken } from './registration-tokens.resource.ts';
import {
  createRegistrationToken,
  DEFAULT_DAYS,
  getRegistrationToken,
  listRegistrationTokens,
  registrationTokenName,
  revokeRegistrationToken,
} from './registration-tokens.service.ts';

const PATH = '/authorizationServers/:id/registrationTokens';
const tokenParams = idParams.extend({ tokenId: z.string().min(1) });

const newToken = z.strictObject({
  name: registrationTokenName,
  singleUse: z.boolean().default(true).meta({ description: 'Valid for one registration' }),
  expiresAt: moment.nullish().meta({ description: `Must be in the future. Absent: in ${DEFAULT_DAYS} days. null: never expires` }),
});

const registrationToken = z.object({
  id: z.string(),
  name: z.string(),
  singleUse: z.boolean(),
  uses: z.int().meta({ description: 'How many clients have registered with it' }),
  created: time,
  expiresAt: time.nullable(),
  lastUsed: time.nullable(),
});

const createdToken = registrationToken.extend({ token: z.string().meta({ description: 'The value. Returned only once' }) });

export const registrationTokens: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: PATH,
    access: 'service',
    summary: 'Create an initial access token for client registration; its value is returned only once',
    params: idParams,
    body: newToken,
    response: createdToken,
    status: 201,
    handler: async ({ services, params, body, request }) => {
      const made = await createRegistrationToken(services, params.id, body, request);
      return { ...presentToken(made.token), token: made.value };
    },
  }),
  listing({
    path: PATH,
    access: 'service',
    summary: 'List the initial access tokens of an authorization server, oldest first',
    params: idParams,
    item: registrationToken,
    handler: async ({ services, params, query }) => mapPage(await listRegistrationTokens(services, params.id, query), presentToken),
  }),
  endpoint({
    method: 'GET',
    path: `${PATH}/:tokenId`,
    access: 'service',
    summary: 'Read an initial access token, without its value',
    params: tokenParams,
    response: registrationToken,
    handler: async ({ services, params }) => presentToken(await getRegistrationToken(services, params.id, params.tokenId)),
  }),
  endpoint({
    method: 'DELETE',
    path: `${PATH}/:tokenId`,
    access: 'service',
    summary: 'Revoke an initial access token; clients that registered with it stay',
    params: tokenParams,
    handler: ({ services, params, request }) => revokeRegistrationToken(services, params.id, params.tokenId, request),
  }),
];

const presentToken = ({ created, expiresAt, lastUsed, serverId: _, ...rest }: RegistrationToken): z.input<typeof registrationToken> => ({
  ...rest,
  created: writeTime(created),
  expiresAt: writeTimeOrNull(expiresAt),
  lastUsed: writeTimeOrNull(lastUsed),
});
