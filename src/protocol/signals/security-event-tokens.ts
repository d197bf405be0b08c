/**
 * Security event tokens (RFC 8417) as the Shared Signals Framework 1.0 profiles them: of the built-in authorization server, signed by the key that signs its other tokens.
 * Explicitly typed, and without `sub` and `exp`, so that none passes for another kind of token (SSF 1.0 section 4).
 */
import { SignJWT } from 'jose';
import type { SignSecurityEvent } from '../../features/signals/signal-delivery.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';

/** Users have the `sub` that the receiver knows from its own tokens. */
export const signSecurityEvents =
  (servers: Pick<AuthorizationServers, 'builtIn'>): SignSecurityEvent =>
  async ({ id, applicationId }, { jti, txn, type, claims, userId }) => {
    const { provider, issuer, subjects, signer } = await servers.builtIn();
    const client = await provider.Client.find(applicationId);
    if (client === undefined) return undefined;
    if (signer === undefined) throw new Error('the built-in authorization server has no key');
    const sub_id =
      userId === undefined ? { format: 'opaque', id } : { format: 'iss_sub', iss: issuer, sub: await subjects.of(client, userId) };
    const { alg = '', kid = '', privateKey } = signer;
    return new SignJWT({ iss: issuer, aud: applicationId, iat: epochSeconds(), jti, txn, sub_id, events: { [type]: claims } })
      .setProtectedHeader({ alg, kid, typ: 'secevent+jwt' })
      .sign(privateKey);
  };
