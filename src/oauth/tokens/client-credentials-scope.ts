/**
 * The scope of a client credentials token (RFC 6749 sections 3.3 and 4.4.2): oidc-provider would drop unknown scopes in silence, grant openid, and
 * give nothing where nothing is asked for.
 */
import { errors } from 'oidc-provider';
import type { Scope } from '../../store/authorization-servers.ts';
import { words } from '../authorize/scope.ts';

/** They speak of a user, and here there is none. */
const OF_USERS: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/**
 * @param requested the parameter as it came, with the unknown scopes that the library takes out
 * @returns what is granted: where nothing was requested, the server's default scopes as far as an application may have them
 * @throws {errors.InvalidScope} unknown, about a user, or in need of a user's consent
 */
export function clientCredentialsScope(requested: unknown, scopes: readonly Scope[]): string {
  const grantable = scopes.filter(({ name, consent }) => consent !== 'REQUIRED' && !OF_USERS.has(name));
  const names = new Set(grantable.map(({ name }) => name));
  const asked = [...new Set(words(requested))];
  const refused = asked.filter((scope) => !names.has(scope));
  if (refused.length > 0) {
    throw new errors.InvalidScope('a requested scope is unknown or cannot be granted to an application by itself', refused.join(' '));
  }
  return (asked.length > 0 ? asked : grantable.filter(({ isDefault }) => isDefault).map(({ name }) => name)).join(' ');
}
