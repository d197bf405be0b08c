/** `sid`: the name under which an application knows a browser session (OpenID Connect Back-Channel Logout 1.0 section 2.1). */

import { digest } from '../../platform/crypto/secrets.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

/**
 * Names the session for the client of the request, if it has no name yet. Derived, not drawn: of two first authorizations at once both give the
 * same. The session's uid is known to nobody outside, so no name tells of another.
 */
export function nameSession({ session, client }: KoaContextWithOIDC['oidc'], serverKey: number): void {
  if (session === undefined || client === undefined || session.sidFor(client.clientId) !== undefined) return;
  session.sidFor(client.clientId, digest(JSON.stringify(['sid', session.uid, serverKey, client.clientId])));
}
