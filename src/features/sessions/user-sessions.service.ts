/** Sessions of a user: list and end them while the user stays active. */
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inPages, type Page, type Window } from '../../platform/database/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { endBrowserSession, endBrowserSessions, endOAuthTokens } from '../users/account-state.store.ts';
import { deletePendingAddress } from '../users/email-verifications.store.ts';
import { findCloselyVisibleUser, lockChangeableUser, userTarget } from '../users/user-reach.service.ts';
import { type BrowserSession, listBrowserSessions } from './browser-sessions.store.ts';

/** A session as shown: its ID is neither the cookie's value nor the internal key. */
export interface UserSession extends Omit<BrowserSession, 'uid'> {
  readonly id: string;
}

/** The external ID of a session: neither the cookie's value nor the internal ID. */
export const sessionId = (uid: string): string => digest(JSON.stringify(['session', uid]));

/**
 * Browser sessions of a user, newest first. They reveal whereabouts, so callers who see the user only as a member of one of several organizations get
 * none.
 * @throws {ApiError} not found, forbidden
 */
export async function listSessions(
  services: Services,
  idOrLogin: string,
  window: Window,
  request: RequestContext,
): Promise<Page<UserSession>> {
  const { knex } = services.database;
  const { id } = await findCloselyVisibleUser(knex, idOrLogin, request);
  const sessions = await listBrowserSessions(knex, id, present());
  return inPages(
    sessions.map(({ uid, ...session }) => ({ id: sessionId(uid), ...session })),
    window,
  );
}

/** Ends one browser session on all servers; tokens remain valid. @throws {ApiError} not found, forbidden */
export async function endSession(services: Services, idOrLogin: string, id: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, request);
    const found = (await listBrowserSessions(trx, user.id, present())).find(({ uid }) => sessionId(uid) === id);
    if (found === undefined || !(await endBrowserSession(trx, found.uid))) throw notFound(id, 'Session');
    await deletePendingAddress(trx, user.id);
    await recordEvent(trx, {
      eventType: 'user.session.clear',
      displayMessage: 'End user session',
      request,
      targets: [userTarget(user)],
      before: { signedIn: found.signedIn, applications: found.applications },
      after: { oauthTokensRevoked: false },
    });
  });
}

/**
 * Ends the user's browser sessions on all servers, and their pending sign-ins.
 * @param also.oauthTokens also revoke the tokens of all applications
 * @throws {ApiError} not found, forbidden
 */
export async function clearSessions(
  services: Services,
  idOrLogin: string,
  { oauthTokens }: { readonly oauthTokens: boolean },
  request: RequestContext,
): Promise<void> {
  const end = async (executor: Executor, userId: string): Promise<void> => {
    await endBrowserSessions(executor, userId);
    if (oauthTokens) await endOAuthTokens(executor, userId);
  };
  const id = await services.database.transaction(async (trx) => {
    const user = await lockChangeableUser(trx, idOrLogin, request);
    await end(trx, user.id);
    await recordEvent(trx, {
      eventType: 'user.session.clear',
      displayMessage: 'Clear user sessions',
      request,
      targets: [userTarget(user)],
      after: { oauthTokensRevoked: oauthTokens },
    });
    return user.id;
  });
  // Also end sessions created during the transaction.
  await end(services.database.knex, id);
}

/**
 * Ends the calling browser's session on all servers; its tokens remain. An ended session is unchanged.
 * @param session.uid oidc-provider's ID
 */
export async function endOwnSession(
  { database }: Services,
  session: { readonly uid: string; readonly userId: string; readonly login: string },
  request: RequestContext,
): Promise<void> {
  const user = { id: session.userId, login: session.login };
  await database.transaction(async (trx) => {
    if (!(await endBrowserSession(trx, session.uid))) return;
    await recordEvent(trx, {
      eventType: 'user.session.end',
      displayMessage: 'User logout',
      request: { ...request, actor: { id: user.id, type: 'User', displayName: user.login } },
      targets: [userTarget(user)],
    });
  });
}
