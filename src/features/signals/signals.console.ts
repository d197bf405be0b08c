/** API → Signal streams: the list, one stream with waiting events and the last error, creating and changing. */

import { applicationsIn } from '../../pages/console/candidates.ts';
import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { pickedId } from '../../pages/console/picker.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { applicationNames } from '../sessions/labels.console.ts';
import {
  METHODS,
  SIGNAL_WORDS,
  STREAM_CRUMBS,
  STREAMS_PATH,
  signalStreamSteps,
  streamCrumbs,
  streamFields,
  streamIn,
  streamInput,
  streamName,
  streamPath,
  streamStatusPiece,
} from './signal-page.console.ts';
import { STREAM_STATUSES } from './signal-streams.resource.ts';
import { createSignalStream, listSignalStreams, pollAddress, updateSignalStream, waitingForStream } from './signal-streams.service.ts';
import { removedSubjectsOf } from './signal-subjects.service.ts';

const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');
const CREATE: Action = { label: 'Create signal stream', href: `${STREAMS_PATH}/new`, main: true };

const COLUMNS: ListColumns = [
  { label: 'Stream', by: 'description', searched: true },
  { label: 'Application', by: 'application' },
  { label: 'Delivery', by: 'method', codes: ['PUSH', 'POLL'] },
  'Waiting',
  { label: 'Last delivery', by: 'lastDelivered', descending: true },
  'Last failure',
  { label: 'Status', by: 'status', codes: STREAM_STATUSES },
];

const all = ({ services, query }: ConsoleRequest) => piecesOf(query, COLUMNS, (window) => listSignalStreams(services, window));

