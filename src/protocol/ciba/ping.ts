/**
 * Notifies an application that its user has answered its sign-in request (CIBA section 10.2). The statement that stores the answer also
 * queues the notification; its payload is sealed.
 */
import { z } from 'zod';
import { findApplication } from '../../features/applications/application-lists.service.ts';
import { pingContext } from '../../features/backchannel-requests/ping.policy.ts';
import { type Carrier, Undeliverable } from '../../features/outbox/outbox.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Outbound } from '../../platform/http/outbound.ts';

/** `until`: when the request expires, in epoch seconds. */
const note = z.object({ id: z.string(), clientId: z.string(), sealed: z.string(), until: z.number() });
const content = z.object({ id: z.string(), token: z.string() });

export function backchannelPings({ database, keyring }: Pick<Services, 'database' | 'keyring'>, outbound: Outbound): Carrier {
  return {
    async deliver(payload) {
      const { id: key, clientId, sealed, until } = note.parse(payload);
      const application = await findApplication(database, clientId);
      const address = application?.settings.backchannel_client_notification_endpoint;
      if (address === undefined || application?.status !== 'ACTIVE' || until <= epochSeconds()) return 'dropped';
      const { id, token } = content.parse(JSON.parse(keyring.open(sealed, pingContext(key))));
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await outbound(address, { method: 'POST', headers, body: JSON.stringify({ auth_req_id: id }) });
      await response.body?.cancel();
      if (response.status === 200 || response.status === 204) return 'delivered';
      const reason = `the application answered ${response.status}`;
      // The application does not recognize the request or its token, so a retry would not help, unless it is only busy.
      throw response.status >= 400 && response.status < 500 && ![408, 429].includes(response.status)
        ? new Undeliverable(reason)
        : new Error(reason);
    },
    givenUp(payload) {
      const { clientId } = note.parse(payload);
      return {
        eventType: 'app.oauth2.as.backchannel.notify',
        displayMessage: 'Notify application of the answer to its sign-in request',
        targets: [{ id: clientId, type: 'AppInstance', displayName: clientId }],
      };
    },
  };
}
