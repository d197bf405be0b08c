/** The browsers that a user trusts, whose trust can be ended one by one or for all. */
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { addressOfUser, subjectToChange, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { endAllTrust, endUserTrust, listUserTrustedBrowsers } from './trusted-browsers.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/trusted-browsers`;

const COLUMNS: ListColumns = [
  'Browser',
  { label: 'IP address', by: 'ipAddress', searched: true },
  { label: 'Trusted since', by: 'created', descending: true },
  { label: 'Last used', by: 'lastUsed', descending: true },
  { label: 'Expires', by: 'expiresAt', descending: true },
];

const list: ConsolePage = {
  path: '/users/:id/trusted-browsers',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { browsers } = await listUserTrustedBrowsers(services, subject.user.id, request);
    const { items, total } = inPages(browsers, pageIn(query, COLUMNS));
    const part = {
      kind: 'table' as const,
      lead: 'In these browsers the password alone is enough until they expire.',
      name: 'Trusted browsers',
      ...(subject.isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'trusted-browsers', total }) }),
      rows: items.map(({ id, userAgent, ipAddress, created, lastUsed, expiresAt }) => ({
        value: id,
        cells: [
          browserName(userAgent) ?? phrase('Not known'),
          ipAddress ?? '',
          { moment: momentOf(created) },
          lastUsed === null ? { text: 'Never', soft: true } : { moment: momentOf(lastUsed) },
          { moment: momentOf(expiresAt) },
        ],
        actions: subject.isChangeable ? [{ label: 'End', href: `${home}/${encodeURIComponent(id)}/end` }] : [],
      })),
      empty: 'No trusted browsers. For how long users may trust one is set under Security → Sign-in policy.',
      ...paged(home, query, COLUMNS, { total }, 'browser'),
      files: fileActions(home, query, total),
    };
    const isSome = subject.isChangeable && browsers.length > 0;
    return userPage(visit, subject, [part], isSome ? [{ label: 'End all', href: `${home}/end` }] : []);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    return draftForList(visit, form, {
      kind: 'trusted-browsers',
      pieces: browsersOf(visit, user.id),
      rowOf: ({ id, userAgent, ipAddress }) => ({
        name: [user.login, browserName(userAgent), ipAddress].filter(Boolean).join(', '),
        item: { id, userId: user.id },
      }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'trusted-browsers',
      columns: ['id', 'browser', 'ipAddress', 'created', 'lastUsed', 'expiresAt'],
      pieces: browsersOf(visit, user.id),
      recordOf: ({ userAgent, ...browser }) => ({ ...browser, browser: browserName(userAgent) }),
      of: userTarget(user),
    });
  },
};

const browsersOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, async (window) => inPages((await listUserTrustedBrowsers(services, userId, request)).browsers, window));

const endAll: ConsolePage = {
  path: '/users/:id/trusted-browsers/end',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const title = phrase('End the trust in all browsers of {name}?', { name });
    const facts = ['The next sign-in in each of them asks for the second factor. Sessions continue.'];
    return formPage({ title, crumbs, facts, submit: 'End trust', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await endAllTrust(visit.services, user.id, visit.request);
    return { goTo: homeOf(user.id), notice: 'trust-ended' };
  },
};

const endOne: ConsolePage = {
  path: '/users/:id/trusted-browsers/:browserId/end',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await subjectToChange(visit);
    const facts = ['The next sign-in in that browser asks for the second factor. Sessions continue.'];
    return formPage(
      { title: 'End the trust in this browser?', crumbs, facts, submit: 'End trust', danger: true, cancel: homeOf(user.id) },
      typed,
    );
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await endUserTrust(visit.services, user.id, visit.params.browserId ?? '', visit.request);
    return { goTo: homeOf(user.id), notice: 'trust-ended' };
  },
};

export const userTrustedBrowsers: readonly ConsolePage[] = [list, endAll, endOne];
