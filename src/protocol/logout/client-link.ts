/**
 * The link back to an application from a page that cannot continue: name and home page of its registration (OpenID Connect Dynamic Client
 * Registration 1.0 section 2), or its initiate-login URI (OpenID Connect Core 1.0 section 4).
 */
import type { Client, Provider } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';

export interface ClientLink {
  readonly label: string;
  readonly clientUri: string | undefined;
}

/** Third-party initiated sign-in requires `iss`. */
function initiation(uri: string, issuer: string): string {
  const url = new URL(uri);
  url.searchParams.set('iss', issuer);
  return url.href;
}

export const clientLinkOf = (client: Client, issuer: string): ClientLink => ({
  label: clientSettings(client).label,
  clientUri: client.clientUri ?? (client.initiateLoginUri === undefined ? undefined : initiation(client.initiateLoginUri, issuer)),
});

/** The authorization servers by their ids. */
interface Servers {
  get(serverId: string): Promise<{ readonly issuer: string; readonly provider: Provider } | undefined>;
}

/** @returns undefined if the server or application does not exist or is inactive */
export async function findClientLink(servers: Servers, serverId: string, clientId: string): Promise<ClientLink | undefined> {
  const built = await servers.get(serverId);
  const client = await built?.provider.Client.find(clientId);
  return built === undefined || client === undefined ? undefined : clientLinkOf(client, built.issuer);
}
