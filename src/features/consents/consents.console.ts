/** Consents of a user, one per scope or authorization detail; revoke one or all. */

import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { applicationNames, serverNames } from '../sessions/labels.console.ts';
import { addressOfUser, subjectToChange, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { getGrant, listGrants, revokeGrant, revokeGrants } from './consents.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/consents`;
const FOLLOWS = 'The application loses its access at that authorization server. Next time, it must ask the user again.';

const COLUMNS: ListColumns = [
  { label: 'Scope or details', by: 'scope', searched: true },
  { label: 'Application', by: 'application' },
  { label: 'Authorization server', by: 'server' },
  { label: 'Allowed on', by: 'created', descending: true },
];

const list: ConsolePage = {
  path: '/users/:id/consents',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = await listGrants(services, subject.user.id, pageIn(query, COLUMNS), request);
    const labels = await applicationNames(
      visit,
      items.map(({ applicationId }) => applicationId),
    );
    const servers = items.length > 0 ? await serverNames(visit) : new Map<string, string>();
    const part = {
      kind: 'table' as const,
      name: 'Consents',
      ...(subject.isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'consents', total }) }),
      rows: items.map(({ id, scope, detail, applicationId, serverId, created }) => ({
        value: id,
        cells: [
          detail === null
            ? { text: scope, code: true }
            : [
                { text: detail.type, code: true },
                { text: JSON.stringify(detail), soft: true },
              ],
          labels.get(applicationId) ?? applicationId,
          servers.get(serverId) ?? serverId,
          { moment: momentOf(created) },
        ],
        actions: subject.isChangeable ? [{ label: 'Revoke', href: `${home}/${encodeURIComponent(id)}/revoke` }] : [],
      })),
      empty: 'No consents yet. Applications that do not ask for consent are not listed.',
      ...paged(home, query, COLUMNS, { total }, 'consent'),
      files: fileActions(home, query, total),
    };
    const isSome = subject.isChangeable && items.length > 0;
    return userPage(visit, subject, [part], isSome ? [{ label: 'Revoke all', href: `${home}/revoke` }] : []);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    return draftForList(visit, form, {
      kind: 'consents',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listGrants(visit.services, user.id, window, visit.request)),
      rowOf: ({ id, scope, detail, applicationId }) => ({
        name: `${user.login}, ${applicationId}, ${detail?.type ?? scope}`,
        item: { id, userId: user.id },
      }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'consents',
      columns: ['id', 'scope', 'detail', 'applicationId', 'serverId', 'created'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listGrants(visit.services, user.id, window, visit.request)),
      recordOf: (consent) => ({ ...consent, scope: consent.detail === null ? consent.scope : null }),
      of: userTarget(user),
    });
  },
};

const revokeAll: ConsolePage = {
  path: '/users/:id/consents/revoke',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const title = phrase('Revoke all consents of {name}?', { name });
    const { consents } = await affectedBy(visit.services, 'user', { id: user.id });
    const facts = [
      phrase('This revokes {consents}. The applications lose the access that they gave, and must ask the user again.', {
        consents: affectedCount(consents, 'consent'),
      }),
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Revoke all consents', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await revokeGrants(visit.services, user.id, visit.request);
    return { goTo: homeOf(user.id), notice: 'consents-revoked' };
  },
};

const revokeOne: ConsolePage = {
  path: '/users/:id/consents/:grantId/revoke',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await subjectToChange(visit);
    const { scope: name, detail, applicationId } = await getGrant(visit.services, user.id, visit.params.grantId ?? '', visit.request);
    const labels = await applicationNames(visit, [applicationId]);
    const scope = detail === null ? name : detail.type;
    const title = phrase('Revoke “{scope}” for {applicationId}?', { scope, applicationId: labels.get(applicationId) ?? applicationId });
    const facts = [FOLLOWS, 'This cannot be undone.'];
    return formPage({ title, crumbs, facts, submit: 'Revoke consent', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await revokeGrant(visit.services, user.id, visit.params.grantId ?? '', visit.request);
    return { goTo: homeOf(user.id), notice: 'consent-revoked' };
  },
};

export const userConsents: readonly ConsolePage[] = [list, revokeAll, revokeOne];
