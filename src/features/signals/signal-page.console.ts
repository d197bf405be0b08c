/** The page of a signal stream: its paths, status, form and lifecycle actions. */
import { applicationsIn } from '../../pages/console/candidates.ts';
import { affectedCount, confirmationPages } from '../../pages/console/confirmation-page.ts';
import { type Field, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Status, Typed } from '../../pages/console/page.ts';
import { pickField } from '../../pages/console/picker.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { operatorStream } from './signal-fields.service.ts';
import type { SignalStream, StreamStatus } from './signal-streams.resource.ts';
import { deleteSignalStream, getSignalStream, type StreamInput, setStreamStatus, verifySignalStream } from './signal-streams.service.ts';
import { SIGNAL_TYPES, type SignalType } from './signals.policy.ts';

export const STREAMS_PATH = '/admin/api/signal-streams';
export const STREAM_CRUMBS: readonly Crumb[] = [{ label: 'API' }, { label: 'Signal streams', href: STREAMS_PATH }];

export const streamPath = (id: string): string => `${STREAMS_PATH}/${encodeURIComponent(id)}`;
export const streamIn = ({ services, params }: ConsoleRequest): Promise<SignalStream> => getSignalStream(services, params.id ?? '');
export const streamName = ({ id, description }: SignalStream): string => (description === '' ? id : description);
export const streamCrumbs = (stream: SignalStream): readonly Crumb[] => [
  ...STREAM_CRUMBS,
  { label: verbatim(streamName(stream)), href: streamPath(stream.id) },
];

const STATUS_PIECES: Readonly<Record<StreamStatus, Status>> = {
  ENABLED: { text: 'Enabled', tone: 'good' },
  PAUSED: { text: 'Paused', tone: 'warning' },
  DISABLED: { text: 'Disabled', tone: 'plain' },
};
export const streamStatusPiece = ({ status }: SignalStream): Status => STATUS_PIECES[status];

/** Description of each event. */
export const SIGNAL_WORDS = {
  [SIGNAL_TYPES[0]]: 'Sessions were revoked',
  [SIGNAL_TYPES[1]]: 'A password or second factor changed',
  [SIGNAL_TYPES[2]]: 'The account was suspended or deactivated',
  [SIGNAL_TYPES[3]]: 'The account was deleted',
} as const satisfies Readonly<Record<SignalType, string>>;

export const METHODS = { PUSH: 'Pushed', POLL: 'Polled' } as const;

/** @param stream absent: a new one */
export async function streamFields(visit: ConsoleRequest, typed: Typed, stream?: SignalStream): Promise<readonly Field[]> {
  const receiver = {
    name: 'applicationId',
    label: 'Application',
    hint: 'The receiver. It learns of all users: choose one that you trust.',
  };
  return [
    ...(stream === undefined ? [await pickField(applicationsIn(visit), receiver, typed)] : []),
    { name: 'description', label: 'Description', value: stream?.description },
    {
      kind: 'checks',
      name: 'events',
      label: 'Events',
      values: stream?.events ?? SIGNAL_TYPES,
      options: SIGNAL_TYPES.map((type) => ({ value: type, label: SIGNAL_WORDS[type], hint: verbatim(type) })),
    },
    {
      kind: 'radios',
      name: 'method',
      label: 'Delivery',
      value: stream?.method ?? 'PUSH',
      alias: 'delivery.method',
      options: [
        { value: 'PUSH', label: METHODS.PUSH, hint: 'Each event is posted to the receiver’s address.' },
        { value: 'POLL', label: METHODS.POLL, hint: 'The receiver fetches its events with an access token.' },
      ],
    },
    {
      kind: 'url',
      name: 'endpointUrl',
      label: 'Address',
      when: { field: 'method', value: 'PUSH' },
      value: stream?.endpointUrl ?? undefined,
      alias: 'delivery.endpointUrl',
      hint: 'It must be https, or http on this machine. Addresses of this machine and of private networks are called only if the service runs with ALLOW_PRIVATE_NETWORK=true.',
    },
    {
      kind: 'secret',
      name: 'authorizationHeader',
      label: 'Authorization header',
      when: { field: 'method', value: 'PUSH' },
      alias: 'delivery.authorizationHeader',
      hint:
        stream?.authorization == null
          ? 'E.g. “Bearer …”. Stored encrypted and never shown again. Empty: none.'
          : 'Empty: the stored one is kept if the host stays the same.',
    },
  ];
}

/** Parses the form. @throws {ApiError} validation */
export async function streamInput(visit: ConsoleRequest, form: URLSearchParams): Promise<StreamInput> {
  const typed = typedValues(await streamFields(visit, { values: form } as Typed), form) as Readonly<Record<string, unknown>>;
  const header = String(form.get('authorizationHeader') ?? '');
  const { description, events, delivery } = parse(operatorStream, {
    description: typed.description,
    events: form.getAll('events'),
    delivery:
      form.get('method') === 'POLL'
        ? { method: 'POLL' }
        : { method: 'PUSH', endpointUrl: form.get('endpointUrl') ?? '', ...(header !== '' && { authorizationHeader: header }) },
  });
  return { description: description ?? '', eventsRequested: events, delivery };
}

const step = confirmationPages(async (visit) => {
  const stream = await streamIn(visit);
  return { name: streamName(stream), address: streamPath(stream.id), crumbs: streamCrumbs(stream) };
});

const change = (status: StreamStatus) => (visit: ConsoleRequest, id: string) =>
  setStreamStatus(visit.services, id, { status, reason: null, notify: true }, visit.request);

/** The action that restores the previous status. The receiver's reason for that status would be lost. */
const BACK = { ENABLED: 'enable', PAUSED: 'pause', DISABLED: 'disable' } as const;
const reverse = async (visit: ConsoleRequest): Promise<string | undefined> => {
  const { status, statusReason } = await streamIn(visit);
  return statusReason === null ? BACK[status] : undefined;
};

export const signalStreamSteps: readonly ConsolePage[] = [
  step({
    path: '/api/signal-streams/:id/verify',
    label: 'Verify',
    facts: ['The receiver gets a verification event within a second, if it can be reached.'],
    notice: 'stream-verified',
    execute: ({ services, request }, id) => verifySignalStream(services, id, undefined, request),
  }),
  step({
    path: '/api/signal-streams/:id/enable',
    label: 'Enable',
    facts: ['The receiver is notified. Waiting events are delivered immediately.'],
    notice: 'stream-enabled',
    reverse,
    execute: change('ENABLED'),
  }),
  step({
    path: '/api/signal-streams/:id/pause',
    label: 'Pause',
    facts: ['The receiver is notified. Events wait until the stream is enabled, for seven days at most.'],
    notice: 'stream-paused',
    reverse,
    execute: change('PAUSED'),
  }),
  step({
    path: '/api/signal-streams/:id/disable',
    label: 'Disable',
    facts: ['The receiver is notified. Waiting events, and events until it is enabled again, are never delivered.'],
    danger: true,
    notice: 'stream-disabled',
    execute: change('DISABLED'),
  }),
  step({
    path: '/api/signal-streams/:id/delete',
    label: 'Delete',
    async facts({ services, params }) {
      const { events } = await affectedBy(services, 'signalStream', { id: params.id ?? '' });
      return [
        phrase('Its settings and {events} not yet delivered are deleted.', { events: affectedCount(events, 'event') }),
        'This cannot be undone.',
      ];
    },
    danger: true,
    notice: 'stream-deleted',
    goTo: STREAMS_PATH,
    execute: ({ services, request }, id) => deleteSignalStream(services, id, request),
  }),
];
