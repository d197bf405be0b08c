/**
 * Authorization request to an external provider: the parameters that come from its settings and the application's request (OpenID Connect Core 1.0
 * section 3.1.2.1). State, nonce, PKCE and the redirect URI are added elsewhere.
 */
import { spaceSeparated } from '../scopes/granted-scopes.policy.ts';
import type { IdentityProviderSettings, IdentityProviderType } from './identity-provider.policy.ts';

/** Parts of the application's request that are passed to the provider. */
export interface UpstreamRequestOptions {
  readonly loginHint?: string | undefined;
  readonly display?: string | undefined;
  readonly uiLocales?: string | undefined;
  /** `idp_scope`: space-separated scopes in addition to the provider's own. */
  readonly idpScope?: string | undefined;
  /** Maximum age of an authentication in seconds; 0: require a new one. Absent: any. */
  readonly maxAge?: number | undefined;
}

/**
 * Can the provider be asked to authenticate the user again? Google refuses `prompt=login` and GitHub has no equivalent: they cannot be used if the
 * application requires a new authentication (OpenID Connect Core 1.0 section 3.1.2.1, prompt).
 */
export const canReauthenticate = (type: IdentityProviderType): boolean => type === 'OIDC' || type === 'MICROSOFT';

export function upstreamParameters({ type, protocol }: IdentityProviderSettings, options: UpstreamRequestOptions): Record<string, string> {
  const scopes = new Set([...protocol.scopes, ...spaceSeparated(options.idpScope)]);
  const hint = options.loginHint;
  return present({
    ...protocol.settings.authorizationParameters,
    scope: [...scopes].join(' '),
    ...(type === 'GITHUB'
      ? // "Authorizing OAuth apps": the suggested account.
        { ...(hint !== undefined && { login: hint }) }
      : {
          ...(hint !== undefined && { login_hint: hint }),
          ...(options.display !== undefined && { display: options.display }),
          ...(options.uiLocales !== undefined && { ui_locales: options.uiLocales }),
        }),
    ...(options.maxAge !== undefined && canReauthenticate(type) && { max_age: String(options.maxAge) }),
    ...(options.maxAge === 0 && canReauthenticate(type) && { prompt: 'login' }),
  });
}

const present = (values: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''));

/** Allowed characters of a scope (RFC 6749 section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
export const areScopes = (words: string): boolean => words.split(' ').every((word) => word === '' || SCOPE.test(word));

/**
 * @param authenticatedAt time of the authentication, if known
 * @param longest absolute maximum age in seconds
 * @param skew tolerated clock difference in seconds
 */
export function isFreshResponse(
  authenticatedAt: number | undefined,
  { begun, maxAge, longest, skew }: { begun: number; maxAge: number | undefined; longest: number; skew: number },
): boolean {
  return authenticatedAt === undefined || authenticatedAt >= begun - Math.min(maxAge ?? longest, longest) - skew;
}
