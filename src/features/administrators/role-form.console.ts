/** Administrators' roles in words, and the form fields that assign one. */

import { z } from 'zod';
import { organizationsIn } from '../../pages/console/candidates.ts';
import type { Field, Option } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';
import { type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { Role, RoleType } from './administration.policy.ts';

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
export const ROLE_EFFECTS: readonly string[] = [
  'The role takes effect immediately. For safety, the user must sign in again.',
  'If the user is a member of an organization and the role reaches beyond it, their password, second factors, passkeys, linked accounts and API tokens end: an administrator of the organization may have set them up. Check their e-mail address, and then reset their password to give them a link.',
];

/** The same in one paragraph. */
export const ROLE_EFFECTS_LEAD: Phrase = ROLE_EFFECTS.map((one) => phrase(one)).reduce((first, next) =>
  phrase('{first} {next}', { first, next }),
);

/** Effects on a user who joins a second organization. */
export const SECOND_ORGANIZATION: readonly string[] = [
  'A user who belongs to another organization loses password, second factors, passkeys, linked accounts and sessions: its administrators may have set them up. Check the e-mail address, and then reset the password to give the user a link.',
];

export const roleFields = async (visit: ConsoleRequest, typed: Typed): Promise<readonly Field[]> => [
  { name: 'type', label: 'Role', kind: 'radios', options: ROLE_OPTIONS, value: 'ORG_ADMIN' },
  await pickField(
    organizationsIn(visit),
    {
      name: 'orgId',
      label: 'Organization',
      hint: 'Only for an organization administrator.',
      none: 'No organization',
      value: visit.query.get('org') ?? '',
    },
    typed,
  ),
];

const chosen = z.object({ type: z.enum(['SUPER_ADMIN', 'READ_ONLY_ADMIN', 'ORG_ADMIN']) });

/** @throws {ApiError} validation */
export async function roleIn(visit: ConsoleRequest, form: URLSearchParams): Promise<Role> {
  const { type } = parse(chosen, { type: form.get('type') ?? undefined });
  const orgId = await pickedId(organizationsIn(visit), 'orgId', form.get('orgId') ?? '');
  if (type === 'ORG_ADMIN' && orgId === undefined) throw validation([{ field: 'orgId', message: 'is required for this role' }]);
  if (type !== 'ORG_ADMIN' && orgId !== undefined)
    throw validation([{ field: 'orgId', message: 'can only be used for an organization administrator' }]);
  return { type, orgId };
}
