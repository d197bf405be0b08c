/** Shared by all pages of an application: URL, tabs, permissions and texts for its kind. */

import type { WordsPart } from '../../pages/console/detail-page.ts';
import type { Option } from '../../pages/console/form.ts';
import type { Action, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import type { ApplicationOrigin, ApplicationType } from './application-settings.policy.ts';
import type { Application } from './applications.resource.ts';
import { getApplication } from './applications.service.ts';

export const APPLICATIONS_PATH = '/admin/applications';
export const APPLICATIONS: readonly Crumb[] = [{ label: 'Applications', href: APPLICATIONS_PATH }];

/** In the order of the page. */
export const APPLICATION_KINDS: readonly (Option & { readonly value: ApplicationType })[] = [
  {
    value: 'web',
    label: 'Web application',
    hint: 'Runs on a server that can keep a secret, e.g. in Java, PHP, Python or Node.js. Users sign in to it in their browser.',
  },
  {
    value: 'browser',
    label: 'Single-page application',
    hint: 'JavaScript in the browser, e.g. with React or Angular. It cannot keep a secret: each sign-in is protected by PKCE.',
  },
  {
    value: 'native',
    label: 'Native application',
    hint: 'Installed on a phone, a desktop or a command line. It cannot keep a secret either: PKCE, and an address of its own to return to.',
  },
  {
    value: 'service',
    label: 'Service (machine to machine)',
    hint: 'A program without users, e.g. a nightly job. It gets tokens for your API with client credentials.',
  },
];

export const applicationKindOf = (type: ApplicationType): Phrase =>
  asPhrase(APPLICATION_KINDS.find(({ value }) => value === type)?.label ?? verbatim(type));

export const applicationPath = (id: string): string => `${APPLICATIONS_PATH}/${encodeURIComponent(id)}`;

/** Can the caller change applications? */
export const mayWriteApplications = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

/** Can the caller change this application? */
export const mayChangeApplication = (visit: ConsoleRequest, { system }: Application): boolean => mayWriteApplications(visit) && !system;

/** @throws {ApiError} not found */
export const applicationIn = ({ services, params }: ConsoleRequest): Promise<Application> => getApplication(services, params.id ?? '');

/** For a page that changes the application. @throws {ApiError} not found; wrong state: it is the service's own */
export async function applicationToChange(visit: ConsoleRequest): Promise<Application> {
  const application = await applicationIn(visit);
  if (application.system) throw wrongState('this application is part of the service and cannot be changed');
  return application;
}

/** Breadcrumbs of a page below the application. */
export const applicationCrumbs = ({ id, label }: Application, tab?: Action): readonly Crumb[] => [
  ...APPLICATIONS,
  { label: verbatim(label), href: applicationPath(id) },
  ...(tab === undefined ? [] : [tab]),
];

/** The tabs; each has a path for further pages and forms. */
export function applicationTabs(id: string) {
  const address = applicationPath(id);
  return {
    connect: { label: 'Connect', href: address },
    settings: { label: 'Settings', href: `${address}/settings` },
    credentials: { label: 'Credentials', href: `${address}/credentials` },
    access: { label: 'Access', href: `${address}/access` },
    assignments: { label: 'Assignments', href: `${address}/assignments` },
    provisioning: { label: 'Provisioning', href: `${address}/provisioning` },
    roles: { label: 'Roles', href: `${address}/roles` },
    branding: { label: 'Branding', href: `${address}/branding` },
    activity: { label: 'Activity', href: `${address}/activity` },
  };
}

/** Label next to the kind of an application that no administrator created. */
export const ORIGINS: Readonly<Record<ApplicationOrigin, string>> = {
  ADMIN: 'made by an administrator',
  REGISTERED: 'registered by itself',
  INTRODUCED: 'from a metadata document',
};

export const statusOf = ({ status }: Application) =>
  status === 'ACTIVE' ? ({ text: 'Active', tone: 'good' } as const) : ({ text: 'Inactive', tone: 'warning' } as const);

/** The items of the actions menu. */
function stepsOf({ id, status }: Application): readonly Action[] {
  const address = applicationPath(id);
  return [
    status === 'ACTIVE'
      ? { label: 'Deactivate', href: `${address}/deactivate`, danger: true }
      : { label: 'Activate', href: `${address}/activate` },
    { label: 'Delete', href: `${address}/delete`, danger: true },
  ];
}

/** At most six: the access tab shows three sections. */
function tabsOf({ req }: ConsoleRequest, id: string) {
  const { connect, settings, credentials, access, assignments, roles, provisioning, branding, activity } = applicationTabs(id);
  const looked = new URL(req.url ?? '/', 'http://localhost').pathname;
  const isAccess = [access, assignments, roles, provisioning].some(({ href }) => href === looked);
  return [connect, settings, credentials, { ...access, isCurrent: isAccess }, branding, activity];
}

/** Header of each tab. */
export const headOf = (visit: ConsoleRequest, application: Application) => ({
  title: verbatim(application.label),
  status: statusOf(application),
  more: mayChangeApplication(visit, application) ? stepsOf(application) : [],
  lead: application.system
    ? phrase('{kind}, part of the service itself', { kind: applicationKindOf(application.settings.application_type) })
    : applicationKindOf(application.settings.application_type),
  crumbs: APPLICATIONS,
  tabs: tabsOf(visit, application.id),
});

/** Warnings on each tab of an unusual application. */
export function warningsOf({ status, system, origin, expiresAt }: Application): readonly WordsPart[] {
  const words: Text[] = [];
  if (system) words.push('This application is part of Gatehouse. It follows the configuration of the service and cannot be changed here.');
  if (status === 'INACTIVE') words.push('This application is inactive: nobody can sign in to it, and its tokens are not accepted.');
  if (origin === 'INTRODUCED')
    words.push(
      'The settings of this application come from the metadata document at its client ID and cannot be changed here. To block the application, deactivate it.',
    );
  if (origin === 'REGISTERED')
    words.push(
      'This application was created by dynamic client registration. No administrator has checked it, so users are always asked for consent.',
    );
  if (expiresAt !== null) words.push(phrase('It is deleted on {date} if nobody signs in to it before then.', { date: expiresAt }));
  return words.length === 0 ? [] : [{ kind: 'words', paragraphs: words, tone: 'warning' }];
}
