/** `ssf/streams`: administration of the signal streams of all applications. Receivers have the endpoints of the Shared Signals Framework. */

import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { idParams, links, time, unlessEmpty, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { text } from '../../platform/validation/text.ts';
import { operatorStream, streamSettings } from './signal-fields.service.ts';
import { type SignalStream, STREAM_STATUSES, type StreamStatus } from './signal-streams.resource.ts';
import {
  createSignalStream,
  deleteSignalStream,
  getSignalStream,
  listSignalStreams,
  pollAddress,
  type StreamInput,
  setStreamStatus,
  updateSignalStream,
  verifySignalStream,
  waitingForStream,
} from './signal-streams.service.ts';
import { removedSubjectsOf } from './signal-subjects.service.ts';
import { SIGNAL_TYPES } from './signals.policy.ts';

const newStream = z.strictObject({ applicationId: text({ least: 1 }).meta({ description: 'The receiver' }), ...streamSettings });

const stream = z.object({
  id: z.string(),
  applicationId: z.string(),
  description: z.string().optional(),
  status: z.enum(STREAM_STATUSES),
  statusReason: z.string().nullable(),
  events: z.array(z.enum(SIGNAL_TYPES)),
  delivery: z.object({
    method: z.enum(['PUSH', 'POLL']),
    endpointUrl: z.url().meta({ description: 'Where events are pushed to, or polled' }),
    hasAuthorizationHeader: z.boolean().meta({ description: 'Is one sent? Its value is never shown' }),
  }),
  waiting: z
    .object({ count: z.int(), oldest: time.nullable(), nextAttempt: time.nullable() })
    .meta({ description: 'What is not delivered yet' }),
  removedSubjects: z
    .int()
    .meta({ description: 'The number of users that the receiver removed from the stream. It gets no events about them' }),
  lastDelivered: time.nullable(),
  lastFailed: time.nullable(),
  lastError: z.string().nullable().meta({ description: 'Of the last delivery that failed' }),
  created: time,
  lastUpdated: time,
  _links: links,
});

const inputOf = ({ description, events, delivery }: z.output<typeof operatorStream>): StreamInput => ({
  description: description ?? '',
  eventsRequested: events,
  delivery,
});

const changeStatus = (step: string, status: StreamStatus, summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/ssf/streams/:id/lifecycle/${step}`,
    access: 'service',
    summary,
    params: idParams,
    bodyOptional: true,
    body: z.strictObject({ reason: text({ least: 1, most: 255 }).meta({ description: 'Sent to the receiver' }) }).partial(),
    response: stream,
    handler: async ({ services, params, body: { reason = null }, request }) =>
      presented(services, await setStreamStatus(services, params.id, { status, reason, notify: true }, request)),
  });

export const signalStreamEndpoints: readonly Endpoint[] = [
  ...collection({
    path: '/ssf/streams',
    idParam: 'id',
    access: 'service',
    status: 200,
    summaries: {
      create: 'Create a signal stream: security events of all users, as signed tokens that an application polls, or that are pushed to it',
      list: 'List the signal streams, oldest first',
      read: 'Read a signal stream, with what waits and the last error',
      replace: 'Replace the settings of a signal stream; what waits is tried at once',
      remove: 'Delete a signal stream with what waits for it',
    },
    query: { applicationId: text({ least: 1 }).optional() },
    body: newStream,
    replacement: operatorStream,
    response: stream,
    create: ({ services, request }, { applicationId, ...rest }) => createSignalStream(services, applicationId, inputOf(rest), request),
    list: ({ services }, { applicationId, ...window }) => listSignalStreams(services, window, applicationId),
    read: ({ services }, id) => getSignalStream(services, id),
    replace: ({ services, request }, id, body) => updateSignalStream(services, id, inputOf(body), request),
    remove: ({ services, request }, id) => deleteSignalStream(services, id, request),
    present: (found, { services }) => presented(services, found),
  }),
  changeStatus('enable', 'ENABLED', 'Enable a signal stream; what waits is delivered at once'),
  changeStatus('pause', 'PAUSED', 'Pause a signal stream: its events wait, for at most seven days'),
  changeStatus('disable', 'DISABLED', 'Disable a signal stream: its events, and those that wait, are never delivered'),
  endpoint({
    method: 'POST',
    path: '/ssf/streams/:id/verify',
    access: 'service',
    summary: 'Send a verification event to the receiver',
    params: idParams,
    handler: ({ services, params, request }) => verifySignalStream(services, params.id, undefined, request),
  }),
];

async function presented(services: Services, found: SignalStream): Promise<z.input<typeof stream>> {
  const { count, oldest, due } = await waitingForStream(services, found);
  const self = `${services.config.baseUrl}/api/v1/ssf/streams/${found.id}`;
  return {
    id: found.id,
    applicationId: found.applicationId,
    description: unlessEmpty(found.description),
    status: found.status,
    statusReason: found.statusReason,
    events: [...found.events],
    delivery: {
      method: found.method,
      endpointUrl: found.endpointUrl ?? pollAddress(services.config, found.id),
      hasAuthorizationHeader: found.authorization !== null,
    },
    waiting: { count, oldest: writeTimeOrNull(oldest), nextAttempt: writeTimeOrNull(due) },
    removedSubjects: await removedSubjectsOf(services, found),
    lastDelivered: writeTimeOrNull(found.lastDelivered),
    lastFailed: writeTimeOrNull(found.lastFailed),
    lastError: found.lastError,
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    _links: { self: { href: self } },
  };
}
