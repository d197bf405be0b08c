/** Shared by all pages of an authorization server: the server, its editable parts and the tabs. */

import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { Action, ConsoleRequest, Crumb, Drawn } from '../../pages/console/page.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import type { AuthorizationServer, ServerStatus } from './authorization-servers.resource.ts';
import { getAuthorizationServer } from './authorization-servers.service.ts';
import { BUILT_IN } from './server-id.policy.ts';

export const SERVERS_HOME = '/admin/api/servers';
export const SERVERS: readonly Crumb[] = [{ label: 'API' }, { label: 'Authorization servers', href: SERVERS_HOME }];

/** At most six. Rarely needed pages are below the settings (`pageBelowSettings`). */
const TABS = [
  { label: 'Settings', path: '' },
  { label: 'Scopes', path: '/scopes' },
  { label: 'Claims', path: '/claims' },
  { label: 'Access policies', path: '/policies' },
  { label: 'Keys', path: '/keys' },
  { label: 'Simulator', path: '/simulator' },
] as const;

export interface ServerSubject {
  readonly server: AuthorizationServer;
  /** URL of its settings. */
  readonly home: string;
  readonly isBuiltIn: boolean;
  /** Can its settings and keys be changed? For the built-in server only some. */
  readonly isChangeable: boolean;
  /** Can scopes, claims and policies be changed? */
  readonly hasOwnParts: boolean;
}

export const mayChangeServers = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');
export const addressOfServer = (id: string): string => `${SERVERS_HOME}/${encodeURIComponent(id)}`;
const serverIdIn = ({ params }: ConsoleRequest): string => params.serverId ?? '';

/** @throws {ApiError} not found */
export async function serverSubject(visit: ConsoleRequest): Promise<ServerSubject> {
  const server = await getAuthorizationServer(visit.services, serverIdIn(visit));
  const isBuiltIn = server.id === BUILT_IN;
  const isChangeable = mayChangeServers(visit);
  return { server, home: addressOfServer(server.id), isBuiltIn, isChangeable, hasOwnParts: isChangeable && !isBuiltIn };
}

/** For a page that changes scopes, claims or policies. @throws {ApiError} not found; wrong state: those of the built-in server are fixed */
export async function subjectWithParts(visit: ConsoleRequest): Promise<ServerSubject> {
  const subject = await serverSubject(visit);
  if (subject.isBuiltIn) throw wrongState('the built-in authorization server has fixed scopes, claims and policies. Use a custom one');
  return subject;
}

/** Breadcrumbs of a page below a tab. */
export const crumbsBelow = ({ server, home }: ServerSubject, ...steps: readonly Crumb[]): readonly Crumb[] => [
  ...SERVERS,
  { label: verbatim(server.name), href: home },
  ...steps,
];

export const serverStatus = (status: ServerStatus) =>
  status === 'ACTIVE' ? ({ text: 'Active', tone: 'good' } as const) : ({ text: 'Inactive', tone: 'warning' } as const);

interface Content {
  readonly lead?: Text | undefined;
  readonly parts: readonly Part[];
  readonly actions?: readonly Action[];
}

/** The items of the actions menu. The built-in server is always active, and the initial custom server cannot be deleted. */
const stepsOf = ({ server, home, hasOwnParts }: ServerSubject): readonly Action[] =>
  hasOwnParts
    ? [
        server.status === 'ACTIVE' ? { label: 'Deactivate', href: `${home}/deactivate` } : { label: 'Activate', href: `${home}/activate` },
        ...(server.system ? [] : [{ label: 'Delete', href: `${home}/delete` }]),
      ]
    : [];

/** A page that is linked from the settings. */
export const pageBelowSettings = (subject: ServerSubject, title: string, { lead, parts, actions = [] }: Content): Drawn =>
  detailPage({
    title,
    ...(lead !== undefined && { lead }),
    crumbs: crumbsBelow(subject),
    actions,
    parts,
  });

/** One of the tabs. */
export function serverPage(subject: ServerSubject, { lead, parts, actions = [] }: Content): Drawn {
  const { server, home } = subject;
  return detailPage({
    title: verbatim(server.name),
    status: serverStatus(server.status),
    more: stepsOf(subject),
    ...(lead !== undefined && { lead }),
    crumbs: SERVERS,
    actions,
    tabs: TABS.map(({ label, path }) => ({ label, href: `${home}${path}` })),
    parts,
  });
}
