/** The words for each bulk action on users, and on what belongs to them. */
import { affects } from '../affected/affected.service.ts';
import { STEPS } from '../users/user-steps.console.ts';
import { type ActionText, STRANDED } from './action-effects.console.ts';

const LOST_BY_MEMBERS = affects('member', { roles: 'role', invitations: 'invitation' });

export const USER_ACTION_TEXTS = {
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
  'users.end-sessions': {
    label: 'End all sessions',
    does: 'The users are signed out everywhere, and all tokens end.',
    danger: true,
    affects: affects('signIns', { sessions: 'session', tokens: 'token' }),
  },
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
    affects: affects('user', {
      organizations: 'organization',
      groups: 'group',
      applications: 'application',
      consents: 'consent',
      links: 'linked account',
    }),
  },
  'users.import': { label: 'Import users', does: 'Creates an active user for each row of the file.', needs: 'mail' },
  'members.remove': {
    label: 'Remove from the organization',
    does: 'The members lose their roles in the organization, and invitations that they sent are revoked. The accounts stay.',
    danger: true,
    affects: LOST_BY_MEMBERS,
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
  'factors.reset': {
    label: 'Reset',
    does: 'These second factors stop working. The recovery codes are deleted with the last factor. This cannot be undone.',
    danger: true,
  },
  'trusted-browsers.end': {
    label: 'End the trust',
    does: 'The next sign-in in each of these browsers asks for the second factor. Sessions continue.',
    danger: true,
  },
  'administrators.remove-roles': {
    label: 'Remove all roles',
    does: 'The users are no longer administrators, and their API tokens are revoked. The accounts stay. This cannot be undone.',
    danger: true,
    affects: affects('administrator', { roles: 'role', tokens: 'token' }),
  },
  'roles.remove': {
    label: 'Remove',
    does: 'The roles end immediately. If none is left, the user’s API tokens are revoked, too.',
    danger: true,
  },
  'group-memberships.remove': {
    label: 'Remove from these groups',
    does: 'The user loses what only these groups give.',
    danger: true,
    affects: affects('groupMember', { applications: 'application' }),
  },
  'affiliations.remove': {
    label: 'Remove from these organizations',
    does: 'The user loses the roles in these organizations, and invitations that the user sent there are revoked. The account stays.',
    danger: true,
    affects: (services, rows) =>
      LOST_BY_MEMBERS(
        services,
        rows.map(({ id, userId = '' }) => ({ orgId: id, id: userId })),
      ),
  },
  'assignments.remove': {
    label: 'Remove',
    does: 'Applications that require an assignment refuse these users, and members of these groups, unless they are assigned in another way.',
    danger: true,
    affects: affects('assignment', { members: 'member' }),
  },
  'links.remove': {
    label: 'Unlink',
    does: 'The accounts at the identity provider can no longer sign in as these users. The accounts here stay.',
    danger: true,
    affects: affects('link', { stranded: STRANDED }),
  },
} as const satisfies Readonly<Record<string, ActionText>>;
