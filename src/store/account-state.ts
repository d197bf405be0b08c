/**
 * Ends what a user holds: browser sessions, OAuth tokens, API tokens. A request under way may be writing another one, which only a later
 * statement sees: whoever ends them for a user that stays active ends them again after the commit.
 */
import type { ConsentKey } from './consents.ts';
import type { Executor } from './database.ts';
import { MODELS } from './protocol-state.ts';

/** Ends the user's browser sessions on all authorization servers; his tokens live on. */
export async function endBrowserSessions(executor: Executor, userId: string): Promise<void> {
  const sessions = () => executor('oidc_payload').where({ account_id: userId, model: MODELS.Session });
  // In the order in which a request that saves a session locks them.
  await executor('browser_session_clients').whereIn('session_uid', sessions().select('uid')).delete();
  await sessions().delete();
}

/** Ends the user's codes, access tokens and refresh tokens, of all applications and servers. */
export async function endOAuthTokens(executor: Executor, userId: string): Promise<void> {
  await executor('oidc_payload').where({ account_id: userId }).whereNot({ model: MODELS.Session }).delete();
}

/** Ends what one application holds for the user at one authorization server. */
export async function endTokensOfConsent(executor: Executor, { userId, applicationId, serverId }: ConsentKey): Promise<void> {
  const serverKey = executor('authorization_servers').where({ id: serverId }).select('key');
  await executor('oidc_payload').where({ account_id: userId, client_id: applicationId }).where('server_key', serverKey).delete();
}

/** Ends the API tokens that the user made. @returns how many there were */
export async function endApiTokens(executor: Executor, userId: string): Promise<number> {
  return executor('api_tokens').where({ user_id: userId }).delete();
}
