/** `api-tokens`: tokens that authenticate calls of this API. Everyone who can call the API has their own tokens. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, moment, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { API_TOKEN_TYPES, type ApiToken } from './api-tokens.resource.ts';
import { apiTokenName, createApiToken, getApiToken, listApiTokens, revokeApiToken } from './api-tokens.service.ts';

const newToken = z.strictObject({
  name: apiTokenName,
  type: z.enum(API_TOKEN_TYPES).optional().meta({ description: 'SCIM: only for provisioning at /scim/v2. Default: API' }),
  orgId: text({ least: 1 })
    .nullish()
    .meta({ description: 'SCIM tokens only: limits the token to the members of this organization. Absent or null: the whole service' }),
  expiresAt: moment.nullish().meta({ description: 'Must be in the future. Absent or null: never expires' }),
});

const createdToken = z.object({
  id: z.string(),
  name: z.string(),
  token: z.string().meta({ description: 'The value that authenticates calls. Returned only once' }),
});

const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(API_TOKEN_TYPES),
  orgId: z.string().nullable().meta({ description: 'SCIM tokens only. Null: the whole service' }),
  userId: z.string().meta({ description: 'The creator. The token has their roles' }),
  created: time,
  expiresAt: time.nullable(),
  lastUsed: time.nullable().meta({ description: 'Accurate to one minute' }),
});

export const apiTokens: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/api-tokens',
    access: 'own',
    summary: "Create an API token with the caller's roles; its value is returned only once",
    body: newToken,
    response: createdToken,
    handler: async ({ services, body: { name, type, orgId, expiresAt }, request }) => {
      const input = { name, type, orgId: orgId ?? undefined, userId: request.actor.id, expiresAt: expiresAt ?? undefined };
      const { apiToken, value } = await createApiToken(services, input, request);
      return { id: apiToken.id, name: apiToken.name, token: value };
    },
  }),
  listing({
    path: '/api-tokens',
    access: 'own',
    summary: "List the caller's API tokens, oldest first; service-wide administrators see all tokens",
    item: apiToken,
    handler: async ({ services, query, request }) => mapPage(await listApiTokens(services, query, request), present),
  }),
  endpoint({
    method: 'GET',
    path: '/api-tokens/:id',
    access: 'own',
    summary: 'Read an API token, without its value',
    params: idParams,
    response: apiToken,
    handler: async ({ services, params, request }) => present(await getApiToken(services, params.id, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/api-tokens/:id',
    access: 'own',
    summary: 'Revoke an API token; the next call with it is refused',
    params: idParams,
    handler: ({ services, params, request }) => revokeApiToken(services, params.id, request),
  }),
];

const present = ({ created, expiresAt, lastUsed, ...rest }: ApiToken): z.input<typeof apiToken> => ({
  ...rest,
  created: writeTime(created),
  expiresAt: writeTimeOrNull(expiresAt),
  lastUsed: writeTimeOrNull(lastUsed),
});
