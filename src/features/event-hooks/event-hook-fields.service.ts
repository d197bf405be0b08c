/** Schemas of event hook fields. */
import { z } from 'zod';
import { text } from '../../platform/validation/text.ts';
import { HOOK_EVENT_TYPES } from '../audit/event-types.policy.ts';
import { givenChannel, hookChannel } from './hook-channel.service.ts';

export const eventHookFields = {
  name: text({ least: 1 }),
  description: text({ most: 1024 }).nullable().exactOptional(),
  events: z.strictObject({
    type: z.literal('EVENT_TYPE'),
    /** Okta's has an expression here; ignored, it would let pass what its owner keeps out. */
    filter: z.null('must be null: hooks receive all events of their types').exactOptional(),
    items: z
      .array(z.enum(HOOK_EVENT_TYPES, { error: 'is not an event type that hooks can receive' }))
      .min(1)
      .max(HOOK_EVENT_TYPES.length),
  }),
  channel: hookChannel,
};

const hookBody = z.strictObject(eventHookFields);

/** A body as the service takes it. */
export const eventHookInput = ({ name, description, events, channel }: z.output<typeof hookBody>) => ({
  name,
  description: description ?? '',
  eventTypes: events.items,
  ...givenChannel(channel),
});
