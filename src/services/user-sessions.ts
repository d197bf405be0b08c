/** Ends what a user is signed in with, while he stays active. */
import { endBrowserSessions, endOAuthTokens } from '../store/account-state.ts';
import type { Executor } from '../store/database.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { lockChangeableUser, userTarget } from './user-reach.ts';

/**
 * Ends the user's browser sessions on all servers.
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
