/** The life cycle of an authorization server: activating, deactivating and deleting it, each with what follows from it. */

import type { Part } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import type { ServerStatus } from './authorization-servers.resource.ts';
import { deleteAuthorizationServer, setServerStatus } from './authorization-servers.service.ts';
import { crumbsBelow, SERVERS_HOME, type ServerSubject, serverPage, serverStatus, serverSubject } from './server-page.console.ts';

/** @throws {ApiError} not found; wrong state: the built-in server is always there */
async function subjectThatEnds(visit: ConsoleRequest): Promise<ServerSubject> {
  const subject = await serverSubject(visit);
  if (subject.isBuiltIn) throw wrongState('The built-in authorization server is always active, and is not deleted.');
  return subject;
}

const crumbs = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Life cycle', href: `${subject.home}/life-cycle` });

const overview: ConsolePage = {
  path: '/api/servers/:serverId/life-cycle',
  access: 'service',
  async show(visit) {
    const subject = await subjectThatEnds(visit);
    const { server, home, isChangeable } = subject;
    const isActive = server.status === 'ACTIVE';
    const action = isActive
      ? { label: 'Deactivate', href: `${home}/deactivate` }
      : { label: 'Activate', href: `${home}/activate`, main: true };
    const parts: Part[] = [
      {
        kind: 'facts',
        title: 'Status',
        lead: isActive
          ? 'It answers. Deactivated, its endpoints answer 404 and no token of it is accepted here; nothing is lost, and it can be activated again.'
          : 'Its endpoints answer 404. Everything is kept: activate it, and it works as before.',
        actions: isChangeable ? [action] : [],
        facts: [{ label: 'Status', value: serverStatus(server.status) }],
      },
    ];
    if (server.system) {
      const paragraphs = ['The service began with this authorization server. It can be changed and deactivated, but not deleted.'];
      parts.push({ kind: 'words', title: 'Deletion', paragraphs });
    } else {
      const paragraphs = ['Deleting it ends its tokens and takes its scopes, claims, access policies and keys with it, for good.'];
      const actions = isChangeable ? [{ label: 'Delete', href: `${home}/delete` }] : [];
      parts.push({ kind: 'words', title: 'Deletion', paragraphs, actions });
    }
    return serverPage(subject, { parts });
  },
};

interface Step {
  readonly path: 'activate' | 'deactivate';
  readonly status: ServerStatus;
  readonly title: string;
  readonly facts: readonly string[];
  readonly submit: string;
  readonly notice: 'server-activated' | 'server-deactivated';
}

const change = ({ path, status, title, facts, submit, notice }: Step): ConsolePage => ({
  path: `/api/servers/:serverId/${path}`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectThatEnds(visit);
    const page = { title: title.replace('*', () => subject.server.name), crumbs: crumbs(subject), facts };
    return formPage({ ...page, submit, cancel: `${subject.home}/life-cycle`, danger: status === 'INACTIVE' }, typed);
  },
  async receive(visit) {
    const subject = await subjectThatEnds(visit);
    await setServerStatus(visit.services, subject.server.id, status, visit.request);
    return { goTo: `${subject.home}/life-cycle`, notice };
  },
});

const activate = change({
  path: 'activate',
  status: 'ACTIVE',
  title: 'Activate “*”?',
  facts: ['Its endpoints answer again. Tokens that have not expired meanwhile are accepted again.'],
  submit: 'Activate',
  notice: 'server-activated',
});

const deactivate = change({
  path: 'deactivate',
  status: 'INACTIVE',
  title: 'Deactivate “*”?',
  facts: [
    'Its endpoints answer 404 from the next request on: nobody signs in by it, no token is issued, refreshed or introspected.',
    'An API that verifies JWT access tokens by itself accepts those that are out until they expire.',
    'It can be activated again.',
  ],
  submit: 'Deactivate',
  notice: 'server-deactivated',
});

const remove: ConsolePage = {
  path: '/api/servers/:serverId/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectThatEnds(visit);
    const facts = [
      'Its endpoints answer 404 from the next request on. Applications that use it can no longer sign anybody in.',
      'Its tokens end with it, and what users allowed at it is forgotten. An API that verifies JWT access tokens by itself accepts those that are out until they expire.',
      'Its scopes, claims, access policies and keys are deleted.',
      'This cannot be undone.',
    ];
    const page = { title: phrase('Delete “{name}”?', { name: subject.server.name }), crumbs: crumbs(subject), facts };
    return formPage({ ...page, submit: 'Delete authorization server', danger: true, cancel: `${subject.home}/life-cycle` }, typed);
  },
  async receive(visit) {
    const { server } = await subjectThatEnds(visit);
    await deleteAuthorizationServer(visit.services, server.id, visit.request);
    return { goTo: SERVERS_HOME, notice: 'server-deleted' };
  },
};

export const serverLifeCycle: readonly ConsolePage[] = [overview, activate, deactivate, remove];
