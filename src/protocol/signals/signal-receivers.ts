/** Signal receivers: applications with an access token of the built-in authorization server, issued to themselves. */
import { isForServer } from '../../features/authorization-servers/audience.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { findOwnToken } from '../introspection/short-path.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { bearerToken } from '../servers/credentials.ts';

/** @returns a function that finds the user with a `sub` at an application; it returns undefined if there is none */
export const signalSubjects =
  (servers: Pick<AuthorizationServers, 'builtIn'>) =>
  async (applicationId: string, sub: string): Promise<string | undefined> => {
    const { provider, subjects } = await servers.builtIn();
    const client = await provider.Client.find(applicationId);
    return client === undefined ? undefined : subjects.userOf(client, sub);
  };

/** @returns finds the receiver by the Authorization header; undefined: it has no such token (RFC 6750), or one for another API */
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
