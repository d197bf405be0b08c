/** The body of a delivery: the event as `logs` shows it, in the envelope of Okta's event hooks, so that receivers made for it find what they know. */
import type { StoredEvent } from '../audit/events.resource.ts';
import { describeEvent, logEvent } from '../audit/log-events.service.ts';
import type { EventHook } from './event-hooks.resource.ts';

/** The same whenever it is made, as long as nothing is erased from the event. @returns JSON */
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
