/** Console addresses of the objects that an audit event names. */

import type { Piece } from '../../pages/console/detail-page.ts';
import type { StoredEvent } from './events.resource.ts';

export const LOG = '/admin/reports/log';
export const addressOfEntry = (uuid: string): string => `${LOG}/${uuid}`;

type Party = StoredEvent['actor'];

const at = (home: string) => (id: string) => `/admin/${home}/${encodeURIComponent(id)}`;

const PAGES: Readonly<Record<string, (id: string) => string>> = {
  User: at('users'),
  UserGroup: at('groups'),
  Organization: at('organizations'),
  AppInstance: at('applications'),
  PublicClientApp: at('applications'),
  AuthorizationServer: at('api/servers'),
  IdentityProvider: at('security/identity-providers'),
  EventHook: at('api/event-hooks'),
  InlineHook: at('api/inline-hooks'),
  Zone: at('security/zones'),
};

export const policyLink = (serverId: string, policyId: string): string =>
  `${at('api/servers')(serverId)}/policies/${encodeURIComponent(policyId)}`;

/**
 * @param beside the other parties of the event, for objects whose page is below another object's page
 * @returns undefined if there is no page. The page of a deleted object reports that the object does not exist
 */
function pageOf({ id, type }: Party, beside: readonly Party[] = []): string | undefined {
  const owner = (wanted: string) => beside.find((one) => one.type === wanted)?.id;
  if (type === 'Department') {
    const orgId = owner('Organization');
    return orgId && `${at('organizations')(orgId)}/departments/${encodeURIComponent(id)}`;
  }
  if (type === 'Domain') {
    const orgId = owner('Organization');
    return orgId && `${at('organizations')(orgId)}/domains`;
  }
  if (type === 'PolicyEntity') {
    const serverId = owner('AuthorizationServer');
    return serverId && policyLink(serverId, id);
  }
  // An unauthenticated sender.
  return id === 'unknown' ? undefined : PAGES[type]?.(id);
}

export const partyPiece = (party: Party, beside?: readonly Party[]): Piece =>
  party.id === 'unknown' ? { text: 'Not known', soft: true } : { text: party.displayName || party.id, href: pageOf(party, beside) };

const TYPES: Readonly<Record<string, string>> = {
  User: 'user',
  UserGroup: 'group',
  AppInstance: 'application',
  PublicClientApp: 'application',
  AuthorizationServer: 'authorization server',
  PolicyEntity: 'access policy',
  PolicyRule: 'rule',
  IdentityProvider: 'identity provider',
  EventHook: 'event hook',
  InlineHook: 'inline hook',
  Zone: 'network zone',
  Domain: 'domain',
  Token: 'API token',
  SystemPrincipal: 'the service itself',
};

/** Label of the target's type. */
export const targetKindOf = ({ type }: Party): string => TYPES[type] ?? type.toLowerCase();
