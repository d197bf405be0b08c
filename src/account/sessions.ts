/** `/account/sessions`: the browsers that the user is signed in with. One that he does not know he ends here; its applications are told as by a logout. */
import { ownChange } from '../hosted/fresh-sign-in.ts';
import { pageLanguage } from '../hosted/page-language.ts';
import { visitor } from '../hosted/visitor.ts';
import { browserName } from '../policy/browser-name.ts';
import { endOwnOtherSession, endOwnOtherSessions, listOwnSessions } from '../services/own-sessions.ts';
import { findApplicationById } from '../store/applications.ts';
import type { AccountHouse } from './account-house.ts';
import { doneWith, draw, ownPage, times } from './page.ts';

/** GET /account/sessions */
export const sessionsPage = ownPage('sessions', async (house, ctx, visit) => {
  const language = pageLanguage(ctx);
  const { zone, moment } = times(language, visit.user);
  const found = await listOwnSessions(house.services, visit.user.id, visit.session.uid);
  const labels = await labelsOf(house, new Set(found.flatMap(({ applications }) => applications)));
  const sessions = found.map((session) => ({
    id: session.id,
    current: session.current,
    browser: browserName(session.userAgent ?? '') ?? language.text('account.sessions.unknown'),
    address: session.ipAddress,
    signedIn: session.signedIn && moment(session.signedIn),
    lastSeen: session.lastSeen && moment(session.lastSeen),
    applications: session.applications.flatMap((id) => labels.get(id) ?? []).join(', '),
  }));
  await draw(house, ctx, visit, 'account/sessions', { page: 'sessions' }, { sessions, zone });
});

async function labelsOf({ services }: AccountHouse, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all([...ids].map((id) => findApplicationById(services.database.knex, id)));
  return new Map(found.flatMap((application) => (application === undefined ? [] : [[application.id, application.label]])));
}

/** POST /account/sessions/end: one of his own; the id of another's names none. */
export const endSession = ownChange<AccountHouse>(async (house, ctx, session, form) => {
  const ended = await endOwnOtherSession(house.services, session.accountId, form.get('session') ?? '', visitor(ctx, house.config));
  doneWith(ctx, 'sessions', ended ? 'session-ended' : 'session-gone');
}, 'sessions');

/** POST /account/sessions/end-others */
export const endOtherSessions = ownChange<AccountHouse>(async (house, ctx, session) => {
  await endOwnOtherSessions(house.services, session.accountId, session.uid, visitor(ctx, house.config));
  doneWith(ctx, 'sessions', 'sessions-ended');
}, 'sessions');
