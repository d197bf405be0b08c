/** `users/{id}/data`: all data about one user, for that user. An extension without an equivalent in Okta's API. */

import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { describeEvent, logEvent } from '../audit/log-events.service.ts';
import { MESSAGE_TYPES } from '../message-factors/message-factors.policy.ts';
import type { Passkey } from '../passkeys/passkeys.resource.ts';
import { type ExportedUser, exportUserData, listUserEvents } from './user-data.service.ts';
import { presentUser, user } from './users.api.ts';

const userData = z.object({
  user,
  memberships: z.array(
    z.object({ orgId: z.string(), orgName: z.string(), depId: z.string().nullable(), depName: z.string().nullable(), created: time }),
  ),
  groups: z.array(z.object({ id: z.string(), name: z.string(), created: time })),
  roles: z.array(z.object({ id: z.string(), type: z.string(), orgId: z.string().nullable(), created: time })),
  applications: z.array(z.object({ id: z.string(), label: z.string(), assignedBy: z.enum(['USER', 'GROUP']), created: time })),
  consents: z.array(
    z.object({ id: z.string(), applicationId: z.string(), authorizationServerId: z.string(), scope: z.string(), created: time }),
  ),
  identityProviders: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      subject: z.string(),
      knownAs: z.string().nullable(),
      created: time,
      lastUsed: time.nullable(),
    }),
  ),
  factors: z.array(
    z.object({
      id: z.string(),
      type: z.enum(['TOTP', ...MESSAGE_TYPES, 'PASSKEY']),
      name: z.string(),
      created: time,
      lastUsed: time.nullable(),
      passkey: z
        .object({
          credentialId: z.string(),
          authenticator: z.string().meta({ description: 'AAGUID: the model of the authenticator, as it says itself' }),
          transports: z.array(z.string()),
          multiDevice: z.boolean(),
          backedUp: z.boolean(),
        })
        .optional(),
    }),
  ),
  trustedBrowsers: z.array(
    z.object({ id: z.string(), ipAddress: z.string().nullable(), created: time, lastUsed: time.nullable(), expiresAt: time }),
  ),
  apiTokens: z.array(z.object({ id: z.string(), name: z.string(), created: time, expiresAt: time.nullable(), lastUsed: time.nullable() })),
  countries: z.array(z.object({ country: z.string(), lastUsed: time })),
  sessions: z.array(z.object({ signedIn: time.nullable(), expires: time, applications: z.array(z.string()) })),
  _links: links.extend({ events: z.object({ href: z.url() }) }),
});

export const userDataExport: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/data',
    access: 'service',
    summary: 'Export what is stored about a user, without secrets; the reading is itself an audit event',
    params: idParams,
    response: userData,
    handler: async ({ services, params, request }) => present(await exportUserData(services, params.id, request), services.config.baseUrl),
  }),
  listing({
    path: '/users/:id/data/events',
    access: 'service',
    summary: 'Export the audit events by and about a user, oldest first; those of the last ten seconds may be missing',
    params: idParams,
    item: logEvent,
    handler: async ({ services, params, query, request }) =>
      mapPage(await listUserEvents(services, params.id, query, request), describeEvent),
  }),
];

const dated = <T extends { readonly created: Date }>(rows: readonly T[]) =>
  rows.map(({ created, ...row }) => ({ ...row, created: writeTime(created) }));

const presentPasskey = ({ credentialId, aaguid: authenticator, transports, multiDevice, backedUp }: Passkey) => ({
  ...{ credentialId, authenticator, multiDevice, backedUp },
  transports: [...transports],
});

function present(exported: ExportedUser, baseUrl: string): z.input<typeof userData> {
  const self = `${baseUrl}/api/v1/users/${exported.user.id}/data`;
  return {
    user: presentUser(exported.user, baseUrl),
    memberships: dated(exported.memberships),
    groups: dated(exported.groups),
    roles: dated(exported.roles).map(({ orgId, ...role }) => ({ ...role, orgId: orgId ?? null })),
    applications: dated(exported.applications),
    consents: dated(exported.consents).map(({ serverId, ...consent }) => ({ ...consent, authorizationServerId: serverId })),
    identityProviders: dated(exported.identityProviders).map(({ lastUsed, ...link }) => ({ ...link, lastUsed: writeTimeOrNull(lastUsed) })),
    factors: exported.factors.map((factor) => ({
      ...{ id: factor.id, type: factor.type, name: factor.name },
      created: writeTime(factor.created),
      lastUsed: writeTimeOrNull(factor.lastUsed),
      ...(factor.type === 'PASSKEY' && { passkey: presentPasskey(factor) }),
    })),
    trustedBrowsers: exported.trustedBrowsers.map(({ id, ipAddress, created, lastUsed, expiresAt }) => ({
      ...{ id, ipAddress },
      created: writeTime(created),
      lastUsed: writeTimeOrNull(lastUsed),
      expiresAt: writeTime(expiresAt),
    })),
    apiTokens: dated(exported.apiTokens).map(({ expiresAt, lastUsed, ...token }) => ({
      ...token,
      expiresAt: writeTimeOrNull(expiresAt),
      lastUsed: writeTimeOrNull(lastUsed),
    })),
    countries: exported.countries.map(({ country, lastUsed }) => ({ country, lastUsed: writeTime(lastUsed) })),
    sessions: exported.sessions.map(({ signedIn, expires, applications }) => ({
      signedIn: writeTimeOrNull(signedIn),
      expires: writeTime(expires),
      applications: [...applications],
    })),
    _links: { self: { href: self }, events: { href: `${self}/events` } },
  };
}
