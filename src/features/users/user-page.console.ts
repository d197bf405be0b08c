/** What the pages about one user have in common: whom they are about, what may be done to him here, the tabs from one to the other. */

import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { Action, ConsoleRequest, Crumb, Drawn } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { type Access, mayCall } from '../administrators/administration.policy.ts';
import { fullName } from '../claims/claims.policy.ts';
import { statusAt, type UserStatus } from './user-lifecycle.policy.ts';
import type { User } from './users.resource.ts';
import { getUser, isUserChangeable } from './users.service.ts';

export const USERS_HOME = '/admin/users';
export const USERS: readonly Crumb[] = [{ label: 'Users', href: USERS_HOME }];

export const addressOfUser = (id: string): string => `${USERS_HOME}/${encodeURIComponent(id)}`;

interface Tab {
  readonly label: string;
  readonly path: string;
  readonly access: Access;
  /** Only whom he may change an administrator of single organizations may see so closely. */
  readonly isClose?: boolean;
}

const TABS: readonly Tab[] = [
  { label: 'Profile', path: '', access: 'organizations' },
  { label: 'Organizations', path: '/organizations', access: 'organizations' },
  { label: 'Groups', path: '/groups', access: 'service' },
  { label: 'Applications', path: '/applications', access: 'service' },
  { label: 'Sessions', path: '/sessions', access: 'organizations', isClose: true },
  { label: 'Consents', path: '/consents', access: 'organizations', isClose: true },
  { label: 'Factors', path: '/factors', access: 'organizations', isClose: true },
  { label: 'Linked accounts', path: '/linked-accounts', access: 'service' },
  { label: 'Roles', path: '/roles', access: 'service' },
  { label: 'Life cycle', path: '/life-cycle', access: 'organizations' },
  { label: 'Activity', path: '/activity', access: 'service' },
  { label: 'Data', path: '/data', access: 'service' },
];

export interface UserSubject {
  readonly user: User;
  readonly status: UserStatus;
  /** The full name, else the login. */
  readonly name: string;
  /** May this be changed from here? */
  readonly isChangeable: boolean;
  /** The address of the profile. */
  readonly home: string;
  /** The way to a page below. */
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
    crumbs: [...USERS, { label: name, href: home }],
  };
}

/** For a page that changes him. @throws {ApiError} not found, forbidden */
export async function subjectToChange(visit: ConsoleRequest): Promise<UserSubject> {
  const subject = await userSubject(visit);
  if (!subject.isChangeable) throw forbidden();
  return subject;
}

/** One of the tabs. */
export function userPage(visit: ConsoleRequest, subject: UserSubject, parts: readonly Part[], actions: readonly Action[] = []): Drawn {
  const { user, name, home, isChangeable } = subject;
  const seesAll = mayCall(visit.request.roles, 'service', 'read');
  const tabs = TABS.filter(({ access, isClose }) => seesAll || (access === 'organizations' && (isChangeable || !isClose)));
  return detailPage({
    title: name,
    ...(name !== user.login && { lead: user.login }),
    crumbs: USERS,
    actions,
    tabs: tabs.map(({ label, path }) => ({ label, href: `${home}${path}` })),
    parts,
  });
}
