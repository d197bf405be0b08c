/** The fields by which a role is given: which one, and for which organization. */
import { z } from 'zod';
import { organizationsIn } from '../../pages/console/candidates.ts';
import type { Field } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { Role } from './administration.policy.ts';
import { ROLE_OPTIONS } from './role-words.console.ts';

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
