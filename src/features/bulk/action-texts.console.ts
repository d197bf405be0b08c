/** The words for each bulk action. */
import { affects } from '../affected/affected.service.ts';
import { type ActionText, STRANDED } from './action-effects.console.ts';
import type { BulkActionName, BulkKind } from './bulk.resource.ts';
import { USER_ACTION_TEXTS } from './user-action-texts.console.ts';

const LINKED_USERS = affects('identityProvider', { users: 'user', stranded: STRANDED });

/** The name of a row, and the list to return to after a cancelled action. */
export const BULK_KINDS: Readonly<Record<BulkKind, { readonly row: string; readonly list?: string }>> = {
  users: { row: 'user', list: '/admin/users' },
  applications: { row: 'application', list: '/admin/applications' },
  groups: { row: 'group', list: '/admin/groups' },
  organizations: { row: 'organization', list: '/admin/organizations' },
  members: { row: 'member' },
  sessions: { row: 'session' },
  consents: { row: 'consent' },
  invitations: { row: 'invitation' },
  tokens: { row: 'token', list: '/admin/api/tokens' },
  'identity-providers': { row: 'identity provider', list: '/admin/security/identity-providers' },
  'event-hooks': { row: 'hook', list: '/admin/api/event-hooks' },
  deliveries: { row: 'delivery' },
  provisioned: { row: 'entry' },
  'inline-hooks': { row: 'hook', list: '/admin/api/inline-hooks' },
  'signal-streams': { row: 'stream', list: '/admin/api/signal-streams' },
  servers: { row: 'authorization server', list: '/admin/api/servers' },
  policies: { row: 'access policy' },
  rules: { row: 'rule' },
  scopes: { row: 'scope' },
  claims: { row: 'claim' },
  factors: { row: 'second factor' },
  'trusted-browsers': { row: 'browser' },
  administrators: { row: 'administrator', list: '/admin/security/administrators' },
  roles: { row: 'role' },
  'group-memberships': { row: 'group' },
  affiliations: { row: 'organization' },
  assignments: { row: 'assignment' },
  links: { row: 'linked account' },
  zones: { row: 'zone', list: '/admin/security/zones' },
  'application-roles': { row: 'role' },
  'organization-roles': { row: 'role' },
  domains: { row: 'domain' },
  'organization-providers': { row: 'identity provider' },
};