const list: ConsolePage = {
  path: '/api/signal-streams',
  access: 'service',
  async show(visit, typed) {
    const { items, total } = await listSignalStreams(visit.services, pageIn(visit.query, COLUMNS));
    const labels = await applicationNames(
      visit,
      items.map(({ applicationId }) => applicationId),
    );
    const waiting = await Promise.all(items.map((stream) => waitingForStream(visit.services, stream)));
    return listPage({
      title: 'Signal streams',
      lead: 'Applications learn within seconds that sessions were revoked, credentials changed or accounts were disabled (Shared Signals Framework).',
      crumbs: [{ label: 'API' }],
      actions: mayWrite(visit) ? [CREATE] : [],
      list: {
        name: 'signal streams',
        ...(mayWrite(visit) && { choosing: choosingAction(visit, STREAMS_PATH, typed, { kind: 'signal-streams', total }) }),
        rows: items.map((stream, index) => ({
          value: stream.id,
          cells: [
            { text: verbatim(streamName(stream)), href: streamPath(stream.id) },
            {
              text: verbatim(labels.get(stream.applicationId) ?? stream.applicationId),
              href: `/admin/applications/${encodeURIComponent(stream.applicationId)}`,
            },
            phrase(METHODS[stream.method]),
            phrase('{count}', { count: waiting[index]?.count ?? 0 }),
            { moment: momentOrNull(stream.lastDelivered) },
            stream.lastError === null ? '' : verbatim(stream.lastError),
            streamStatusPiece(stream),
          ],
        })),
        empty: 'There is no signal stream yet.',
        emptyAction: mayWrite(visit) ? CREATE : undefined,
        ...paged(STREAMS_PATH, visit.query, COLUMNS, { total }, 'stream'),
        files: fileActions(STREAMS_PATH, visit.query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'signal-streams',
      pieces: all(visit),
      rowOf: (stream) => ({ name: streamName(stream), item: { id: stream.id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'signal-streams',
      columns: [
        'id',
        'description',
        'applicationId',
        'status',
        'statusReason',
        'method',
        'address',
        'events',
        'lastDelivered',
        'lastError',
        'created',
        'lastUpdated',
      ],
      pieces: all(visit),
      recordOf: (stream) => ({ ...stream, address: stream.endpointUrl ?? pollAddress(visit.services.config, stream.id) }),
    }),
};

const create: ConsolePage = {
  path: '/api/signal-streams/new',
  access: 'service',
  verb: 'write',
  show: async (visit, typed) =>
    formPage(
      {
        title: 'Create signal stream',
        crumbs: STREAM_CRUMBS,
        fields: await streamFields(visit, typed),
        hidden: formKey(),
        submit: 'Create signal stream',
        cancel: STREAMS_PATH,
      },
      typed,
    ),
  async receive(visit, form) {
    const applicationId = await pickedId(applicationsIn(visit), 'applicationId', form.get('applicationId') ?? '');
    if (applicationId === undefined) throw validation([{ field: 'applicationId', message: 'is required' }]);
    const input = await streamInput(visit, form);
    const { id } = await submitOnce(visit, form, [STREAMS_PATH, applicationId, input], async (within) => {
      const made = await createSignalStream(within, applicationId, input, visit.request);
      return { id: made.id };
    });
    return { goTo: streamPath(id), notice: 'stream-created' };
  },
};

const one: ConsolePage = {
  path: '/api/signal-streams/:id',
  access: 'service',
  async show(visit) {
    const stream = await streamIn(visit);
    const waiting = await waitingForStream(visit.services, stream);
    const at = streamPath(stream.id);
    const { status } = stream;
    const actions: Action[] = [
      ...(status === 'ENABLED' ? [{ label: 'Verify', href: `${at}/verify` }] : [{ label: 'Enable', href: `${at}/enable`, main: true }]),
      { label: 'Edit', href: `${at}/edit` },
      ...(status === 'ENABLED' ? [{ label: 'Pause', href: `${at}/pause` }] : []),
      ...(status === 'DISABLED' ? [] : [{ label: 'Disable', href: `${at}/disable`, danger: true }]),
      { label: 'Delete', href: `${at}/delete`, danger: true },
    ];
    return detailPage({
      title: verbatim(streamName(stream)),
      status: streamStatusPiece(stream),
      crumbs: STREAM_CRUMBS,
      actions: mayWrite(visit) ? actions : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Reason', value: stream.statusReason === null ? '' : verbatim(stream.statusReason) },
            {
              label: 'Application',
              value: { text: stream.applicationId, href: `/admin/applications/${encodeURIComponent(stream.applicationId)}`, code: true },
            },
            { label: 'Events', value: series(stream.events.map((type) => phrase(SIGNAL_WORDS[type]))) },
            { label: 'Removed users', value: await removedSubjectsOf(visit.services, stream) },
            { label: 'Delivery', value: phrase(METHODS[stream.method]) },
            { label: 'Address', value: { text: stream.endpointUrl ?? pollAddress(visit.services.config, stream.id), code: true } },
            { label: 'Authorization header', value: phrase(stream.authorization === null ? 'No' : 'Yes') },
            { label: 'ID', value: stream.id, copy: true },
            { label: 'Created', value: { moment: momentOf(stream.created) } },
            { label: 'Last change', value: { moment: momentOf(stream.lastUpdated) } },
          ],
        },
        {
          kind: 'facts',
          title: 'Delivery queue',
          lead: 'Failed deliveries are retried with growing pauses for three days. Events that are polled or paused are kept for seven days.',
          facts: [
            { label: 'Waiting', value: waiting.count },
            { label: 'Oldest', value: { moment: momentOrNull(waiting.oldest) } },
            { label: 'Next attempt', value: { moment: momentOrNull(waiting.due) } },
            { label: 'Last delivery', value: { moment: momentOrNull(stream.lastDelivered) } },
            { label: 'Last failure', value: { moment: momentOrNull(stream.lastFailed) } },
            { label: 'Error', value: stream.lastError === null ? '' : verbatim(stream.lastError) },
          ],
        },
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/api/signal-streams/:id/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const stream = await streamIn(visit);
    return formPage(
      {
        title: phrase('Edit {stream}', { stream: streamName(stream) }),
        crumbs: streamCrumbs(stream),
        fields: await streamFields(visit, typed, stream),
        submit: 'Save',
        cancel: streamPath(stream.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { id } = await streamIn(visit);
    await updateSignalStream(visit.services, id, await streamInput(visit, form), visit.request);
    return { goTo: streamPath(id), notice: 'stream-changed' };
  },
};

export const signalStreamPages: readonly ConsolePage[] = [list, create, one, edit, ...signalStreamSteps];
