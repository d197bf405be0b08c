/**
 * The scope of a client credentials token (RFC 6749 sections 3.3 and 4.4.2): oidc-provider would drop unknown scopes in silence, grant openid, and
 * give nothing where nothing is asked for.
 */

import { clientCredentialsScopes } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { words } from '../authorize/scope.ts';
import { errors } from '../library/oidc-provider.ts';

/**
 * @param requested the parameter as it came, with the unknown scopes that the library takes out
 * @returns what is granted: where nothing was requested, the server's default scopes as far as an application may have them
 * @throws {errors.InvalidScope} unknown, about a user, or in need of a user's consent
 */
export function clientCredentialsScope(requested: unknown, scopes: readonly Scope[]): string {
  const { granted, refused } = clientCredentialsScopes(words(requested), scopes);
  if (refused.length > 0) {
    throw new errors.InvalidScope('a requested scope is unknown or cannot be granted to an application by itself', refused.join(' '));
  }
  return granted.join(' ');
}
