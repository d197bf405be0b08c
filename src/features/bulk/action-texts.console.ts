/** The words for each bulk action. */
import { STEPS } from '../users/user-steps.console.ts';
import type { BulkActionName } from './bulk.resource.ts';

interface ActionText {
  readonly label: string;
  /** Effect on each row. */
  readonly does: string;
  readonly danger?: boolean;
  /** Additional input of the action. */
  readonly needs?: 'group' | 'application' | 'mail';
}

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
};
