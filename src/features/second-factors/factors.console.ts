/** The second factors of a user: the list, and the reset of lost ones. Users enrol them themselves. */

import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { addressOfUser, subjectToChange, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { getUserFactor, listUserFactors, resetUserFactor, resetUserFactors, type SecondFactor } from './factors.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/factors`;
/** Labels of the factor types. */
export const FACTOR_NAMES = {
  TOTP: 'Authenticator app',
  EMAIL: 'Code by e-mail',
  SMS: 'Text message',
  CALL: 'Phone call',
  PASSKEY: 'Passkey',
} as const;
const typeOf = ({ type }: SecondFactor): string => FACTOR_NAMES[type];

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name' },
  { label: 'Kind', by: 'type', codes: Object.keys(FACTOR_NAMES) },
  { label: 'Set up', by: 'created', descending: true, isFirst: true },
  { label: 'Last used', by: 'lastUsed', descending: true },
];

const list: ConsolePage = {
  path: '/users/:id/factors',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { factors } = await listUserFactors(services, subject.user.id, request);
    const { items, total } = inPages(factors, pageIn(query, COLUMNS));
    const part = {
      kind: 'table' as const,
      name: 'Factors',
      ...(subject.isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'factors', total }) }),
      rows: items.map((factor) => ({
        value: factor.id,
        cells: [
          factor.name,
          phrase(typeOf(factor)),
          { moment: momentOf(factor.created) },
          factor.lastUsed === null ? { text: 'Never', soft: true } : { moment: momentOrNull(factor.lastUsed) },
        ],
        actions: subject.isChangeable ? [{ label: 'Reset', href: `${home}/${encodeURIComponent(factor.id)}/reset` }] : [],
      })),
      empty: 'No second factor. Users set one up on their own security page.',
      ...paged(home, query, COLUMNS, { total }, 'second factor'),
      files: fileActions(home, query, total),
    };
    const isSome = subject.isChangeable && factors.length > 0;
    return userPage(visit, subject, [part], isSome ? [{ label: 'Reset all', href: `${home}/reset` }] : []);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    return draftForList(visit, form, {
      kind: 'factors',
      pieces: factorsOf(visit, user.id),
      rowOf: ({ id, name }) => ({ name: `${user.login}, ${name}`, item: { id, userId: user.id } }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'second-factors',
      columns: ['id', 'name', 'type', 'created', 'lastUsed'],
      pieces: factorsOf(visit, user.id),
      recordOf: (factor) => ({ ...factor }),
      of: userTarget(user),
    });
  },
};

const factorsOf = ({ services, query, request }: ConsoleRequest, userId: string) =>
  piecesOf(query, COLUMNS, async (window) => inPages((await listUserFactors(services, userId, request)).factors, window));

const resetAll: ConsolePage = {
  path: '/users/:id/factors/reset',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const title = phrase('Reset all factors of {name}?', { name });
    const facts = [
      'Do this only if the user has lost the factors, and if you know who is asking. Afterwards the password alone may be enough to sign in.',
      'The recovery codes are deleted, too. Sessions continue.',
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Reset all factors', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await resetUserFactors(visit.services, user.id, visit.request);
    return { goTo: homeOf(user.id), notice: 'factors-reset' };
  },
};

const resetOne: ConsolePage = {
  path: '/users/:id/factors/:factorId/reset',
  needsFreshSignIn: 'of-administrators',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await subjectToChange(visit);
    const { factor } = await getUserFactor(visit.services, user.id, visit.params.factorId ?? '', visit.request);
    const title = phrase('Reset “{factor}”?', { factor: factor.name });
    const facts = [
      phrase('{factor} stops working. The recovery codes are deleted with the last factor.', { factor: phrase(typeOf(factor)) }),
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, submit: 'Reset factor', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await resetUserFactor(visit.services, user.id, visit.params.factorId ?? '', visit.request);
    return { goTo: homeOf(user.id), notice: 'factor-reset' };
  },
};

export const userFactorPages: readonly ConsolePage[] = [list, resetAll, resetOne];
