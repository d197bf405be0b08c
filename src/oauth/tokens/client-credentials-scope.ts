/** The scope of a client credentials request (RFC 6749 section 4.4.2): oidc-provider would drop unknown scopes in silence and grant openid. */
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Scope } from '../../store/authorization-servers.ts';
import { words } from '../authorize/scope.ts';

/** They speak of a user, and here there is none. */
const OF_USERS: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/** @throws {errors.InvalidScope} unknown, about a user, or in need of a user's consent */
export function checkClientCredentialsScope(ctx: KoaContextWithOIDC, scopes: readonly Scope[]): void {
  const grantable = new Set(scopes.filter(({ name, consent }) => consent !== 'REQUIRED' && !OF_USERS.has(name)).map(({ name }) => name));
  // The body, for the library has taken unknown scopes out of its parameters by now.
  const refused = words(ctx.oidc.body?.scope).filter((scope) => !grantable.has(scope));
  if (refused.length > 0)
    throw new errors.InvalidScope('a requested scope is unknown or cannot be granted to an application by itself', refused.join(' '));
}
