/** Activating, deactivating and deleting an authorization server, with the consequences of each. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { affectedBy } from '../affected/affected.service.ts';
import type { ServerStatus } from './authorization-servers.resource.ts';
import { deleteAuthorizationServer, setServerStatus } from './authorization-servers.service.ts';
import { crumbsBelow, SERVERS_HOME, type ServerSubject, serverSubject } from './server-page.console.ts';

/** @throws {ApiError} not found; wrong state: the built-in server cannot be deactivated or deleted */
async function subjectThatEnds(visit: ConsoleRequest): Promise<ServerSubject> {
  const subject = await serverSubject(visit);
  if (subject.isBuiltIn) throw wrongState('the built-in authorization server cannot be deactivated or deleted');
  return subject;
}

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
    const page = { title: phrase(title, { name: subject.server.name }), crumbs: crumbsBelow(subject), facts };
    return formPage({ ...page, submit, cancel: subject.home, danger: status === 'INACTIVE' }, typed);
  },
  async receive(visit) {
    const subject = await subjectThatEnds(visit);
    await setServerStatus(visit.services, subject.server.id, status, visit.request);
    const undo = { href: `${subject.home}/${path === 'activate' ? 'deactivate' : 'activate'}` };
    return { goTo: subject.home, notice, undo };
  },
});

const activate = change({
  path: 'activate',
  status: 'ACTIVE',
  title: 'Activate “{name}”?',
  facts: ['Its endpoints respond again. Tokens that have not expired are accepted again.'],
  submit: 'Activate',
  notice: 'server-activated',
});

const deactivate = change({
  path: 'deactivate',
  status: 'INACTIVE',
  title: 'Deactivate “{name}”?',
  facts: [
    'Its endpoints return 404 from now on. Nobody can sign in with it, and no token is issued, refreshed or introspected.',
    'An API that verifies JWT access tokens itself accepts issued tokens until they expire.',
    'It can be activated again.',
  ],
  submit: 'Deactivate',
  notice: 'server-deactivated',
});

const remove = confirmedStep({
  path: '/api/servers/:serverId/delete',
  access: 'service',
  submit: 'Delete authorization server',
  danger: true,
  notice: 'server-deleted',
  goTo: SERVERS_HOME,
  async question(visit) {
    const subject = await subjectThatEnds(visit);
    const { id, name } = subject.server;
    const { scopes, claims, policies, consents } = await affectedBy(visit.services, 'authorizationServer', { id });
    const facts = [
      'Its endpoints return 404 from now on. Applications that use it can no longer sign users in.',
      phrase('This deletes {scopes}, {claims}, {policies}, {consents}, its keys and its tokens.', {
        scopes: affectedCount(scopes, 'scope'),
        claims: affectedCount(claims, 'claim'),
        policies: affectedCount(policies, 'access policy', 'access policies'),
        consents: affectedCount(consents, 'consent'),
      }),
      'An API that verifies JWT access tokens itself accepts issued tokens until they expire.',
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete “{name}”?', { name }), name, crumbs: crumbsBelow(subject), cancel: subject.home },
      ...{ facts, affected: Number.POSITIVE_INFINITY },
      execute: () => deleteAuthorizationServer(visit.services, id, visit.request),
    };
  },
});

export const serverLifeCycle: readonly ConsolePage[] = [activate, deactivate, remove];
