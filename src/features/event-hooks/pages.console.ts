/** API → Event hooks: list, creation, one hook with pending deliveries, changes, and a new secret. */

import { detailPage, listPage, type Part } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, ConsoleRequest, Drawn } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { counted, phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import type { EventType } from '../audit/event-types.policy.ts';
import { EVENT_WORDS } from '../audit/event-words.console.ts';
import type { StoredEvent } from '../audit/events.resource.ts';
import { readLogs } from '../audit/logs.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { deliveryPages } from './event-hook-deliveries.console.ts';
import {
  EVENT_HOOK_CRUMBS,
  EVENT_HOOKS_PATH,
  eventHookActions,
  eventHookCrumbs,
  eventHookPath,
  eventHookSteps,
  eventHookTabs,
  hookIn,
  hookStatusPiece,
} from './event-hook-page.console.ts';
import type { EventHook } from './event-hooks.resource.ts';
import { createEventHook, listEventHooks, renewSigningSecret, updateEventHook, waitingForEventHook } from './event-hooks.service.ts';
import { hookFields, hookInput } from './fields.console.ts';

const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');
const CREATE: Action = { label: 'Create event hook', href: `${EVENT_HOOKS_PATH}/new`, main: true };

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  'Address',
  'Events',
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
];

const list: ConsolePage = {
  path: '/api/event-hooks',
  access: 'service',
  async show(visit, typed) {
    const { items, total } = await listEventHooks(visit.services, pageIn(visit.query, COLUMNS));
    return listPage({
      title: 'Event hooks',
      lead: 'Event hooks notify another system of events by HTTPS, moments after they happen.',
      crumbs: [{ label: 'API' }],
      actions: mayWrite(visit) ? [CREATE] : [],
      list: {
        name: 'event hooks',
        ...(mayWrite(visit) && { choosing: choosingAction(visit, EVENT_HOOKS_PATH, typed, { kind: 'event-hooks', total }) }),
        rows: items.map((hook) => ({
          value: hook.id,
          cells: [
            { text: hook.name, href: eventHookPath(hook.id) },
            { text: hook.channel.uri, code: true },
            counted(hook.eventTypes.length, '{count} type', '{count} types'),
            hookStatusPiece(hook),
          ],
        })),
        empty: 'There is no event hook yet. Create one to keep another system informed, e.g. of new users or of failed sign-ins.',
        emptyAction: mayWrite(visit) ? CREATE : undefined,
        ...paged(EVENT_HOOKS_PATH, visit.query, COLUMNS, { total }, 'hook'),
        files: fileActions(EVENT_HOOKS_PATH, visit.query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'event-hooks',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listEventHooks(visit.services, window)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'event-hooks',
      columns: ['id', 'name', 'description', 'status', 'verificationStatus', 'address', 'eventTypes', 'created', 'lastUpdated'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listEventHooks(visit.services, window)),
      recordOf: (hook) => ({ ...hook, address: hook.channel.uri }),
    }),
};

/** A secret, shown once, and the next step. */
function secretPage(hook: Pick<EventHook, 'id' | 'name'>, signingSecret: string, title: string, next: readonly Part[]): Drawn {
  return detailPage({
    title,
    lead: 'Copy the signing secret now. It is shown only once.',
    crumbs: eventHookCrumbs(hook),
    actions: [{ label: 'Done, I have copied it', href: eventHookPath(hook.id), main: true }],
    parts: [
      {
        kind: 'facts',
        facts: [
          { label: 'Event hook', value: hook.name },
          { label: 'Signing secret', value: signingSecret, copy: true },
        ],
      },
      ...next,
    ],
  });
}

const create: ConsolePage = {
  path: '/api/event-hooks/new',
  access: 'service',
  verb: 'write',
  show: async (_visit, typed) =>
    formPage(
      {
        title: 'Create event hook',
        crumbs: EVENT_HOOK_CRUMBS,
        facts: ['It receives events after its endpoint is verified, which is the next step.'],
        fields: hookFields(),
        hidden: formKey(),
        submit: 'Create event hook',
        cancel: EVENT_HOOKS_PATH,
      },
      typed,
    ),
  async receive(visit, form) {
    const input = hookInput(form);
    const result = await submitOnce(visit, form, [EVENT_HOOKS_PATH, input], async (within) => {
      const { hook, signingSecret } = await createEventHook(within, input, visit.request);
      return { id: hook.id, name: hook.name, signingSecret };
    });
    return secretPage(result, result.signingSecret, 'Event hook created', [
      {
        kind: 'words',
        title: 'Next',
        paragraphs: [
          'Give the secret to the receiver. Each delivery is signed with it as Standard Webhooks describes (webhook-id, webhook-timestamp, webhook-signature).',
          'Then verify the address. The service sends a GET request with the header X-Gatehouse-Verification-Challenge and expects {"verification": "<the value of the header>"}.',
        ],
        actions: [{ label: 'Verify', href: `${eventHookPath(result.id)}/verify` }],
      },
    ]);
  },
};

/** Recent deliveries that failed for good; undefined: currently not available. */
async function givenUp({ services }: ConsoleRequest, { id }: EventHook): Promise<readonly StoredEvent[] | undefined> {
  const filter = `eventType eq "event_hook.delivery" and target.id eq "${id}"`;
  try {
    return (await readLogs(services, { filter, newestFirst: true }, { limit: 5 })).items;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function deliveries(visit: ConsoleRequest, hook: EventHook): Promise<readonly Part[]> {
  const [waiting, lost] = await Promise.all([waitingForEventHook(visit.services, hook), givenUp(visit, hook)]);
  return [
    {
      kind: 'facts',
      title: 'Delivery queue',
      lead: 'Each event is delivered at least once. Failed deliveries are retried with growing pauses for three days.',
      facts: [
        { label: 'Waiting', value: waiting.count },
        ...(waiting.count === 0
          ? []
          : [
              { label: 'Oldest', value: { moment: momentOrNull(waiting.oldest) } },
              { label: 'Next attempt', value: { moment: momentOrNull(waiting.due) } },
              { label: 'Last failure', value: waiting.lastError ?? '' },
            ]),
      ],
    },
    {
      kind: 'table',
      title: 'Failed in the last seven days',
      name: 'deliveries given up',
      columns: ['When', 'Why', 'Event'],
      rows: (lost ?? []).map(({ published, outcome, target }) => ({
        cells: [
          { moment: momentOf(published) },
          outcome.reason ?? '',
          { text: target.find(({ type }) => type === 'LogEvent')?.id ?? '', code: true },
        ],
      })),
      empty: lost === undefined ? 'Too many searches are running. Try again in a moment.' : 'None: nothing was lost.',
    },
  ];
}

const one: ConsolePage = {
  path: '/api/event-hooks/:id',
  access: 'service',
  async show(visit) {
    const hook = await hookIn(visit);
    const { id, name, description, verificationStatus, channel, eventTypes, previousSecretUntil } = hook;
    const isVerified = verificationStatus === 'VERIFIED';
    const unverified: Part = {
      kind: 'words',
      tone: 'warning',
      paragraphs: ['The endpoint has not been verified yet; no events are sent. Events that were queued before the address changed wait.'],
    };
    return detailPage({
      title: verbatim(name),
      status: hookStatusPiece(hook),
      ...(description !== '' && { lead: verbatim(description) }),
      crumbs: EVENT_HOOK_CRUMBS,
      tabs: eventHookTabs(id),
      actions: eventHookActions(visit, hook),
      parts: [
        ...(isVerified ? [] : [unverified]),
        {
          kind: 'facts',
          facts: [
            { label: 'Address', value: { text: channel.uri, code: true } },
            { label: 'Headers', value: { text: channel.headers.map(({ key }) => key).join(', '), code: true } },
            { label: 'Authentication', value: channel.authScheme === null ? '' : { text: channel.authScheme.key, code: true } },
            { label: 'Events', value: series(eventTypes.map((type) => phrase(EVENT_WORDS[type as EventType] ?? type))) },
            { label: 'Previous secret valid until', value: { moment: momentOrNull(previousSecretUntil) } },
            { label: 'ID', value: id, copy: true },
            { label: 'Created', value: { moment: momentOf(hook.created) } },
            { label: 'Last change', value: { moment: momentOf(hook.lastUpdated) } },
          ],
        },
        ...(await deliveries(visit, hook)),
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/api/event-hooks/:id/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await hookIn(visit);
    const cancel = eventHookPath(hook.id);
    return formPage(
      {
        title: phrase('Edit {hook}', { hook: hook.name }),
        crumbs: eventHookCrumbs(hook),
        fields: hookFields(hook),
        submit: 'Save',
        cancel,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const before = await hookIn(visit);
    const after = await updateEventHook(visit.services, before.id, hookInput(form), visit.request);
    const isNew = after.channel.uri !== before.channel.uri;
    return { goTo: eventHookPath(after.id), notice: isNew ? 'hook-changed-unverified' : 'hook-changed' };
  },
};

const secret: ConsolePage = {
  path: '/api/event-hooks/:id/secret',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await hookIn(visit);
    const facts = [
      'For 24 hours deliveries are signed with the secret before as well, so that the receiver can change over without a gap.',
      'If the secret was renewed within that time, the previous one stops working immediately.',
    ];
    const title = phrase('New signing secret for {hook}', { hook: hook.name });
    return formPage(
      { title, crumbs: eventHookCrumbs(hook), facts, hidden: formKey(), submit: 'Create secret', cancel: eventHookPath(hook.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const { id, name } = await hookIn(visit);
    const result = await submitOnce(visit, form, [id], async (within) => ({
      value: await renewSigningSecret(within, id, visit.request),
    }));
    return secretPage({ id, name }, result.value, 'New signing secret', []);
  },
};

export const eventHookPages: readonly ConsolePage[] = [list, create, one, edit, secret, ...deliveryPages, ...eventHookSteps];
