/** Browser sessions managed by users themselves. Applications of an ended session are notified like at a logout. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { endBrowserSession, endSignIns } from '../users/account-state.store.ts';
import { deletePendingAddress } from '../users/email-verifications.store.ts';
import { asUser, userTarget } from '../users/user-reach.service.ts';
import { lockUser } from '../users/users.store.ts';
import { type BrowserSession, listBrowserSessions } from './browser-sessions.store.ts';
import { sessionId } from './user-sessions.service.ts';

export interface OwnSession extends Omit<BrowserSession, 'uid'> {
  /** Neither the cookie's value nor the internal ID. */
  readonly id: string;
  /** Is it the calling session? */
  readonly current: boolean;
}

/** The calling session first, then newest first. @param uid of the calling session */
export async function listOwnSessions({ database }: Services, userId: string, uid: string): Promise<OwnSession[]> {
  const sessions = await listBrowserSessions(database.knex, userId, present());
  const own = sessions.map(({ uid: each, ...session }) => ({ id: sessionId(each), current: each === uid, ...session }));
  return [...own.filter(({ current }) => current), ...own.filter(({ current }) => !current)];
}

/** Ends one of the user's own sessions. @returns false if it is not one of theirs */
export async function endOwnOtherSession({ database }: Services, userId: string, id: string, request: RequestContext): Promise<boolean> {
  return database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    const found = (await listBrowserSessions(trx, userId, present())).find(({ uid }) => sessionId(uid) === id);
    if (user === undefined || found === undefined || !(await endBrowserSession(trx, found.uid))) return false;
    // A user of that session may have requested a change of the e-mail address.
    await deletePendingAddress(trx, userId);
    await recordEvent(trx, {
      eventType: 'user.session.end',
      displayMessage: 'User ended one of their sessions',
      request: asUser(request, user),
      targets: [userTarget(user)],
      before: { signedIn: found.signedIn, applications: found.applications },
    });
    return true;
  });
}

/** Ends all of the user's other sessions, pending sign-ins, and the trust in all browsers. @returns the number of sessions */
export async function endOwnOtherSessions({ database }: Services, userId: string, uid: string, request: RequestContext): Promise<number> {
  const endOthers = async (executor: Executor): Promise<number> => {
    const others = (await listBrowserSessions(executor, userId, present())).filter((session) => session.uid !== uid);
    let ended = 0;
    for (const other of others) if (await endBrowserSession(executor, other.uid)) ended += 1;
    await endSignIns(executor, userId);
    await deleteTrustedBrowsersOf(executor, userId);
    return ended;
  };
  const ended = await database.transaction(async (trx) => {
    const user = await lockUser(trx, userId);
    if (user === undefined) return 0;
    const count = await endOthers(trx);
    await deletePendingAddress(trx, userId);
    if (count === 0) return 0;
    await recordEvent(trx, {
      eventType: 'user.session.clear',
      displayMessage: 'User ended their other sessions',
      request: asUser(request, user),
      targets: [userTarget(user)],
      after: { ended: count, oauthTokensRevoked: false },
    });
    return count;
  });
  // Also end sessions created during the transaction.
  await database.transaction(endOthers);
  return ended;
}
