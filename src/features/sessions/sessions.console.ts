/** The browser sessions of a user. One or all of them can be ended. */

import { z } from 'zod';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { phrase, series } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { addressOfUser, subjectToChange, userPage, userSubject } from '../users/user-page.console.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { browserName } from './browser-name.policy.ts';
import { applicationNames } from './labels.console.ts';
import { clearSessions, endSession, listSessions } from './user-sessions.service.ts';

const homeOf = (userId: string): string => `${addressOfUser(userId)}/sessions`;

/** RFC 8176, and values of this service. */
const METHODS: Readonly<Record<string, string>> = {
  pwd: 'Password',
  otp: 'Code',
  mfa: 'Two factors',
  fed: 'Identity provider',
  hwk: 'Passkey',
  swk: 'Passkey',
  kba: 'Recovery code',
};

const DAY_MS = 86_400_000;

const COLUMNS: ListColumns = [
  'Browser',
  { label: 'IP address', by: 'ipAddress', searched: true },
  { label: 'Last seen', by: 'lastSeen', descending: true },
  { label: 'Signed in', by: 'signedIn', descending: true },
  { label: 'Ends without use', by: 'expires', descending: true },
  'Ends at the latest',
  'Applications',
];

const list: ConsolePage = {
  path: '/users/:id/sessions',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const subject = await userSubject(visit);
    const home = homeOf(subject.user.id);
    const { items, total } = await listSessions(services, subject.user.id, pageIn(query, COLUMNS), request);
    const labels = await applicationNames(
      visit,
      items.flatMap(({ applications }) => applications),
    );
    const { sessionLifetimeDays } = await currentSettings(services, 'sign-in');
    const part = {
      kind: 'table' as const,
      lead: 'A session is one browser in which the user is signed in.',
      name: 'Sessions',
      ...(subject.isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'sessions', total }) }),
      rows: items.map(({ id, userAgent, ipAddress, lastSeen, signedIn, expires, amr, applications }) => ({
        value: id,
        cells: [
          browserName(userAgent ?? '') ?? phrase('Not known'),
          ipAddress ?? '',
          lastSeen === null ? { text: 'Not noted', soft: true } : { moment: momentOf(lastSeen) },
          [{ moment: momentOrNull(signedIn) }, { text: series(amr.map((method) => phrase(METHODS[method] ?? method))), soft: true }],
          { moment: momentOf(expires) },
          signedIn === null ? '' : { moment: momentOf(new Date(signedIn.getTime() + sessionLifetimeDays * DAY_MS)) },
          series(applications.map((one) => labels.get(one) ?? one)),
        ],
        actions: subject.isChangeable ? [{ label: 'End', href: `${home}/${id}/end` }] : [],
      })),
      empty: 'No sessions.',
      ...paged(home, query, COLUMNS, { total }, 'session'),
      files: fileActions(home, query, total),
    };
    return userPage(visit, subject, [part], subject.isChangeable ? [{ label: 'End all', href: `${home}/end` }] : []);
  },
  async receive(visit, form) {
    const { user } = await subjectToChange(visit);
    return draftForList(visit, form, {
      kind: 'sessions',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listSessions(visit.services, user.id, window, visit.request)),
      rowOf: ({ id, userAgent, ipAddress }) => ({
        name: [user.login, browserName(userAgent ?? ''), ipAddress].filter(Boolean).join(', '),
        item: { id, userId: user.id },
      }),
    });
  },
  async download(visit) {
    const { user } = await userSubject(visit);
    return downloadList(visit, {
      name: 'sessions',
      columns: ['id', 'browser', 'ipAddress', 'signedIn', 'lastSeen', 'expires', 'methods', 'applications'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listSessions(visit.services, user.id, window, visit.request)),
      recordOf: (session) => ({ ...session, browser: browserName(session.userAgent ?? '') ?? null, methods: session.amr }),
      of: userTarget(user),
    });
  },
};

const TOKENS: Field = {
  name: 'oauthTokens',
  label: 'End the tokens of applications, too',
  kind: 'check',
  checked: true,
  hint: 'Otherwise applications keep their tokens until they expire.',
};

const endAll: ConsolePage = {
  path: '/users/:id/sessions/end',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, name, crumbs } = await subjectToChange(visit);
    const title = phrase('End all sessions of {name}?', { name });
    const { sessions } = await affectedBy(visit.services, 'signIns', { id: user.id });
    const facts = [
      phrase('This ends {sessions}. The user must sign in again everywhere.', { sessions: affectedCount(sessions, 'session') }),
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs, facts, fields: [TOKENS], submit: 'End all sessions', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit, form) {
    const { user } = await userSubject(visit);
    const also = parse(z.object({ oauthTokens: z.boolean() }), typedValues([TOKENS], form));
    await clearSessions(visit.services, user.id, also, visit.request);
    return { goTo: homeOf(user.id), notice: 'sessions-ended' };
  },
};

const endOne: ConsolePage = {
  path: '/users/:id/sessions/:sessionId/end',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { user, crumbs } = await subjectToChange(visit);
    const facts = ['The user must sign in again in that browser. Tokens of applications stay valid.', 'This cannot be undone.'];
    return formPage({ title: 'End this session?', crumbs, facts, submit: 'End session', danger: true, cancel: homeOf(user.id) }, typed);
  },
  async receive(visit) {
    const { user } = await userSubject(visit);
    await endSession(visit.services, user.id, visit.params.sessionId ?? '', visit.request);
    return { goTo: homeOf(user.id), notice: 'session-ended' };
  },
};

export const userSessions: readonly ConsolePage[] = [list, endAll, endOne];
