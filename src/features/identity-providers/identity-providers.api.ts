/** `idps`: external identity providers, as in Okta's Identity Providers API. The client secret is write-only. */

import { z } from 'zod';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, LARGE_BODY, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { text } from '../../platform/validation/text.ts';
import { IDENTITY_PROVIDER_TYPES } from './identity-provider.policy.ts';
import { identityProviderBody, identityProviderId, identityProviderInput } from './identity-provider-settings.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  listIdentityProviders,
  setIdentityProviderStatus,
  updateIdentityProvider,
} from './identity-providers.service.ts';
import { idpUsers } from './linked-users.api.ts';
import { upstreamRedirectUri } from './upstream-exchange.service.ts';

const client = { client_id: 'the client ID that the provider gave', client_secret: 'the secret that it gave' };
const policy = { provisioning: { action: 'AUTO' } };

/** An example body for each type. The URLs of Google, GitHub and Microsoft are built in. The response contains the redirect URI to register there. */
const IDP_EXAMPLES: Readonly<Record<string, object>> = {
  OIDC: {
    name: 'Example Login',
    type: 'OIDC',
    protocol: { issuer: { url: 'https://login.example.com' }, credentials: { client } },
    policy,
  },
  GOOGLE: { name: 'Google', type: 'GOOGLE', protocol: { credentials: { client } }, policy },
  GITHUB: { name: 'GitHub', type: 'GITHUB', protocol: { credentials: { client } }, policy },
  MICROSOFT: {
    name: 'Microsoft',
    type: 'MICROSOFT',
    protocol: { issuer: { url: 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0' }, credentials: { client } },
    policy,
  },
};

const address = z.object({ url: z.string() });
const endpointAddress = z.object({ url: z.string(), binding: z.enum(['HTTP-REDIRECT', 'HTTP-POST']) }).optional();

const idp = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(IDENTITY_PROVIDER_TYPES),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  created: time,
  lastUpdated: time,
  protocol: z.object({
    type: z.enum(['OIDC', 'OAUTH2']),
    issuer: address.optional(),
    endpoints: z
      .object({ authorization: endpointAddress, token: endpointAddress, userInfo: endpointAddress, jwks: endpointAddress })
      .optional(),
    scopes: z.array(z.string()),
    credentials: z.object({
      client: z.object({ client_id: z.string(), token_endpoint_auth_method: z.string(), pkce_required: z.literal(true) }),
    }),
    settings: z.object({ authorizationParameters: z.record(z.string(), z.string()) }),
  }),
  policy: z.object({
    provisioning: z.object({
      action: z.string(),
      orgId: z.string().optional(),
      groups: z.object({ action: z.string(), assignments: z.array(z.string()) }),
      profileMaster: z.boolean(),
    }),
    accountLink: z.object({
      action: z.string(),
      filter: z.object({ groups: z.object({ include: z.array(z.string()) }) }).nullable(),
    }),
    subject: z.object({
      userNameTemplate: z.object({ template: z.string() }),
      matchType: z.string(),
      emailDomains: z.array(z.string()).optional(),
    }),
    attributeMap: z.record(z.string(), z.string()),
    trust: z.object({ assertions: z.boolean() }),
    maxClockSkew: z.number(),
  }),
  _links: links.extend({ users: z.object({ href: z.url() }), clientRedirectUri: z.object({ href: z.url() }) }),
});

/** Okta's Terraform provider reads the mapping of an identity provider. Here it is `policy.attributeMap`. */
const mappings = listing({
  path: '/mappings',
  access: 'service',
  summary: "List profile mappings: there are none, and Okta's Terraform provider asks for them",
  item: z.object({ id: z.string() }),
  handler: async () => ({ items: [], next: undefined }),
});

export const idps: readonly Endpoint[] = [
  mappings,
  ...collection({
    path: '/idps',
    idParam: 'id',
    access: 'service',
    status: 200,
    summaries: {
      create: 'Create an identity provider; Google, GitHub and Microsoft have defaults for the other settings',
      list: 'List the identity providers, oldest first; q is the start of the name',
      read: 'Read an identity provider',
      replace: 'Replace the name and the settings of an identity provider; without a client secret it keeps the one it has',
      remove: 'Delete an identity provider, active or not, with the links of users to it; the users stay',
    },
    query: { q: text().optional(), type: z.enum(IDENTITY_PROVIDER_TYPES).optional() },
    bodyLimit: LARGE_BODY,
    body: identityProviderBody.extend({ id: identityProviderId.optional() }),
    replacement: identityProviderBody,
    examples: IDP_EXAMPLES,
    response: idp,
    create: ({ services, request }, { id, ...body }) => createIdentityProvider(services, { ...identityProviderInput(body), id }, request),
    list: ({ services }, { limit, after, ...search }) => listIdentityProviders(services, search, { limit, after }),
    read: ({ services }, id) => getIdentityProvider(services, id),
    replace: ({ services, request }, id, body) => updateIdentityProvider(services, id, identityProviderInput(body), request),
    remove: ({ services, request }, id) => deleteIdentityProvider(services, id, request),
    present: (found, { services }) => present(found, services.config.baseUrl),
  }),
  ...lifecycleSteps({
    path: '/idps/:id',
    noun: 'an identity provider',
    access: 'service',
    params: idParams,
    response: idp,
    set: async ({ services, params, request }, status) =>
      present(await setIdentityProviderStatus(services, params.id, status, request), services.config.baseUrl),
  }),
  ...idpUsers,
];

function present({ protocol, policy, ...provider }: IdentityProvider, baseUrl: string): z.input<typeof idp> {
  const { issuer, endpoints, credentials } = protocol;
  const { provisioning, accountLink } = policy;
  const self = `${baseUrl}/api/v1/idps/${provider.id}`;
  const read = (at: { readonly url: string } | undefined) => at && { url: at.url, binding: 'HTTP-REDIRECT' as const };
  return {
    id: provider.id,
    name: provider.name,
    type: provider.type,
    status: provider.status,
    created: writeTime(provider.created),
    lastUpdated: writeTime(provider.lastUpdated),
    protocol: {
      type: protocol.type,
      issuer,
      endpoints: endpoints && {
        authorization: read(endpoints.authorization),
        token: endpoints.token && { url: endpoints.token.url, binding: 'HTTP-POST' },
        userInfo: read(endpoints.userInfo),
        jwks: read(endpoints.jwks),
      },
      scopes: [...protocol.scopes],
      credentials: { client: { ...credentials.client, pkce_required: true } },
      settings: { authorizationParameters: { ...protocol.settings.authorizationParameters } },
    },
    policy: {
      provisioning: { ...provisioning, groups: { ...provisioning.groups, assignments: [...provisioning.groups.assignments] } },
      accountLink: {
        action: accountLink.action,
        filter: accountLink.filter ? { groups: { include: [...accountLink.filter.groups.include] } } : null,
      },
      subject: { ...policy.subject, emailDomains: policy.subject.emailDomains && [...policy.subject.emailDomains] },
      attributeMap: { ...policy.attributeMap },
      trust: { assertions: policy.trust?.assertions ?? false },
      maxClockSkew: policy.maxClockSkew,
    },
    _links: {
      self: { href: self },
      users: { href: `${self}/users` },
      clientRedirectUri: { href: upstreamRedirectUri(baseUrl, provider.id) },
    },
  };
}
