/** Shared by all pages of a user: the user, the tabs and the actions. */

import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { Action, ConsoleRequest, Crumb, Drawn } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import { type Access, mayCall } from '../administrators/administration.policy.ts';
import { fullName } from '../claims/claims.policy.ts';
import { statusAt, type UserStatus } from './user-lifecycle.policy.ts';
import { STATUSES } from './user-status.console.ts';
import { stepActions } from './user-steps.console.ts';
import type { User } from './users.resource.ts';
import { getUser, isUserChangeable } from './users.service.ts';

export const USERS_HOME = '/admin/users';
export const USERS: readonly Crumb[] = [{ label: 'Users', href: USERS_HOME }];

export const addressOfUser = (id: string): string => `${USERS_HOME}/${encodeURIComponent(id)}`;

/** A page about one user, below the user's path. */
interface Below {
  readonly label: string;
  readonly path: string;
  readonly access: Access;
  /** true: administrators of an organization see it only if they can change the user. */
  readonly onlyIfChangeable?: boolean;
}

interface TabOfUser {
  readonly label: string;
  /** Below the user's path. */
  readonly path: string;
  /** The pages of the tab, below each other. */
  readonly pages: readonly Below[];
}

export const ACCESS: TabOfUser = {
  label: 'Access',
  path: '/access',
  pages: [
    { label: 'Applications', path: '/applications', access: 'service' },
    { label: 'Groups', path: '/groups', access: 'service' },
    { label: 'Organizations', path: '/organizations', access: 'organizations' },
    { label: 'Administrator roles', path: '/roles', access: 'service' },
    { label: 'Consents', path: '/consents', access: 'organizations', onlyIfChangeable: true },
  ],
};

export const SECURITY_TAB: TabOfUser = {
  label: 'Security',
  path: '/security',
  pages: [
    { label: 'Second factors and passkeys', path: '/factors', access: 'organizations', onlyIfChangeable: true },
    { label: 'Trusted browsers', path: '/trusted-browsers', access: 'organizations', onlyIfChangeable: true },
    { label: 'Sessions', path: '/sessions', access: 'organizations', onlyIfChangeable: true },
    { label: 'Linked accounts', path: '/linked-accounts', access: 'service' },
  ],
};

const TABS: readonly TabOfUser[] = [
  { label: 'Overview', path: '', pages: [{ label: 'Overview', path: '', access: 'organizations' }] },
  ACCESS,
  SECURITY_TAB,
  { label: 'Activity', path: '/activity', pages: [{ label: 'Activity', path: '/activity', access: 'service' }] },
  { label: 'Data', path: '/data', pages: [{ label: 'Data', path: '/data', access: 'service' }] },
];

export interface UserSubject {
  readonly user: User;
  readonly status: UserStatus;
  /** The full name, or else the user name. */
  readonly name: string;
  /** Can the caller change this user? */
  readonly isChangeable: boolean;
  /** URL of the profile. */
  readonly home: string;
  /** Breadcrumbs of pages below. */
  readonly crumbs: readonly Crumb[];
}

export const nameOf = ({ profile, login }: User): string => fullName(profile) ?? login;

/** @throws {ApiError} not found */
export async function userSubject({ services, request, params }: ConsoleRequest): Promise<UserSubject> {
  const user = await getUser(services, params.id ?? '', request);
  const home = addressOfUser(user.id);
  const name = nameOf(user);
  return {
    user,
    status: statusAt(user, present()),
    name,
    isChangeable: mayCall(request.roles, 'organizations', 'write') && (await isUserChangeable(services, user, request)),
    home,
    crumbs: [...USERS, { label: verbatim(name), href: home }],
  };
}

/** For a page that changes the user. @throws {ApiError} not found, forbidden */
export async function subjectToChange(visit: ConsoleRequest): Promise<UserSubject> {
  const subject = await userSubject(visit);
  if (!subject.isChangeable) throw forbidden();
  return subject;
}

/** The pages of a tab that the administrator can see. */
export const visiblePages = ({ request }: ConsoleRequest, { isChangeable }: UserSubject, { pages }: TabOfUser): readonly Below[] => {
  const seesAll = mayCall(request.roles, 'service', 'read');
  return pages.filter(({ access, onlyIfChangeable }) => seesAll || (access === 'organizations' && (isChangeable || !onlyIfChangeable)));
};

/** A page about the user in its tab, with the actions menu. */
export function userPage(visit: ConsoleRequest, subject: UserSubject, parts: readonly Part[], actions: readonly Action[] = []): Drawn {
  const { user, name, home, status, isChangeable } = subject;
  const looked = new URL(visit.req.url ?? '/', 'http://localhost').pathname.slice(home.length);
  const [text, tone] = STATUSES[status];
  return detailPage({
    title: verbatim(name),
    avatar: name,
    ...(name !== user.login && { lead: verbatim(user.login) }),
    status: { text, tone },
    crumbs: USERS,
    actions,
    more: isChangeable ? stepActions(home, user, status, mayCall(visit.request.roles, 'service', 'write')) : [],
    tabs: TABS.filter((tab) => visiblePages(visit, subject, tab).length > 0).map(({ label, path, pages }) => ({
      label,
      href: `${home}${path}`,
      isCurrent: looked === path || pages.some((page) => page.path === looked),
    })),
    parts,
  });
}
