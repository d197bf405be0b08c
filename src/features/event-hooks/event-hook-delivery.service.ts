/**
 * Delivers events to event hooks, as shown by `logs`, in the envelope of Okta's event hooks, signed according to Standard Webhooks 1.0. The message
 * ID is the same for every attempt, so that receivers can detect duplicates. The outbox entry (features/audit/audit.store.ts) refers to the event,
 * which is read on delivery.
 */

import { z } from 'zod';
import { epochSeconds, present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findAuditEvent } from '../audit/audit.store.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { describeEvent, logEvent } from '../audit/log-events.service.ts';
import { type Carrier, reasonOf } from '../outbox/outbox.service.ts';
import { pauseBeforeNext } from './event-hook-retries.policy.ts';
import type { Delivery, EventHook } from './event-hooks.resource.ts';
import type { OutboundCall } from './event-hooks.service.ts';
import { findEventHook, noteDelivery } from './event-hooks.store.ts';
import { openHeaders, signMessage } from './hook-secrets.service.ts';

// The body of a delivery: the event as shown by `logs`, in the envelope of Okta's event hooks, for compatible receivers.

/** Always the same, unless data of the event is erased. @returns JSON */
export const eventHookMessage = (event: StoredEvent, { id }: EventHook, deliveryId: string, baseUrl: string): string =>
  JSON.stringify({
    eventType: 'com.okta.event_hook',
    eventTypeVersion: '1.0',
    cloudEventsVersion: '0.1',
    source: `${baseUrl}/api/v1/eventHooks/${id}`,
    eventId: deliveryId,
    data: { events: [logEvent.parse(describeEvent(event))] },
    eventTime: event.published.toISOString(),
    contentType: 'application/json',
  });

const notice = z.object({ hookId: z.string(), eventId: z.string(), deliveryId: z.string() });

export function eventHookDelivery({ database, keyring, config, log }: Services, call: OutboundCall): Carrier {
  return {
    async deliver(payload) {
      const { hookId, eventId, deliveryId } = notice.parse(payload);
      const hook = await findEventHook(database.knex, hookId);
      if (hook?.status !== 'ACTIVE') return 'dropped';
      // The address has changed: it must be verified first.
      if (hook.verificationStatus !== 'VERIFIED') throw new Error('the hook is not verified');
      const event = await findAuditEvent(database.knex, eventId);
      if (event === undefined) return 'dropped';

      const body = eventHookMessage(event, hook, deliveryId, config.baseUrl);
      const timestamp = epochSeconds();
      const begun = performance.now();
      const attempt = { hookId, id: deliveryId, eventId, eventType: event.eventType };
      const note = async (result: Pick<Delivery, 'status' | 'response' | 'error'>): Promise<void> => {
        try {
          const latency = Math.round(performance.now() - begun);
          await database.transaction((trx) => noteDelivery(trx, { ...attempt, lastAttempt: present(), latency, ...result }));
        } catch (error) {
          // The record is optional: the hook may have been deleted meanwhile.
          log.warn({ err: error, hookId }, 'could not record a delivery of an event hook');
        }
      };
      let response: Awaited<ReturnType<OutboundCall>>;
      try {
        response = await call(hook.channel.uri, {
          method: 'POST',
          headers: {
            ...openHeaders(keyring, 'event_hook', hook),
            'content-type': 'application/json',
            'user-agent': 'Gatehouse',
            'webhook-id': deliveryId,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signMessage(keyring, 'event_hook', hook, deliveryId, timestamp, body),
          },
          body,
        });
      } catch (error) {
        await note({ status: null, response: '', error: reasonOf(error) });
        throw error;
      }
      const { status } = response;
      await note({ status, response: await firstBytes(response.body), error: null });
      if (status >= 200 && status <= 299) return 'delivered';
      if (status === 410) return 'dropped';
      throw new Error(`the hook answered ${status}`);
    },
    givenUp(payload) {
      const { hookId, eventId } = notice.parse(payload);
      return {
        eventType: 'event_hook.delivery',
        displayMessage: 'Notify event hook of an event',
        targets: [
          { id: hookId, type: 'EventHook', displayName: hookId },
          { id: eventId, type: 'LogEvent', displayName: eventId },
        ],
      };
    },
    pauseAfter: (attempts, age) => pauseBeforeNext(attempts, age, Math.random()),
  };
}

const MOST_BYTES = 1024;

/** The first kilobyte of a response, without control characters; only what arrives within a second. */
async function firstBytes(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const late = setTimeout(() => void reader.cancel().catch(() => undefined), timings.optional);
  const chunks: Uint8Array[] = [];
  try {
    for (let size = 0; size < MOST_BYTES; ) {
      const { value } = await reader.read();
      if (value === undefined) break;
      chunks.push(value);
      size += value.length;
    }
  } catch {
    // Report the part that was received before the error.
  } finally {
    clearTimeout(late);
    await reader.cancel().catch(() => undefined);
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MOST_BYTES));
  return text.replaceAll(/[^\P{Cc}\t\n\r]/gu, '\ufffd');
}
