/** The words for each bulk action. */
import type { Services } from '../../platform/database/dependencies.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { groupCounts } from '../groups/groups.service.ts';
import { STEPS } from '../users/user-steps.console.ts';
import type { BulkActionName, BulkItem, BulkKind } from './bulk.resource.ts';

interface ActionText {
  readonly label: string;
  /** Effect on each row. */
  readonly does: string;
  readonly danger?: boolean;
  /** Numbers of other objects that the action on a row affects, by kind of object. */
  affected?(services: Services, item: BulkItem): Promise<Readonly<Record<string, number>>>;
  /** Additional input of the action. */
  readonly needs?: 'group' | 'application' | 'mail';
}

/** Counts users who may have no other way to sign in. */
export const STRANDED = 'stranded';

async function linkedUsers(services: Services, { id }: BulkItem) {
  const { users, stranded } = await affectedBy(services, 'identityProvider', { id });
  return { user: users, [STRANDED]: stranded };
}

async function waitingEvents(services: Services, { id }: BulkItem) {
  return { event: (await affectedBy(services, 'eventHook', { id })).events };
}

async function undeliveredSignals(services: Services, { id }: BulkItem) {
  return { event: (await affectedBy(services, 'signalStream', { id })).events };
}

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
  'inline-hooks': { row: 'hook', list: '/admin/api/inline-hooks' },
  'signal-streams': { row: 'stream', list: '/admin/api/signal-streams' },
  servers: { row: 'authorization server', list: '/admin/api/servers' },
  scopes: { row: 'scope' },
  claims: { row: 'claim' },
};

export const ACTION_TEXTS: Readonly<Record<BulkActionName, ActionText>> = {
  'users.activate': {
    ...STEPS.activate,
    label: 'Activate or approve',
    does: 'The users can sign in. Users without a password get a link by e-mail to choose one. Users who waited for approval are notified by e-mail.',
  },
  'users.refuse': {
    label: 'Refuse sign-ups',
    does: 'The sign-ups are refused, and the users are notified by e-mail. Other users stay as they are.',
    danger: true,
  },
  'users.reactivate': {
    label: 'Send invitations again',
    does: 'Users who have not chosen a password yet get a new link by e-mail. Former links stop working.',
  },
  'users.unlock': STEPS.unlock,
  'users.unsuspend': STEPS.unsuspend,
  'users.add-to-group': { label: 'Add to a group', does: 'The users become members of the group. Members stay members.', needs: 'group' },
  'users.remove-from-group': {
    label: 'Remove from a group',
    does: 'The users lose the access that the group gives.',
    needs: 'group',
    danger: true,
  },
  'users.assign-application': { label: 'Assign an application', does: 'The users can sign in to the application.', needs: 'application' },
  'users.end-sessions': { label: 'End all sessions', does: 'The users are signed out everywhere, and all tokens end.', danger: true },
  'users.expire-password': STEPS.expire_password,
  'users.reset-password': {
    ...STEPS.reset_password,
    does: 'The current passwords stop working, and sessions end. Each user gets a link by e-mail to choose a new password.',
  },
  'users.reset-factors': {
    label: 'Reset second factors',
    does: 'All second factors of the users are removed. The users set them up again.',
    danger: true,
  },
  'users.suspend': STEPS.suspend,
  'users.deactivate': STEPS.deactivate,
  'users.delete': {
    label: 'Delete',
    does: 'Deletes users who are deactivated, with all of their data. Other users are refused. This cannot be undone.',
    danger: true,
  },
  'users.import': { label: 'Import users', does: 'Creates an active user for each row of the file.', needs: 'mail' },
  'members.remove': {
    label: 'Remove from the organization',
    does: 'The members lose their roles in the organization, and invitations that they sent are revoked. The accounts stay.',
    danger: true,
    affected: async (services, { orgId = '', id }) => {
      const { roles, invitations } = await affectedBy(services, 'member', { orgId, id });
      return { role: roles, invitation: invitations };
    },
  },
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
    affected: async (services, { id }) => {
      const { users, groups, consents } = await affectedBy(services, 'application', { id });
      return { user: users, group: groups, consent: consents };
    },
  },
  'groups.delete': {
    label: 'Delete',
    does: 'Deletes the groups. The members stay, but lose what only these groups give them. This cannot be undone.',
    danger: true,
    affected: async (services, { id }) => {
      const { members, applications } = await groupCounts(services, id);
      return { member: members, application: applications };
    },
  },
  'organizations.delete': {
    label: 'Delete',
    does: 'Deletes organizations that have no members and no departments. Others are refused. This cannot be undone.',
    danger: true,
    affected: async (services, { id }) => {
      const { roles, domains, providers, invitations, administrators } = await affectedBy(services, 'organization', { id });
      return { role: roles, domain: domains, 'identity provider': providers, invitation: invitations, administrator: administrators };
    },
  },
  'sessions.end': {
    label: 'End',
    does: 'The user must sign in again in these browsers. Tokens of applications stay valid. This cannot be undone.',
    danger: true,
  },
  'consents.revoke': {
    label: 'Revoke',
    does: 'The applications lose the access that these consents gave, and must ask the user again. This cannot be undone.',
    danger: true,
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
    affected: linkedUsers,
  },
  'identity-providers.delete': {
    label: 'Delete',
    does: 'Deletes the providers with their client secrets and the links of users to them. The accounts stay. This cannot be undone.',
    danger: true,
    affected: linkedUsers,
  },
  'event-hooks.activate': { label: 'Activate', does: 'The hooks receive events from now on.' },
  'event-hooks.deactivate': {
    label: 'Deactivate',
    does: 'Waiting events, and events until the hooks are activated again, are never delivered.',
    danger: true,
    affected: waitingEvents,
  },
  'event-hooks.delete': {
    label: 'Delete',
    does: 'Deletes the hooks with their settings and secrets. Waiting events are never delivered. This cannot be undone.',
    danger: true,
    affected: waitingEvents,
  },
  'deliveries.repeat': {
    label: 'Send again',
    does: 'The events are sent under the same message IDs. Receivers that drop repeats ignore those that they have accepted before.',
  },
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
    affected: async (services, { id }) => ({ rule: (await affectedBy(services, 'inlineHook', { id })).rules }),
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
    affected: undeliveredSignals,
  },
  'signal-streams.delete': {
    label: 'Delete',
    does: 'Deletes the streams with their settings. Waiting events are never delivered. This cannot be undone.',
    danger: true,
    affected: undeliveredSignals,
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
    affected: async (services, { id }) => {
      const { scopes, claims, policies, consents } = await affectedBy(services, 'authorizationServer', { id });
      return { scope: scopes, claim: claims, 'access policy': policies, consent: consents };
    },
  },
  'scopes.delete': {
    label: 'Delete',
    does: 'Requests for the scopes are refused from now on. Standard scopes, and scopes that a claim or an access rule names, stay. This cannot be undone.',
    danger: true,
    affected: async (services, { serverId = '', id }) => ({ consent: (await affectedBy(services, 'scope', { serverId, id })).consents }),
  },
  'claims.delete': {
    label: 'Delete',
    does: 'New tokens do not contain the claims. Applications and APIs that rely on them fail. This cannot be undone.',
    danger: true,
  },
};
