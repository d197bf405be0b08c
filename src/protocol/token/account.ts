/**
 * The user of a token or session for oidc-provider (`findAccount`), read from the database at every use, so that deactivation takes effect
 * immediately. Userinfo gets all claims, ID tokens the application's selection.
 */

import { idTokenClaims, USER_CLAIMS, USERINFO_SCOPES, userClaims } from '../../features/claims/claims.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Configuration } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { Account } from '../storage/protocol-state.store.ts';
import { currentRequest } from '../storage/request-state.ts';
import type { ServerClaims } from './server-claims.ts';

/**
 * oidc-provider's `claims`: the maximum that a scope reveals; `claims()` below selects.
 * @param own names of the server's custom claims
 */
export const claimsByScope = (own: readonly string[]): Record<string, string[]> => ({
  ...Object.fromEntries(USERINFO_SCOPES.map((scope) => [scope, [...USER_CLAIMS, ...own]])),
  // Every ID token contains how and when the user authenticated, not only on request.
  openid: [...USER_CLAIMS, ...own, 'auth_time', 'amr', 'acr'],
});

/** A user who can sign in and hold tokens. */
export const isActive = (account: Pick<Account, 'status'>): boolean => account.status === 'ACTIVE';

/**
 * @param load reads a user who was not loaded with a token or session of the request
 * @param own the server's custom claims
 */
export function findAccount(
  load: (id: string) => Promise<Account | undefined>,
  own: ServerClaims,
): NonNullable<Configuration['findAccount']> {
  return async (ctx, sub) => {
    const account = currentRequest()?.accounts.get(sub) ?? (await load(sub));
    if (account === undefined || !isActive(account)) return undefined;
    return {
      accountId: account.id,
      async claims(use, scope, asked) {
        const all = userClaims(account);
        if (use !== 'id_token' || ctx.oidc.client === undefined)
          return {
            ...(await own.forUserinfo(account, all, { scope, clientId: ctx.oidc.client?.clientId, grantId: ctx.oidc.entities.Grant?.jti })),
            sub: account.id,
          };
        const chosen = clientSettings(ctx.oidc.client).idTokenClaims;
        const requested = Object.keys(asked);
        const held = idTokenClaims(chosen, spaceSeparated(scope), requested);
        const standard = Object.fromEntries(Object.entries(all).filter(([name]) => held.includes(name)));
        return { ...(await own.forIdToken(ctx, account, standard, scope, chosen, requested)), sub: account.id };
      },
    };
  };
}
