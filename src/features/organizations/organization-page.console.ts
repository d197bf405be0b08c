/** Shared by all pages of an organization: address, tabs, actions and permissions. */

import { affectedCount } from '../../pages/console/confirmation-page.ts';
import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { isWithin, mayCall, type OrganizationPermission, reachOf } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { getOrganization, type OrganizationDetail } from './organizations.service.ts';

export const ORGANIZATIONS_PATH = '/admin/organizations';
export const ORGANIZATIONS: readonly Crumb[] = [{ label: 'Organizations', href: ORGANIZATIONS_PATH }];

export const organizationPath = (orgId: string): string => `${ORGANIZATIONS_PATH}/${encodeURIComponent(orgId)}`;
export const orgIdIn = ({ params }: ConsoleRequest): string => params.orgId ?? '';

/** Can the caller change this organization, its departments and its members? */
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

/** Breadcrumbs of a page below an organization. */
export const organizationCrumbs = ({ id, name }: { id: string; name: string }): readonly Crumb[] => [
  ...ORGANIZATIONS,
  { label: verbatim(name), href: organizationPath(id) },
];

/** Items of the actions menu. @param isEmpty can it be deleted, because it has no departments and no members? */
function stepsOf(visit: ConsoleRequest, { id, editable }: OrganizationDetail, isEmpty: boolean): readonly Action[] {
  if (!mayChangeOrganization(visit, id)) return [];
  const address = organizationPath(id);
  const isOfService = mayCall(visit.request.roles, 'service', 'write');
  return [
    { label: 'Create user', href: `/admin/users/new?org=${encodeURIComponent(id)}` },
    ...(isOfService && editable ? [{ label: 'Rename', href: `${address}/rename` }] : []),
    ...(isOfService && isEmpty ? [{ label: 'Delete', href: `${address}/delete` }] : []),
  ];
}

/** A page below an organization's page, and the permission that administrators of the organization need for it. */
export interface Below {
  readonly label: string;
  /** Path below the organization's page. */
  readonly path: string;
  /** `SERVICE`: only administrators of the whole service see it. */
  readonly need: OrganizationPermission | 'ANY' | 'SERVICE';
}

/** Tab that combines several sign-in pages. */
export const SIGN_IN_TAB = '/access';

interface Tab {
  readonly label: string;
  /** Absent: the tab shows its first visible page. */
  readonly path?: string;
  readonly pages: readonly Below[];
}

/** At most six. */
const TABS = [
  { label: 'Departments', pages: [{ label: 'Departments', path: '', need: 'MANAGE_MEMBERS' }] },
  {
    label: 'Members',
    pages: [
      { label: 'Members', path: '/members', need: 'MANAGE_MEMBERS' },
      { label: 'Invitations', path: '/invitations', need: 'MANAGE_INVITATIONS' },
      { label: 'Roles', path: '/roles', need: 'MANAGE_MEMBERS' },
    ],
  },
  {
    label: 'Sign-in',
    path: SIGN_IN_TAB,
    pages: [
      { label: 'Identity providers', path: '/sign-in', need: 'MANAGE_PROVIDERS' },
      { label: 'Domains', path: '/domains', need: 'MANAGE_DOMAINS' },
      { label: 'Policy', path: '/policy', need: 'MANAGE_PROVIDERS' },
    ],
  },
  { label: 'Branding', pages: [{ label: 'Branding', path: '/branding', need: 'MANAGE_BRANDING' }] },
  { label: 'Administrators', pages: [{ label: 'Administrators', path: '/administrators', need: 'SERVICE' }] },
  { label: 'Activity', pages: [{ label: 'Activity', path: '/activity', need: 'READ_LOG' }] },
] as const satisfies readonly Tab[];

const OVERVIEW: Tab = { label: 'Overview', pages: [{ label: 'Overview', path: '', need: 'ANY' }] };

const maySee = ({ request: { roles = [] } }: ConsoleRequest, orgId: string, { need }: Below): boolean =>
  need === 'SERVICE' ? mayCall(roles, 'service', 'read') : isWithin(reachOf(roles, 'read', need), orgId);

/** The pages of a tab that the administrator can see. */
export const visibleBelow = (visit: ConsoleRequest, orgId: string, label: (typeof TABS)[number]['label']): readonly Below[] =>
  TABS.flatMap((tab: Tab) => (tab.label === label ? tab.pages : [])).filter((page) => maySee(visit, orgId, page));

/** Links to the other pages of the tab Members, shown beside the list's title. */
export const besideMembers = (visit: ConsoleRequest, orgId: string, path: string): readonly Action[] =>
  visibleBelow(visit, orgId, 'Members')
    .filter((page) => page.path !== path)
    .map((page) => ({ label: page.label, href: `${organizationPath(orgId)}${page.path}` }));

/** Header of each tab. @param isEmpty can it be deleted? */
export function organizationHead(visit: ConsoleRequest, organization: OrganizationDetail, isEmpty = false) {
  const address = organizationPath(organization.id);
  const looked = new URL(visit.req.url ?? '/', 'http://localhost').pathname.slice(address.length);
  const seen = TABS.map((tab: Tab) => ({ ...tab, pages: tab.pages.filter((page) => maySee(visit, organization.id, page)) })).filter(
    ({ pages }) => pages.length > 0,
  );
  // Without access to departments, start with the overview.
  const tabs = seen[0]?.label === 'Departments' ? seen : [OVERVIEW, ...seen];
  return {
    title: verbatim(organization.name),
    crumbs: ORGANIZATIONS,
    more: stepsOf(visit, organization, isEmpty),
    tabs: tabs.map(({ label, path, pages }) => ({
      label,
      href: `${address}${(pages.length > 1 ? path : undefined) ?? pages[0]?.path ?? ''}`,
      isCurrent: looked === path || pages.some((page) => page.path === looked),
    })),
  };
}

/** Does adding the user again restore everything? Roles, invitations and how they joined would be lost. */
export const isMemberRestorable = async ({ services }: ConsoleRequest, orgId: string, userId: string): Promise<boolean> =>
  Object.values(await affectedBy(services, 'member', { orgId, id: userId })).every((count) => count === 0);

/** The consequences for a user who is removed from an organization. */
export async function memberRemovalFacts({ services }: ConsoleRequest, orgId: string, userId: string): Promise<readonly Text[]> {
  const { roles, invitations } = await affectedBy(services, 'member', { orgId, id: userId });
  return [
    phrase('The user loses {roles} in the organization. This also revokes {invitations} that the user sent.', {
      roles: affectedCount(roles, 'role'),
      invitations: affectedCount(invitations, 'invitation'),
    }),
    'The account itself stays, with its other organizations.',
  ];
}
