/**
 * The `sessionToken` parameter: transfers a sign-in made at `POST /api/v1/authn` into the browser, without a page. It satisfies
 * prompt=login. The value is consumed here and not passed on.
 */

import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { useSessionToken } from '../../features/sessions/session-tokens.service.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { setProvider } from '../servers/session-device.ts';
import type { ServerState } from '../storage/server-state.ts';

/**
 * Uses the token and signs its user in; with an invalid token the user must sign in, regardless of an existing session.
 * @throws {errors.LoginRequired} if the request allows no page
 */
export async function signInBySessionToken(
  ctx: KoaContextWithOIDC,
  state: ServerState,
  endSession: ProviderParts['endSession'],
): Promise<void> {
  const { params } = ctx.oidc;
  const value = params?.sessionToken;
  if (params === undefined || typeof value !== 'string') return;
  params.sessionToken = undefined;
  const prompts = spaceSeparated(params.prompt);
  const token = await state.read((pool) => useSessionToken(pool, value));
  if (token === undefined) {
    if (prompts.includes('none'))
      throw new errors.LoginRequired('the sessionToken is unknown, was already used, or has expired. Sign the user in again');
    params.prompt = [...new Set([...prompts, 'login'])].join(' ');
    return;
  }
  params.prompt = prompts.filter((prompt) => prompt !== 'login').join(' ') || undefined;
  await beginSession(ctx, token.userId, (session) => state.read(() => endSession(session, ctx.req)));
  if (ctx.oidc.session !== undefined) setProvider(ctx.oidc.session, undefined);
  ctx.oidc.session?.loginAccount({ accountId: token.userId, loginTs: token.authenticatedAt, amr: [...token.amr] });
}

/** An existing session of the same user continues under a new ID; another user's ends like by a logout (session fixation). */
async function beginSession(
  { oidc: { session } }: KoaContextWithOIDC,
  userId: string,
  end: (session: { readonly uid: string; readonly userId: string }) => Promise<void>,
): Promise<void> {
  if (session === undefined) return;
  if (session.accountId !== undefined && session.accountId !== userId) {
    await end({ uid: session.uid, userId: session.accountId });
    session.uid = randomToken();
    session.authorizations = {};
  }
  session.resetIdentifier();
}
