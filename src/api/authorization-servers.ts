/** `authorizationServers`, as Okta's Authorization Servers API shows them. Keys are in authorization-server-keys.ts; scopes, claims, policies and deletion are not here yet. */

import { z } from 'zod';
import { issuerOf } from '../policy/server-id.ts';
import {
  createAuthorizationServer,
  getAuthorizationServer,
  listAuthorizationServers,
  setServerStatus,
  updateAuthorizationServer,
} from '../services/authorization-servers.ts';
import type { Services } from '../services/dependencies.ts';
import { keysInUse } from '../services/signing-keys.ts';
import { text } from '../services/text.ts';
import type { AuthorizationServer, ServerStatus } from '../store/authorization-servers.ts';
import type { KeyInUse } from '../store/signing-keys.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { idParams, links, time, writeTime } from './fields.ts';

const serverSettings = z.strictObject({
  name: text({ least: 1 }),
  description: text({ most: 1024 }).exactOptional(),
  audiences: z.tuple([text({ least: 1 })]).exactOptional(),
  profile: z.enum(['service', 'openid']).exactOptional(),
  accessTokenFormat: z.enum(['opaque', 'jwt']).exactOptional(),
  /** At most a day. */
  accessTokenLifetimeMinutes: z.int().min(1).max(1440).exactOptional(),
  /** At most ten years. */
  refreshTokenLifetimeMinutes: z.int().min(1).max(5_256_000).exactOptional(),
  signingAlg: z.enum(['RS256', 'ES256']).exactOptional(),
});

const newServer = serverSettings.extend({ id: z.string().exactOptional() });

const server = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  audiences: z.array(z.string()),
  issuer: z.url(),
  profile: z.string(),
  accessTokenFormat: z.string(),
  accessTokenLifetimeMinutes: z.number(),
  refreshTokenLifetimeMinutes: z.number(),
  signingAlg: z.string(),
  /** Keys are rotated by call. */
  credentials: z.object({
    signing: z.object({ kid: z.string(), rotationMode: z.literal('MANUAL'), lastRotated: time, nextRotation: z.null() }),
  }),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  created: time,
  lastUpdated: time,
  _links: links,
});

const changeStatus = (step: string, status: ServerStatus): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/authorizationServers/:id/lifecycle/${step}`,
    access: 'service',
    summary: `Make an authorization server ${status}`,
    params: idParams,
    handler: async ({ services, params, request }) => {
      await setServerStatus(services, params.id, status, request);
      return undefined;
    },
  });

export const authorizationServers: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/authorizationServers',
    access: 'service',
    summary: 'Create an authorization server',
    body: newServer,
    response: server,
    status: 201,
    handler: async ({ services, body, request }) => {
      const { id, ...given } = body;
      const created = await createAuthorizationServer(services, { ...settingsOf(given), ...(id !== undefined && { id }) }, request);
      return presentOne(services, created);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/authorizationServers',
    access: 'service',
    summary: 'List the authorization servers, oldest first',
    response: z.array(server),
    handler: async ({ services }) => {
      const keys = await keysInUse(services);
      return (await listAuthorizationServers(services)).map((found) => present(found, keys.get(found.id), services.config.baseUrl));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/authorizationServers/:id',
    access: 'service',
    summary: 'Read an authorization server',
    params: idParams,
    response: server,
    handler: async ({ services, params }) => presentOne(services, await getAuthorizationServer(services, params.id)),
  }),
  endpoint({
    method: 'PUT',
    path: '/authorizationServers/:id',
    access: 'service',
    summary: 'Replace the settings of an authorization server',
    params: idParams,
    body: serverSettings,
    response: server,
    handler: async ({ services, params, body, request }) =>
      presentOne(services, await updateAuthorizationServer(services, params.id, settingsOf(body), request)),
  }),
  changeStatus('activate', 'ACTIVE'),
  changeStatus('deactivate', 'INACTIVE'),
];

/** The API counts in minutes and lists its one audience. */
function settingsOf(body: z.output<typeof serverSettings>) {
  const { audiences, accessTokenLifetimeMinutes: access, refreshTokenLifetimeMinutes: refresh, ...settings } = body;
  return {
    ...settings,
    ...(audiences !== undefined && { audience: audiences[0] }),
    ...(access !== undefined && { accessTokenSeconds: access * 60 }),
    ...(refresh !== undefined && { refreshTokenSeconds: refresh * 60 }),
  };
}

const presentOne = async (services: Services, found: AuthorizationServer) =>
  present(found, (await keysInUse(services, found.id)).get(found.id), services.config.baseUrl);

function present(found: AuthorizationServer, key: KeyInUse | undefined, baseUrl: string): z.input<typeof server> {
  if (key === undefined) throw new Error(`authorization server ${found.id} has no key to sign with`);
  return {
    id: found.id,
    name: found.name,
    description: found.description,
    audiences: [found.audience],
    issuer: issuerOf(baseUrl, found.id),
    profile: found.profile,
    accessTokenFormat: found.accessTokenFormat,
    accessTokenLifetimeMinutes: found.accessTokenSeconds / 60,
    refreshTokenLifetimeMinutes: found.refreshTokenSeconds / 60,
    signingAlg: found.signingAlg,
    credentials: {
      signing: { kid: key.kid, rotationMode: 'MANUAL', lastRotated: writeTime(key.activated), nextRotation: null },
    },
    status: found.status,
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    _links: { self: { href: `${baseUrl}/api/v1/authorizationServers/${found.id}` } },
  };
}
