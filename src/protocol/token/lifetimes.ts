/** Lifetimes in seconds for oidc-provider, from the server's settings and config/defaults.ts. */

import { LIFETIMES } from '../../../config/defaults.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { endOfGrant, idleSeconds } from '../../features/organization-policy/organization-policy.policy.ts';
import type { TokenLifetimes } from '../../features/policies/access-policy.policy.ts';
import type { SignInSettings } from '../../features/settings/settings.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Configuration, KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { currentRequest } from '../storage/request-state.ts';
import type { AccessRules } from './access.ts';

/** oidc-provider requires positive lifetimes; expired values get one more second. */
const atLeastOne = (seconds: number): number => Math.max(1, Math.floor(seconds));

/**
 * Lifetimes of access tokens depend on their format (access-token-format.ts).
 * @param countUnanswered limits what unauthenticated senders can store
 */
export function lifetimes(
  server: AuthorizationServer,
  access: AccessRules,
  signIn: SignInSettings,
  countUnanswered: (ctx: KoaContextWithOIDC) => void,
): NonNullable<Configuration['ttl']> {
  return {
    AuthorizationCode: LIFETIMES.authorizationCode,
    DeviceCode: LIFETIMES.deviceCode,
    // CIBA section 7.1, `requested_expiry`.
    BackchannelAuthenticationRequest: (_ctx, { params }) =>
      Math.min(Number(params?.requested_expiry ?? LIFETIMES.signInRequest), LIFETIMES.longestSignInRequest),
    IdToken: LIFETIMES.idToken,
    // Never stored: a grant is derived from its token.
    Grant: server.refreshTokenSeconds,
    RefreshToken: (_ctx, token) => refreshTokenLifetime(access.lifetimesOf(token), token),
    Session(ctx, session) {
      if (session.accountId !== undefined) return sessionLifetime(signIn, session.loginTs);
      // Before a sign-in, only the page for device codes stores one. The library's types lack `new`.
      if ((session as { readonly new?: boolean }).new === true) countUnanswered(ctx);
      return LIFETIMES.interaction;
    },
  };
}

interface Refreshing {
  readonly grantId?: string | undefined;
  /** Epoch seconds of the family's first token. */
  readonly iiat?: number | undefined;
  /** Epoch seconds of the sign-in. */
  readonly authTime?: number | undefined;
}

/** Sliding, with an absolute maximum. The policy of the organization that the user signed in for can shorten both. */
export function refreshTokenLifetime(
  { refreshTokenSeconds, refreshTokenWindowSeconds }: TokenLifetimes,
  { grantId, iiat, authTime }: Refreshing,
): number {
  const policy = grantId === undefined ? undefined : currentRequest()?.organizationPolicies.get(grantId);
  const firstIssuedAt = iiat ?? epochSeconds();
  const end = Math.min(firstIssuedAt + refreshTokenSeconds, endOfGrant(policy, authTime ?? firstIssuedAt));
  return atLeastOne(Math.min(refreshTokenWindowSeconds, idleSeconds(policy), end - epochSeconds()));
}

/** Ends after the idle timeout, and at the latest the maximum lifetime after the sign-in. @param signedInAt epoch seconds */
export function sessionLifetime(signIn: SignInSettings, signedInAt: number | undefined): number {
  const absoluteEnd = (signedInAt ?? epochSeconds()) + longestSession(signIn);
  return atLeastOne(Math.min(signIn.sessionIdleMinutes * 60, absoluteEnd - epochSeconds()));
}

/** Maximum seconds from the sign-in. */
export const longestSession = ({ sessionLifetimeDays }: SignInSettings): number => sessionLifetimeDays * 86_400;
