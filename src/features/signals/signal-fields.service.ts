/** Schemas of signal streams for the management API and the receiver endpoints. */
import { z } from 'zod';
import { text } from '../../platform/validation/text.ts';
import { calledUri } from '../applications/application-settings.service.ts';
import { SIGNAL_TYPES } from './signals.policy.ts';

/** Syntax of `Authorization` (RFC 9110 section 11.6.2). */
const authorizationHeader = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII without spaces at the start or end');

export const streamDescription = text({ most: 1024 });

/** Unknown event types are stored, because a receiver may request them (SSF 1.0 section 8.1.1). */
export const requestedEvents = z.array(text({ least: 1, most: 255 })).max(50);

/** Delivery as requested by a receiver; the transmitter sets the address for polling. */
export const receiverDelivery = z.discriminatedUnion('method', [
  z.object({ method: z.literal('urn:ietf:rfc:8935'), endpoint_url: calledUri, authorization_header: authorizationHeader.optional() }),
  z.object({ method: z.literal('urn:ietf:rfc:8936') }),
]);

const push = z.strictObject({
  method: z.literal('PUSH'),
  endpointUrl: calledUri.meta({ description: 'Events are posted to it, one a request (RFC 8935)' }),
  authorizationHeader: authorizationHeader.nullable().exactOptional().meta({
    description:
      'Sent as the header Authorization. Never shown; absent in a change: stays as long as the host of endpointUrl does; null: none',
  }),
});

export const streamSettings = {
  description: streamDescription.exactOptional(),
  events: z.array(z.enum(SIGNAL_TYPES)).min(1).max(SIGNAL_TYPES.length),
  delivery: z.discriminatedUnion('method', [push, z.strictObject({ method: z.literal('POLL') })]),
};

/** A stream as an administrator sets it. */
export const operatorStream = z.strictObject(streamSettings);

export type GivenDelivery = z.output<(typeof streamSettings)['delivery']>;
