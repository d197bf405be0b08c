/** Administrators' roles in words. */

import type { Option } from '../../pages/console/form.ts';
import { type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import type { RoleType } from './administration.policy.ts';

export const ROLE_NAMES: Readonly<Record<RoleType, string>> = {
  SUPER_ADMIN: 'Super administrator',
  READ_ONLY_ADMIN: 'Read-only administrator',
  ORG_ADMIN: 'Organization administrator',
};

export const ROLE_OPTIONS: readonly Option[] = [
  { value: 'SUPER_ADMIN', label: ROLE_NAMES.SUPER_ADMIN, hint: 'Can see and change everything, including administrators.' },
  { value: 'READ_ONLY_ADMIN', label: ROLE_NAMES.READ_ONLY_ADMIN, hint: 'Can see everything and change nothing.' },
  { value: 'ORG_ADMIN', label: ROLE_NAMES.ORG_ADMIN, hint: 'Manages one organization, its departments and its users.' },
];

/** Effects of assigning a role. */
export const RISE: readonly string[] = [
  'The role takes effect immediately. For safety, the user must sign in again.',
  'If the user is a member of an organization and the role reaches beyond it, their password, second factors, passkeys, linked accounts and API tokens end: an administrator of the organization may have set them up. Check their e-mail address, and then reset their password to give them a link.',
];

/** The same in one paragraph. */
export const RISE_LEAD: Phrase = RISE.map((one) => phrase(one)).reduce((first, next) => phrase('{first} {next}', { first, next }));

/** Effects on a user who joins a second organization. */
export const SECOND_ORGANIZATION: readonly string[] = [
  'A user who belongs to another organization loses password, second factors, passkeys, linked accounts and sessions: its administrators may have set them up. Check the e-mail address, and then reset the password to give the user a link.',
];
