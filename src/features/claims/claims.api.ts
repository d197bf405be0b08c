/** `authorizationServers/{id}/claims`, as Okta's Authorization Servers API shows them (its OAuth2Claim), with value types of the service's own. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links } from '../../api/fields.ts';
import { claimFields } from '../authorization-servers/authorization-server-fields.service.ts';
import {
  type ClaimSettings,
  createServerClaim,
  deleteServerClaim,
  getServerClaim,
  listServerClaims,
  updateServerClaim,
} from './claims.service.ts';
import { keptValue, type ServerClaim, staticValue } from './custom-claims.policy.ts';

const { claimType, valueType, groupFilterType, status, staticValue: value } = claimFields;

const claimBody = z.strictObject({
  name: claimFields.name,
  claimType,
  valueType,
  /** Of a STATIC claim a string, number, boolean or an array of these; of any other a string. */
  value: value.nullish(),
  /** Scopes of this server; the claim is told where one of them is granted, without any always. */
  conditions: z.strictObject({ scopes: z.array(z.string()).max(100).exactOptional() }).nullish(),
  /** true unless given; false: an ID token beside which an access token can be had leaves it to userinfo. */
  alwaysIncludeInToken: z.boolean().exactOptional(),
  status: status.exactOptional(),
  group_filter_type: groupFilterType.nullish(),
});

const claim = z.object({
  id: z.string(),
  name: z.string(),
  claimType,
  valueType,
  value,
  conditions: z.object({ scopes: z.array(z.string()) }),
  alwaysIncludeInToken: z.boolean(),
  status,
  /** Of a claim of value type GROUPS. */
  group_filter_type: groupFilterType.exactOptional(),
  system: z.literal(false),
  _links: links,
});

const claimParams = idParams.extend({ claimId: z.string().min(1) });
const path = '/authorizationServers/:id/claims';

export const authorizationServerClaims: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    access: 'service',
    summary: 'Create a claim of an authorization server',
    params: idParams,
    body: claimBody,
    response: claim,
    status: 201,
    handler: async ({ services, params, body, request }) =>
      present(await createServerClaim(services, params.id, settingsOf(body), request), params.id, services.config.baseUrl),
  }),
  listing({
    path,
    access: 'service',
    summary: 'List the claims of an authorization server, oldest first',
    params: idParams,
    item: claim,
    handler: async ({ services, params, query }) => {
      const { items, next } = await listServerClaims(services, params.id, query);
      return { items: items.map((found) => present(found, params.id, services.config.baseUrl)), next };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:claimId`,
    access: 'service',
    summary: 'Read a claim of an authorization server',
    params: claimParams,
    response: claim,
    handler: async ({ services, params }) =>
      present(await getServerClaim(services, params.id, params.claimId), params.id, services.config.baseUrl),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:claimId`,
    access: 'service',
    summary: 'Replace a claim of an authorization server',
    params: claimParams,
    body: claimBody,
    response: claim,
    handler: async ({ services, params, body, request }) =>
      present(await updateServerClaim(services, params.id, params.claimId, settingsOf(body), request), params.id, services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:claimId`,
    access: 'service',
    summary: 'Delete a claim of an authorization server',
    params: claimParams,
    handler: async ({ services, params, request }) => {
      await deleteServerClaim(services, params.id, params.claimId, request);
      return undefined;
    },
  }),
];

const settingsOf = (body: z.output<typeof claimBody>): ClaimSettings => ({
  name: body.name,
  claimType: body.claimType,
  valueType: body.valueType,
  ...keptValue(body.value ?? ''),
  scopes: [...new Set(body.conditions?.scopes)],
  alwaysIncludeInToken: body.alwaysIncludeInToken ?? true,
  groupFilterType: body.group_filter_type ?? null,
  status: body.status ?? 'ACTIVE',
});

const present = (
  { scopes, groupFilterType: filter, valueFormat, ...found }: ServerClaim,
  serverId: string,
  baseUrl: string,
): z.input<typeof claim> => ({
  ...found,
  value: staticValue({ value: found.value, valueFormat }),
  conditions: { scopes: [...scopes] },
  ...(filter !== null && { group_filter_type: filter }),
  system: false,
  _links: { self: { href: `${baseUrl}/api/v1/authorizationServers/${serverId}/claims/${found.id}` } },
});
