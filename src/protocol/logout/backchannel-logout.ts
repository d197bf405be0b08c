/**
 * Notifies an application that a browser session of its user has ended (OpenID Connect Back-Channel Logout 1.0 sections 2.4, 2.5 and 2.8). Recipients
 * are recorded when the session ends (protocol/storage/protocol-state.store.ts). The logout token is created on delivery, so that it is fresh.
 */
import { z } from 'zod';
import { type Carrier, Undeliverable } from '../../features/outbox/outbox.service.ts';
import type { Outbound } from '../../platform/http/outbound.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';
import type { BuiltServer } from '../servers/provider.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const note = z.object({ serverId: z.string(), clientId: z.string(), userId: z.string(), sid: z.string() });
type Note = Readonly<z.infer<typeof note>>;
type Client = NonNullable<Awaited<ReturnType<BuiltServer['provider']['Client']['find']>>>;

/** Signed like the application's ID tokens, with the current key; valid for two minutes. */
async function logoutToken({ provider, subjects }: BuiltServer, client: Client, { userId, sid }: Note): Promise<string> {
  const token = new provider.IdToken({}, { client });
  token.set('sub', await subjects.of(client, userId));
  token.set('jti', crypto.randomUUID());
  token.set('events', { [EVENT]: {} });
  // An application whose ID tokens have no sid cannot find the session by it. Without a sid, all sessions of the user are meant (section 2.4).
  if (client.includeSid()) token.set('sid', sid);
  return token.issue({ use: 'logout' });
}

export function backchannelLogout(servers: AuthorizationServers, outbound: Outbound): Carrier {
  return {
    async deliver(payload) {
      const ended = note.parse(payload);
      const built = await servers.get(ended.serverId);
      const client = await built?.provider.Client.find(ended.clientId);
      if (built === undefined || client?.backchannelLogoutUri === undefined) return 'dropped';

      const body = new URLSearchParams({ logout_token: await logoutToken(built, client, ended) });
      const response = await outbound(client.backchannelLogoutUri, { method: 'POST', body });
      await response.body?.cancel();
      if (response.status === 200 || response.status === 204) return 'delivered';
      const reason = `the application answered ${response.status}`;
      throw response.status === 400 ? new Undeliverable(reason) : new Error(reason);
    },
    givenUp(payload) {
      const { serverId, clientId } = note.parse(payload);
      return {
        eventType: 'app.oauth2.backchannel_logout',
        displayMessage: 'Notify application of the end of a session',
        targets: [
          { id: clientId, type: 'AppInstance', displayName: clientId },
          { id: serverId, type: 'AuthorizationServer', displayName: serverId },
        ],
      };
    },
  };
}
