/** `sid`: the identifier of a browser session for one application (OpenID Connect Back-Channel Logout 1.0 section 2.1). */

import { digest } from '../../platform/crypto/secrets.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

/**
 * Assigns the session ID (`sid`) for the client, if there is none. Derived, not random: concurrent first authorizations get the same one. The
 * session's uid is secret, so one sid reveals nothing about another.
 */
export function nameSession({ session, client }: KoaContextWithOIDC['oidc'], serverKey: number): void {
  if (session === undefined || client === undefined || session.sidFor(client.clientId) !== undefined) return;
  session.sidFor(client.clientId, digest(JSON.stringify(['sid', session.uid, serverKey, client.clientId])));
}