export const ACTION_TEXTS: Readonly<Record<BulkActionName, ActionText>> = {
  ...USER_ACTION_TEXTS,
  'applications.activate': { label: 'Activate', does: 'Users can sign in to the applications, and their tokens are active again.' },
  'applications.deactivate': {
    label: 'Deactivate',
    does: 'Nobody can sign in to the applications. Their tokens are inactive until the applications are activated again.',
    danger: true,
  },
  'applications.delete': {
    label: 'Delete',
    does: 'Deletes the applications with their secrets, assignments and consents. Their tokens stop working. This cannot be undone.',
    danger: true,
    affects: affects('application', { users: 'user', groups: 'group', consents: 'consent' }),
  },
  'groups.delete': {
    label: 'Delete',
    does: 'Deletes the groups. The members stay, but lose what only these groups give them. This cannot be undone.',
    danger: true,
    affects: affects('group', { members: 'member', applications: 'application' }),
  },
  'organizations.delete': {
    label: 'Delete',
    does: 'Deletes organizations that have no members and no departments. Others are refused. This cannot be undone.',
    danger: true,
    affects: affects('organization', {
      roles: 'role',
      domains: 'domain',
      providers: 'identity provider',
      invitations: 'invitation',
      administrators: 'administrator',
    }),
  },
  'invitations.resend': { label: 'Send again', does: 'Each address gets a new link by e-mail. Former links stop working.' },
  'invitations.revoke': { label: 'Revoke', does: 'The links stop working at once. This cannot be undone.', danger: true },
  'tokens.revoke': {
    label: 'Revoke',
    does: 'Programs and directories that use the tokens are refused at once. This cannot be undone.',
    danger: true,
  },
  'identity-providers.activate': { label: 'Activate', does: 'The buttons of the providers are back on the sign-in pages at once.' },
  'identity-providers.deactivate': {
    label: 'Deactivate',
    does: 'Nobody can sign in with the providers until they are activated again. Linked users stay linked, and their sessions continue.',
    danger: true,
    affects: LINKED_USERS,
  },
  'identity-providers.delete': {
    label: 'Delete',
    does: 'Deletes the providers with their client secrets and the links of users to them. The accounts stay. This cannot be undone.',
    danger: true,
    affects: LINKED_USERS,
  },
  'event-hooks.activate': { label: 'Activate', does: 'The hooks receive events from now on.' },
  'event-hooks.deactivate': {
    label: 'Deactivate',
    does: 'Waiting events, and events until the hooks are activated again, are never delivered.',
    danger: true,
    affects: affects('eventHook', { events: 'event' }),
  },
  'event-hooks.delete': {
    label: 'Delete',
    does: 'Deletes the hooks with their settings and secrets. Waiting events are never delivered. This cannot be undone.',
    danger: true,
    affects: affects('eventHook', { events: 'event' }),
  },
  'deliveries.repeat': {
    label: 'Send again',
    does: 'The events are sent under the same message IDs. Receivers that drop repeats ignore those that they have accepted before.',
  },
  'provisioned.retry': { label: 'Retry', does: 'Each is compared with the target again and pushed in a moment.' },
  'inline-hooks.activate': { label: 'Activate', does: 'The hooks are called from now on.' },
  'inline-hooks.deactivate': {
    label: 'Deactivate',
    does: 'The hooks are no longer called: tokens are issued unchanged, sign-ups continue without them, and passwords that they would verify are refused.',
    danger: true,
  },
  'inline-hooks.delete': {
    label: 'Delete',
    does: 'Deletes the hooks with their settings and secrets. Hooks that an access rule uses are refused. This cannot be undone.',
    danger: true,
    affects: affects('inlineHook', { rules: 'rule' }),
  },
  'signal-streams.enable': { label: 'Enable', does: 'The receivers are notified. Waiting events are delivered immediately.' },
  'signal-streams.pause': {
    label: 'Pause',
    does: 'The receivers are notified. Events wait until the streams are enabled, for seven days at most.',
  },
  'signal-streams.disable': {
    label: 'Disable',
    does: 'The receivers are notified. Waiting events, and events until the streams are enabled again, are never delivered.',
    danger: true,
    affects: affects('signalStream', { events: 'event' }),
  },
  'signal-streams.delete': {
    label: 'Delete',
    does: 'Deletes the streams with their settings. Waiting events are never delivered. This cannot be undone.',
    danger: true,
    affects: affects('signalStream', { events: 'event' }),
  },
  'servers.activate': {
    label: 'Activate',
    does: 'The endpoints of the servers respond again. Tokens that have not expired are accepted again.',
  },
  'servers.deactivate': {
    label: 'Deactivate',
    does: 'The endpoints of the servers return 404. Nobody can sign in with them, and no token is issued, refreshed or introspected, until they are activated again.',
    danger: true,
  },
  'servers.delete': {
    label: 'Delete',
    does: 'Deletes the servers with their keys and tokens. Applications that use them can no longer sign users in. This cannot be undone.',
    danger: true,
    affects: affects('authorizationServer', { scopes: 'scope', claims: 'claim', policies: 'access policy', consents: 'consent' }),
  },
  'scopes.delete': {
    label: 'Delete',
    does: 'Requests for the scopes are refused from now on. Standard scopes, and scopes that a claim or an access rule names, stay. This cannot be undone.',
    danger: true,
    affects: affects('scope', { consents: 'consent' }),
  },
  'claims.delete': {
    label: 'Delete',
    does: 'New tokens do not contain the claims. Applications and APIs that rely on them fail. This cannot be undone.',
    danger: true,
  },
  'zones.delete': {
    label: 'Delete',
    does: 'Deletes the zones. Zones that a rule of the sign-in policy names are refused. This cannot be undone.',
    danger: true,
  },
  'application-roles.delete': {
    label: 'Delete',
    does: 'Users and groups lose the roles, and new tokens do not contain them. This cannot be undone.',
    danger: true,
    affects: affects('applicationRole', { users: 'user', groups: 'group' }),
  },
  'organization-roles.delete': {
    label: 'Delete',
    does: 'Members lose the roles, and open invitations no longer give them. This cannot be undone.',
    danger: true,
    affects: affects('organizationRole', { members: 'member', invitations: 'invitation' }),
  },
  'domains.remove': {
    label: 'Remove',
    does: 'Removes the domains from the organization. Domains that an identity provider uses are refused. This cannot be undone.',
    danger: true,
  },
  'organization-providers.remove': {
    label: 'Disconnect',
    does: 'Users of the organization sign in like everybody else. Members and linked accounts stay.',
    danger: true,
    affects: affects('organizationProvider', { domains: 'domain' }),
  },
  'policies.activate': { label: 'Activate', does: 'The policies are evaluated from now on, in the order of the list.' },
  'policies.deactivate': {
    label: 'Deactivate',
    does: 'The policies are skipped. Applications without another policy that applies get no tokens.',
    danger: true,
  },
  'policies.delete': {
    label: 'Delete',
    does: 'Deletes the policies with their rules. Applications without another policy that applies get no tokens. This cannot be undone.',
    danger: true,
    affects: affects('policy', { rules: 'rule' }),
  },
  'rules.activate': { label: 'Activate', does: 'The rules are evaluated from now on, in the order of the list.' },
  'rules.deactivate': {
    label: 'Deactivate',
    does: 'The rules are skipped. Requests that no other rule matches are refused.',
    danger: true,
  },
  'rules.delete': {
    label: 'Delete',
    does: 'Deletes the rules. Requests that no other rule matches are refused. This cannot be undone.',
    danger: true,
  },
};
