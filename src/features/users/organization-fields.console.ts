/** Form fields for a user's organization and department. */

import { departmentsIn, organizationsIn } from '../../pages/console/candidates.ts';
import type { Field } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickedId, pickField } from '../../pages/console/picker.ts';
import { validation } from '../../platform/errors/errors.ts';

const GROUP = 'Organization';
export const NO_DEPARTMENT = 'None: directly in the organization';

/** The department is selected from a list once the organization is known, e.g. from the URL (`org`). */
export async function placeFields(
  visit: ConsoleRequest,
  typed: Typed,
  { mayBeNone }: { readonly mayBeNone: boolean },
): Promise<readonly Field[]> {
  const organizations = organizationsIn(visit);
  const asked = visit.query.get('org') ?? '';
  const orgId = await pickedId(organizations, 'orgId', typed.values.get('orgId') ?? asked).catch(() => undefined);
  const organization = { name: 'orgId', label: 'Organization', group: GROUP, value: asked, ...(mayBeNone && { none: 'No organization' }) };
  const department = { name: 'depId', label: 'Department', group: GROUP };
  return [
    await pickField(organizations, organization, typed),
    orgId === undefined
      ? { ...department, hint: 'The name or a part of it. Empty: directly in the organization.' }
      : await pickField(await departmentsIn(visit, orgId), { ...department, none: NO_DEPARTMENT }, typed),
  ];
}

export interface OrganizationChoice {
  readonly orgId: string | undefined;
  readonly depId: string | undefined;
}

/** @throws {ApiError} validation: an unknown or ambiguous name */
export async function organizationChoice(visit: ConsoleRequest, form: URLSearchParams): Promise<OrganizationChoice> {
  const department = form.get('depId') ?? '';
  const orgId = await pickedId(organizationsIn(visit), 'orgId', form.get('orgId') ?? '');
  if (orgId === undefined) {
    if (department.trim() !== '') throw validation([{ field: 'orgId', message: 'is required with a department' }]);
    return { orgId, depId: undefined };
  }
  return { orgId, depId: await pickedId(await departmentsIn(visit, orgId), 'depId', department) };
}
