/** `authorizationServers`, as in Okta's Authorization Servers API. Parts of a server have their own files. */

import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { idParams, time, unlessEmpty, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { lifecycleLinks, linksOf } from '../policies/policies.api.ts';
import { audiencesOf } from './audience.policy.ts';
import { audiencesIn, serverFields } from './authorization-server-fields.service.ts';
import type { AuthorizationServer } from './authorization-servers.resource.ts';
import {
  createAuthorizationServer,
  deleteAuthorizationServer,
  getAuthorizationServer,
  pageAuthorizationServers,
  setServerStatus,
  updateAuthorizationServer,
} from './authorization-servers.service.ts';
import { BUILT_IN, DEFAULT, issuerOf } from './server-id.policy.ts';
import { nextRotation } from './signing-keys.policy.ts';
import type { KeyInUse } from './signing-keys.resource.ts';
import { keysInUse } from './signing-keys.service.ts';

const serverSettings = z.strictObject({
  name: serverFields.name,
  description: serverFields.description.exactOptional(),
  /** The first is the default `aud` of access tokens; requests select others by `resource` (RFC 8707). */
  audiences: serverFields.audiences.exactOptional(),
  profile: serverFields.profile.exactOptional(),
  accessTokenFormat: serverFields.accessTokenFormat.exactOptional(),
  accessTokenType: serverFields.accessTokenType.exactOptional(),
  /** At most a day. */
  accessTokenLifetimeMinutes: serverFields.accessTokenLifetimeMinutes.exactOptional(),
  /** At most ten years. */
  refreshTokenLifetimeMinutes: serverFields.refreshTokenLifetimeMinutes.exactOptional(),
  signingAlg: serverFields.signingAlg.exactOptional(),
  /** Algorithms with further keys, in addition to RS256, ES256 and signingAlg. Applications can select any of them. */
  additionalSigningAlgs: serverFields.additionalSigningAlgs.exactOptional(),
  /** Client ID Metadata Documents: clients whose client_id is an https URL. */
  clientIdMetadata: serverFields.clientIdMetadata.exactOptional(),
  /** Dynamic client registration (RFC 7591). */
  registration: serverFields.registration.exactOptional(),
  credentials: z
    .strictObject({
      // Okta's SDKs send the use of the keys.
      signing: z
        .strictObject({ use: z.literal('sig').exactOptional(), rotationMode: serverFields.rotationMode.exactOptional() })
        .exactOptional(),
    })
    .exactOptional(),
});

const newServer = serverSettings.extend({ id: z.string().exactOptional() });

const server = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  audiences: z.array(z.string()),
  issuer: z.url(),
  profile: serverFields.profile,
  accessTokenFormat: serverFields.accessTokenFormat,
  accessTokenType: serverFields.accessTokenType,
  accessTokenLifetimeMinutes: z.number(),
  refreshTokenLifetimeMinutes: z.number(),
  signingAlg: z.string(),
  additionalSigningAlgs: z.array(z.string()),
  clientIdMetadata: z.object({ enabled: z.boolean(), allowedDomains: z.array(z.string()) }),
  registration: z.object({
    mode: z.enum(['OFF', 'TOKEN', 'OPEN']),
    allowedRedirectHosts: z.array(z.string()),
    allowedScopes: z.array(z.string()),
    expiresAfterDays: z.int().nullable(),
  }),
  credentials: z.object({
    /** MANUAL: keys are rotated only by a call, and nextRotation is null. */
    signing: z.object({ kid: z.string(), rotationMode: z.enum(['AUTO', 'MANUAL']), lastRotated: time, nextRotation: time.nullable() }),
  }),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  /** The initial custom server, for the service's own APIs. */
  default: z.boolean(),
  /** Every issuer is below the service's base URL. */
  issuerMode: z.literal('ORG_URL'),
  created: time,
  lastUpdated: time,
  _links: lifecycleLinks.extend({
    metadata: z.array(z.object({ name: z.string(), href: z.url() })),
    scopes: z.object({ href: z.url() }),
    claims: z.object({ href: z.url() }),
    policies: z.object({ href: z.url() }),
    rotateKey: z.object({ href: z.url(), hints: z.object({ allow: z.tuple([z.literal('POST')]) }) }),
  }),
});

