/** `authorizationServers/{id}/claims`, as in Okta's Authorization Servers API (OAuth2Claim), with additional value types. */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
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
import { type ServerClaim, staticValue, storedValue } from './custom-claims.policy.ts';

const { claimType, valueType, groupFilterType, status, staticValue: value } = claimFields;

const claimBody = z.strictObject({
  name: claimFields.name,
  claimType,
  valueType,
  /** STATIC claims: a string, number, boolean or an array of these. Other claims: a string. */
  value: value.nullish(),
  /** Scopes of this server; the claim is included if one of them is granted, or always without any. */
  conditions: z.strictObject({ scopes: z.array(z.string()).max(100).exactOptional() }).nullish(),
  /** Default true; false: ID tokens omit it if the application can get it from userinfo. */
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
  /** For claims of value type GROUPS. */
  group_filter_type: groupFilterType.exactOptional(),
  system: z.literal(false),
  _links: links,
});

export const authorizationServerClaims = collection({
  path: '/authorizationServers/:id/claims',
  params: idParams,
  idParam: 'claimId',
  access: 'service',
  summaries: {
    create: 'Create a claim of an authorization server',
    list: 'List the claims of an authorization server, oldest first',
    read: 'Read a claim of an authorization server',
    replace: 'Replace a claim of an authorization server',
    remove: 'Delete a claim of an authorization server',
  },
  body: claimBody,
  response: claim,
  create: ({ services, params, request }, body) => createServerClaim(services, params.id, settingsOf(body), request),
  list: ({ services, params }, window) => listServerClaims(services, params.id, window),
  read: ({ services, params }, id) => getServerClaim(services, params.id, id),
  replace: ({ services, params, request }, id, body) => updateServerClaim(services, params.id, id, settingsOf(body), request),
  remove: ({ services, params, request }, id) => deleteServerClaim(services, params.id, id, request),
  present: (found, { services, params }) => present(found, params.id, services.config.baseUrl),
});

function settingsOf(body: z.output<typeof claimBody>): ClaimSettings {
  return {
    name: body.name,
    claimType: body.claimType,
    valueType: body.valueType,
    ...storedValue(body.value ?? ''),
    scopes: [...new Set(body.conditions?.scopes)],
    alwaysIncludeInToken: body.alwaysIncludeInToken ?? true,
    groupFilterType: body.group_filter_type ?? null,
    status: body.status ?? 'ACTIVE',
  };
}

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
