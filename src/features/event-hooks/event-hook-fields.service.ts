/**
 * What the fields of an event hook may be. The address is as guarded as any other that the service calls; headers are those of HTTP (RFC 9110 section
 * 5), but none that the delivery sets itself.
 */
import { z } from 'zod';
import { text } from '../../platform/validation/text.ts';
import { calledUri } from '../applications/application-settings.service.ts';
import { HOOK_EVENT_TYPES } from '../audit/event-types.policy.ts';

const OWN_HEADERS =
  /^(accept-encoding|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*|x-(gatehouse|okta)-verification-challenge)$/i;

const key = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')
  .refine((name) => !OWN_HEADERS.test(name), 'is a header that is set already');

const value = z
  .string()
  .max(4096)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII, without spaces around it')
  .meta({ description: 'Never shown; absent in a change: stays as it is, as long as the host of the uri does' });

const header = z.strictObject({ key, value: value.exactOptional() });

export const eventHookFields = {
  name: text({ least: 1 }),
  description: text({ most: 1024 }).nullable().exactOptional(),
  events: z.strictObject({
    type: z.literal('EVENT_TYPE'),
    /** Okta's has an expression here; ignored, it would let pass what its owner keeps out. */
    filter: z.null('must be null: hooks are told of all events of their types').exactOptional(),
    items: z
      .array(z.enum(HOOK_EVENT_TYPES, { error: 'is not a type of event that hooks are told of' }))
      .min(1)
      .max(HOOK_EVENT_TYPES.length),
  }),
  channel: z.strictObject({
    type: z.literal('HTTP'),
    version: z.literal('1.0.0'),
    config: z.strictObject({
      uri: calledUri,
      method: z.literal('POST').exactOptional(),
      headers: z
        .array(header)
        .max(20)
        .refine((headers) => new Set(headers.map((one) => one.key.toLowerCase())).size === headers.length, 'must not name a header twice')
        .exactOptional(),
      authScheme: z
        .strictObject({ type: z.literal('HEADER'), key, value: value.exactOptional() })
        .nullable()
        .exactOptional(),
    }),
  }),
};

/** A header as it is given; without a value where the one before is to stay. */
export type GivenHeader = z.output<typeof header>;

const hookBody = z.strictObject(eventHookFields);

/** A body as the service takes it. */
export const eventHookInput = ({ name, description, events, channel: { config } }: z.output<typeof hookBody>) => ({
  name,
  description: description ?? '',
  eventTypes: events.items,
  uri: config.uri,
  headers: config.headers ?? [],
  authScheme: config.authScheme ?? undefined,
});
