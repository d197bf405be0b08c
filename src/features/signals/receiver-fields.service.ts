/** Schemas of requests and responses at the Shared Signals Framework 1.0 endpoints. */
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable, text } from '../../platform/validation/text.ts';
import { BUILT_IN, issuerOf } from '../authorization-servers/server-id.policy.ts';
import { receiverDelivery, requestedEvents, streamDescription } from './signal-fields.service.ts';
import { MOST_SETS } from './signal-poll.service.ts';
import type { SignalStream } from './signal-streams.resource.ts';
import { pollAddress, type StreamInput, VERIFICATION_INTERVAL } from './signal-streams.service.ts';
import { SIGNAL_TYPES } from './signals.policy.ts';

/** Delivery methods. */
export const PUSH = 'urn:ietf:rfc:8935';
export const POLL = 'urn:ietf:rfc:8936';
const MOST_ACKS = 1000;

const streamId = text({ least: 1 });
/** Unknown streams are treated like those of others: neither is found. */
export const streamQuery = z.object({ stream_id: streamId });
export const givenStream = z.object({
  description: streamDescription.optional(),
  events_requested: requestedEvents.optional(),
  delivery: receiverDelivery.optional(),
});
/** Fields set by the transmitter; receivers may send them back unchanged. */
export const SUPPLIED = ['iss', 'aud', 'events_supported', 'events_delivered', 'min_verification_interval'] as const;
export const changedStream = givenStream.extend({
  stream_id: streamId,
  ...Object.fromEntries(SUPPLIED.map((name) => [name, z.unknown().optional()])),
});

export const receivedDelivery = (delivery: z.output<typeof receiverDelivery> | undefined): StreamInput['delivery'] =>
  delivery?.method === PUSH
    ? {
        method: 'PUSH',
        endpointUrl: delivery.endpoint_url,
        ...(delivery.authorization_header !== undefined && { authorizationHeader: delivery.authorization_header }),
      }
    : { method: 'POLL' };

/** SSF 1.0 section 8.1.1. */
export function configurationOf({ config }: Services, stream: SignalStream) {
  return {
    stream_id: stream.id,
    iss: issuerOf(config.baseUrl, BUILT_IN),
    aud: stream.applicationId,
    events_supported: [...SIGNAL_TYPES],
    events_requested: [...stream.eventsRequested],
    events_delivered: [...stream.events],
    delivery:
      stream.method === 'PUSH'
        ? { method: PUSH, endpoint_url: stream.endpointUrl }
        : { method: POLL, endpoint_url: pollAddress(config, stream.id) },
    min_verification_interval: VERIFICATION_INTERVAL,
    ...(stream.description !== '' && { description: stream.description }),
  };
}

export const streamStatusOf = ({ id, status, statusReason }: SignalStream) => ({
  stream_id: id,
  status: status.toLowerCase(),
  ...(statusReason !== null && { reason: statusReason }),
});

export const wantedStatus = z.object({
  stream_id: streamId,
  status: z.enum(['enabled', 'paused', 'disabled']),
  reason: text({ least: 1, most: 255 }).optional(),
});

export const verificationRequest = z.object({
  stream_id: streamId,
  state: z.string().max(1024).refine(isPrintable, 'must not contain control characters').optional(),
});

/** SSF 1.0 section 8.1.3: a user by the receiver's `sub`, as in `sub_id` of events. */
const subject = z.object({
  format: z.literal('iss_sub'),
  iss: text({ least: 1, most: 2048 }),
  sub: text({ least: 1, most: 255 }),
});
export const addedSubject = z.object({ stream_id: streamId, subject, verified: z.boolean().optional() });
export const removedSubject = z.object({ stream_id: streamId, subject });

const jti = z.string().min(1).max(200).refine(isPrintable, 'must not contain control characters');
/** RFC 8936 section 2.2. */
export const pollBody = z.object({
  maxEvents: z.int().min(0).default(MOST_SETS),
  returnImmediately: z.boolean().default(false),
  ack: z.array(jti).max(MOST_ACKS).default([]),
  setErrs: z
    .record(jti, z.object({ err: z.string().regex(/^\w{1,60}$/, 'must be an error code, e.g. invalid_request') }))
    .refine((errors) => Object.keys(errors).length <= MOST_SETS, `must have at most ${MOST_SETS} entries`)
    .default({}),
});
