/** Ends what a user is signed in with, while he stays active. */
import { endBrowserSession, endBrowserSessions, endOAuthTokens } from '../store/account-state.ts';
import type { Executor } from '../store/database.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { lockChangeableUser, userTarget } from './user-reach.ts';

/**
 * Ends the user's browser sessions on all servers, and his sign-ins under way.
 * @param also.oauthTokens end the tokens of all applications, too
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
  // What was being written meanwhile.
  await end(services.database.knex, id);
}

/**
 * Ends the session of the browser that asks for it, on all servers; its tokens live on. One that has ended already is not ended again.
 * @param session.uid as src/oauth knows it
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
