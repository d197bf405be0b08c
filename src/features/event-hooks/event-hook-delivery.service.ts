/**
 * Tells event hooks what happened: the event as `logs` shows it, in the envelope of Okta's event hooks, signed as Standard Webhooks 1.0 says. The id
 * of a message is the same at every attempt, so that a receiver knows what it has had. What was noted with the event (features/audit/audit.store.ts) refers to it:
 * it is read when it is sent.
 */
import { z } from 'zod';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findAuditEvent } from '../audit/audit.store.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { describeEvent, logEvent } from '../audit/log-events.service.ts';
import type { Carrier } from '../outbox/outbox.service.ts';
import { pauseBeforeNext } from './event-hook-retries.policy.ts';
import { openHeaders, signMessage } from './event-hook-secrets.service.ts';
import type { EventHook } from './event-hooks.resource.ts';
import type { OutboundCall } from './event-hooks.service.ts';
import { findEventHook } from './event-hooks.store.ts';

const note = z.object({ hookId: z.string(), eventId: z.string(), deliveryId: z.string() });

export function eventHookDelivery({ database, keyring, config }: Services, call: OutboundCall): Carrier {
  return {
    async deliver(payload) {
      const { hookId, eventId, deliveryId } = note.parse(payload);
      const hook = await findEventHook(database.knex, hookId);
      if (hook?.status !== 'ACTIVE') return 'dropped';
      // Its address has changed: the new one has to say that it wants to be told.
      if (hook.verificationStatus !== 'VERIFIED') throw new Error('the hook is not verified');
      const event = await findAuditEvent(database.knex, eventId);
      if (event === undefined) return 'dropped';

      const body = JSON.stringify(messageOf(event, hook, deliveryId, config.baseUrl));
      const timestamp = epochSeconds();
      const answer = await call(hook.channel.uri, {
        method: 'POST',
        headers: {
          ...openHeaders(keyring, hook),
          'content-type': 'application/json',
          'user-agent': 'Gatehouse',
          'webhook-id': deliveryId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signMessage(keyring, hook, deliveryId, timestamp, body),
        },
        body,
      });
      await answer.body?.cancel();
      if (answer.status >= 200 && answer.status <= 299) return 'delivered';
      if (answer.status === 410) return 'dropped';
      throw new Error(`the hook answered ${answer.status}`);
    },
    givenUp(payload) {
      const { hookId, eventId } = note.parse(payload);
      return {
        eventType: 'event_hook.delivery',
        displayMessage: 'Tell event hook of an event',
        targets: [
          { id: hookId, type: 'EventHook', displayName: hookId },
          { id: eventId, type: 'LogEvent', displayName: eventId },
        ],
      };
    },
    pauseAfter: (attempts, age) => pauseBeforeNext(attempts, age, Math.random()),
  };
}

/** As Okta's, so that receivers made for it find what they know. */
const messageOf = (event: StoredEvent, { id }: EventHook, deliveryId: string, baseUrl: string) => ({
  eventType: 'com.okta.event_hook',
  eventTypeVersion: '1.0',
  cloudEventsVersion: '0.1',
  source: `${baseUrl}/api/v1/eventHooks/${id}`,
  eventId: deliveryId,
  data: { events: [logEvent.parse(describeEvent(event))] },
  eventTime: event.published.toISOString(),
  contentType: 'application/json',
});