export const authorizationServers: readonly Endpoint[] = [
  ...collection({
    path: '/authorizationServers',
    idParam: 'id',
    access: 'service',
    summaries: {
      create: 'Create an authorization server',
      list: 'List the authorization servers, oldest first; q is part of the name or audience',
      read: 'Read an authorization server',
      replace: 'Replace the settings of an authorization server',
      remove: 'Delete an authorization server, active or not, with everything in it; its tokens stop working',
    },
    query: { q: text().optional() },
    body: newServer,
    replacement: serverSettings,
    response: server,
    create: async ({ services, request }, { id, ...given }) =>
      withKey(services, await createAuthorizationServer(services, { ...settingsOf(given), ...(id !== undefined && { id }) }, request)),
    async list({ services }, query) {
      const page = await pageAuthorizationServers(services, query);
      const keys = await keysInUse(services);
      return mapPage(page, (found) => ({ found, key: keys.get(found.id) }));
    },
    read: async ({ services }, id) => withKey(services, await getAuthorizationServer(services, id)),
    replace: async ({ services, request }, id, body) =>
      withKey(services, await updateAuthorizationServer(services, id, settingsOf(body), request)),
    remove: ({ services, request }, id) => deleteAuthorizationServer(services, id, request),
    present: ({ found, key }, { services }) => present(found, key, services.config.baseUrl),
  }),
  ...lifecycleSteps({
    path: '/authorizationServers/:id',
    noun: 'an authorization server',
    access: 'service',
    params: idParams,
    set: ({ services, params, request }, status) => setServerStatus(services, params.id, status, request),
  }),
];

/** The API uses minutes and lists all audiences together. */
function settingsOf(body: z.output<typeof serverSettings>) {
  const { audiences, accessTokenLifetimeMinutes: access, refreshTokenLifetimeMinutes: refresh, credentials, ...settings } = body;
  const rotationMode = credentials?.signing?.rotationMode;
  return {
    ...settings,
    ...(rotationMode !== undefined && { rotationMode }),
    ...(audiences !== undefined && audiencesIn(audiences)),
    ...(access !== undefined && { accessTokenSeconds: access * 60 }),
    ...(refresh !== undefined && { refreshTokenSeconds: refresh * 60 }),
  };
}

const withKey = async (services: Services, found: AuthorizationServer) => ({
  found,
  key: (await keysInUse(services, found.id)).get(found.id),
});

function present(found: AuthorizationServer, key: KeyInUse | undefined, baseUrl: string): z.input<typeof server> {
  if (key === undefined) throw new Error(`authorization server ${found.id} has no key to sign with`);
  const href = `${baseUrl}/api/v1/authorizationServers/${found.id}`;
  const issuer = issuerOf(baseUrl, found.id);
  const { kid, activated, nextCreated } = key;
  const due = nextRotation(found.rotationMode, { activated, nextCreated: nextCreated ?? undefined }, LIFETIMES);
  return {
    id: found.id,
    name: found.name,
    description: unlessEmpty(found.description),
    audiences: [...audiencesOf(found)],
    issuer,
    profile: found.profile,
    accessTokenFormat: found.accessTokenFormat,
    accessTokenType: found.accessTokenType,
    accessTokenLifetimeMinutes: found.accessTokenSeconds / 60,
    refreshTokenLifetimeMinutes: found.refreshTokenSeconds / 60,
    signingAlg: found.signingAlg,
    additionalSigningAlgs: [...found.additionalSigningAlgs],
    clientIdMetadata: { enabled: found.clientIdMetadata.enabled, allowedDomains: [...found.clientIdMetadata.allowedDomains] },
    registration: structuredClone(found.registration) as z.input<typeof server>['registration'],
    credentials: {
      signing: { kid, rotationMode: found.rotationMode, lastRotated: writeTime(activated), nextRotation: writeTimeOrNull(due ?? null) },
    },
    status: found.status,
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    default: found.id === DEFAULT,
    issuerMode: 'ORG_URL',
    _links: {
      ...linksOf(href, { status: found.status, system: found.id === BUILT_IN }),
      metadata: ['oauth-authorization-server', 'openid-configuration'].map((name) => ({ name, href: `${issuer}/.well-known/${name}` })),
      scopes: { href: `${href}/scopes` },
      claims: { href: `${href}/claims` },
      policies: { href: `${href}/policies` },
      rotateKey: { href: `${href}/credentials/lifecycle/keyRotate`, hints: { allow: ['POST'] } },
    },
  };
}
