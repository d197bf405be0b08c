/** Signal receivers: applications with an access token of the built-in authorization server, issued to themselves. */
import { SignJWT } from 'jose';
import { isForServer } from '../../features/authorization-servers/audience.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { SignSecurityEvent } from '../../features/signals/signal-delivery.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { findOwnToken } from '../introspection/short-path.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { bearerToken } from '../servers/credentials.ts';

// Security event tokens (RFC 8417) in the profile of the Shared Signals Framework 1.0: issued by the built-in authorization server and signed with
// its current key. They have a type, and no `sub` and `exp`, so that none can be used as another kind of token (SSF 1.0 section 4).

/** Users have the same `sub` as in the receiver's other tokens. */
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

/** @returns a function that finds the user with a `sub` at an application; it returns undefined if there is none */
export const signalSubjects =
  (servers: Pick<AuthorizationServers, 'builtIn'>) =>
  async (applicationId: string, sub: string): Promise<string | undefined> => {
    const { provider, subjects } = await servers.builtIn();
    const client = await provider.Client.find(applicationId);
    return client === undefined ? undefined : subjects.userOf(client, sub);
  };

/** @returns a function that finds the receiver by the Authorization header; undefined: no valid token (RFC 6750), or one for another API */
export const signalReceivers = (servers: Pick<AuthorizationServers, 'builtIn'>) => async (authorization: string) => {
  const presented = bearerToken(authorization);
  if (presented === undefined) return undefined;
  const { shortPath, provider, issuer, server } = await servers.builtIn();
  const found = await findOwnToken(shortPath, presented);
  if (found === undefined) return undefined;
  const { payload } = found;
  const client = await provider.Client.find(String(payload.clientId));
  const { aud } = (payload.extra ?? {}) as { readonly aud?: unknown };
  if (client === undefined || !isForServer(aud, { audience: server.audience, issuer })) return undefined;
  const { label, managesSignals } = clientSettings(client);
  return { applicationId: client.clientId, label, scopes: new Set(spaceSeparated(payload.scope)), mayManage: managesSignals };
};
