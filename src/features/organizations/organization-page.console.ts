/** What the pages about one organization share: its address, its tabs, the menu of actions, and who may change it. */

import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import { isWithin, mayCall, type OrganizationPermission, reachOf } from '../administrators/administration.policy.ts';
import { getOrganization, type OrganizationDetail } from './organizations.service.ts';

export const ORGANIZATIONS_PATH = '/admin/organizations';
export const ORGANIZATIONS: readonly Crumb[] = [{ label: 'Organizations', href: ORGANIZATIONS_PATH }];

export const organizationPath = (orgId: string): string => `${ORGANIZATIONS_PATH}/${encodeURIComponent(orgId)}`;
export const orgIdIn = ({ params }: ConsoleRequest): string => params.orgId ?? '';

/** May this organization, its departments and its members be changed from here? */
export const mayChangeOrganization = (
  { request }: ConsoleRequest,
  orgId: string,
  need: OrganizationPermission = 'MANAGE_MEMBERS',
): boolean => isWithin(reachOf(request.roles, 'write', need), orgId);

/** For a page that changes the organization. @throws {ApiError} not found, forbidden */
export async function organizationToChange(
  visit: ConsoleRequest,
  need: OrganizationPermission = 'MANAGE_MEMBERS',
): Promise<OrganizationDetail> {
  const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
  if (!mayChangeOrganization(visit, organization.id, need)) throw forbidden();
  return organization;
}

/** The way to a page below an organization. */
export const organizationCrumbs = ({ id, name }: { id: string; name: string }): readonly Crumb[] => [
  ...ORGANIZATIONS,
  { label: verbatim(name), href: organizationPath(id) },
];

/** @param isEmpty has it no departments and no members, so that it can be deleted? */
function stepsOf(visit: ConsoleRequest, { id, editable }: OrganizationDetail, isEmpty: boolean): readonly Action[] {
  if (!mayChangeOrganization(visit, id)) return [];
  const address = organizationPath(id);
  return [
    { label: 'Create user', href: `/admin/users/new?org=${encodeURIComponent(id)}` },
    ...(editable ? [{ label: 'Rename', href: `${address}/rename` }] : []),
    ...(isEmpty && mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Delete', href: `${address}/delete` }] : []),
  ];
}

/** What stands at the head of each tab. @param isEmpty can it be deleted? */
export function organizationHead(visit: ConsoleRequest, organization: OrganizationDetail, isEmpty = false) {
  const address = organizationPath(organization.id);
  const may = (need: OrganizationPermission) => isWithin(reachOf(visit.request.roles, 'read', need), organization.id);
  const seesAll = mayCall(visit.request.roles, 'service', 'read');
  return {
    title: verbatim(organization.name),
    crumbs: ORGANIZATIONS,
    more: stepsOf(visit, organization, isEmpty),
    tabs: [
      ...(may('MANAGE_MEMBERS')
        ? [
            { label: 'Departments', href: address },
            { label: 'Members', href: `${address}/members` },
            { label: 'Roles', href: `${address}/roles` },
          ]
        : [{ label: 'Overview', href: address }]),
      ...(may('MANAGE_INVITATIONS') ? [{ label: 'Invitations', href: `${address}/invitations` }] : []),
      ...(may('MANAGE_DOMAINS') ? [{ label: 'Domains', href: `${address}/domains` }] : []),
      ...(may('MANAGE_PROVIDERS') ? [{ label: 'Sign-in', href: `${address}/sign-in` }] : []),
      ...(may('MANAGE_BRANDING') ? [{ label: 'Branding', href: `${address}/branding` }] : []),
      ...(seesAll ? [{ label: 'Administrators', href: `${address}/administrators` }] : []),
      ...(may('READ_LOG') ? [{ label: 'Activity', href: `${address}/activity` }] : []),
    ],
  };
}
