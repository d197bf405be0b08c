/**
 * `/account/sessions`: the browsers where the user is signed in. Users can end unknown sessions here; the applications are notified as by a sign-out.
 */

import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, ownPage, redirectAfterChange } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { findApplication } from '../applications/application-lists.service.ts';
import { ownChange } from '../sign-in/fresh-sign-in.hosted.ts';
import { browserName } from './browser-name.policy.ts';
import { endOwnOtherSession, endOwnOtherSessions, listOwnSessions } from './own-sessions.service.ts';

/** GET /account/sessions */
export const sessionsPage = ownPage('sessions', async (deps, ctx, visit) => {
  const language = pageLanguage(ctx);
  const list = new Intl.ListFormat(language.lang);
  const found = await listOwnSessions(deps.services, visit.user.id, visit.session.uid);
  const labels = await labelsOf(deps, new Set(found.flatMap(({ applications }) => applications)));
  const sessions = found.map((session) => ({
    id: session.id,
    current: session.current,
    browser: browserName(session.userAgent ?? '') ?? language.text('account.sessions.unknown'),
    address: session.ipAddress,
    signedIn: session.signedIn && momentOf(session.signedIn),
    lastSeen: session.lastSeen && momentOf(session.lastSeen),
    applications: list.format(session.applications.flatMap((id) => labels.get(id) ?? [])),
  }));
  await draw(deps, ctx, visit, 'account/sessions', { page: 'sessions' }, { sessions });
});

async function labelsOf({ services }: AccountDeps, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all([...ids].map((id) => findApplication(services.database, id)));
  return new Map(found.flatMap((application) => (application === undefined ? [] : [[application.id, application.label]])));
}

/** POST /account/sessions/end: one of the user's own sessions; IDs of others do not match. */
export const receiveEndSession = ownChange<AccountDeps>(async (deps, ctx, session, form) => {
  const ended = await endOwnOtherSession(deps.services, session.accountId, form.get('session') ?? '', visitor(ctx, deps.config));
  redirectAfterChange(ctx, 'sessions', ended ? 'session-ended' : 'session-gone');
}, 'sessions');

/** POST /account/sessions/end-others */
export const endOtherSessions = ownChange<AccountDeps>(async (deps, ctx, session) => {
  await endOwnOtherSessions(deps.services, session.accountId, session.uid, visitor(ctx, deps.config));
  redirectAfterChange(ctx, 'sessions', 'sessions-ended');
}, 'sessions');
