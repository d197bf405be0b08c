/** API → Inline hooks: list, creation, one hook, changes, and a new secret. */

import { detailPage, listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { Action, ConsolePage, ConsoleRequest, Drawn } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { FAILURES, inlineHookFormFields, inlineHookIn, TYPES } from './inline-hook-fields.console.ts';
import {
  INLINE_HOOK_CRUMBS,
  INLINE_HOOKS_PATH,
  inlineHookCrumbs,
  inlineHookOf,
  inlineHookPath,
  inlineHookSteps,
} from './inline-hook-page.console.ts';
import { INLINE_HOOK_TYPES, type InlineHook } from './inline-hooks.resource.ts';
import { createInlineHook, listInlineHooks, renewInlineHookSecret, updateInlineHook } from './inline-hooks.service.ts';

const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');
const CREATE: Action = { label: 'Create inline hook', href: `${INLINE_HOOKS_PATH}/new`, main: true };

const statusOf = ({ status }: InlineHook) =>
  status === 'ACTIVE' ? ({ text: 'Active', tone: 'good' } as const) : ({ text: 'Inactive', tone: 'plain' } as const);

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  { label: 'Type', by: 'type', codes: INLINE_HOOK_TYPES },
  'Address',
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
];

const all = ({ services, query }: ConsoleRequest) => piecesOf(query, COLUMNS, (window) => listInlineHooks(services, window));

const list: ConsolePage = {
  path: '/api/inline-hooks',
  access: 'service',
  async show(visit, typed) {
    const { items, total } = await listInlineHooks(visit.services, pageIn(visit.query, COLUMNS));
    return listPage({
      title: 'Inline hooks',
      lead: 'Inline hooks ask another system while a request waits: it changes tokens, checks sign-ups or verifies passwords.',
      crumbs: [{ label: 'API' }],
      actions: mayWrite(visit) ? [CREATE] : [],
      list: {
        name: 'inline hooks',
        ...(mayWrite(visit) && { choosing: choosingAction(visit, INLINE_HOOKS_PATH, typed, { kind: 'inline-hooks', total }) }),
        rows: items.map((hook) => ({
          value: hook.id,
          cells: [
            { text: hook.name, href: inlineHookPath(hook.id) },
            phrase(TYPES[hook.type]),
            { text: hook.channel.uri, code: true },
            statusOf(hook),
          ],
        })),
        empty: 'There is no inline hook yet.',
        emptyAction: mayWrite(visit) ? CREATE : undefined,
        ...paged(INLINE_HOOKS_PATH, visit.query, COLUMNS, { total }, 'hook'),
        files: fileActions(INLINE_HOOKS_PATH, visit.query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'inline-hooks',
      pieces: all(visit),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'inline-hooks',
      columns: ['id', 'name', 'type', 'status', 'failure', 'address', 'created', 'lastUpdated'],
      pieces: all(visit),
      recordOf: (hook) => ({ ...hook, address: hook.channel.uri }),
    }),
};

/** A secret, shown once. */
function secretPage(hook: Pick<InlineHook, 'id' | 'name'>, signingSecret: string, title: string): Drawn {
  return detailPage({
    title,
    lead: 'Copy the signing secret now. It is shown only once.',
    crumbs: inlineHookCrumbs(hook),
    actions: [{ label: 'Done, I have copied it', href: inlineHookPath(hook.id), main: true }],
    parts: [
      {
        kind: 'facts',
        facts: [
          { label: 'Inline hook', value: hook.name },
          { label: 'Signing secret', value: signingSecret, copy: true },
        ],
      },
      {
        kind: 'words',
        title: 'Next',
        paragraphs: [
          'Give the secret to the receiver. Each request is signed with it as Standard Webhooks describes (webhook-id, webhook-timestamp, webhook-signature).',
        ],
        actions: [{ label: 'Test', href: `${inlineHookPath(hook.id)}/test` }],
      },
    ],
  });
}

const create: ConsolePage = {
  path: '/api/inline-hooks/new',
  access: 'service',
  verb: 'write',
  show: async (_visit, typed) =>
    formPage(
      {
        title: 'Create inline hook',
        crumbs: INLINE_HOOK_CRUMBS,
        fields: inlineHookFormFields(),
        hidden: formKey(),
        submit: 'Create inline hook',
        cancel: INLINE_HOOKS_PATH,
      },
      typed,
    ),
  async receive(visit, form) {
    const input = inlineHookIn(form);
    const result = await submitOnce(visit, form, [INLINE_HOOKS_PATH, input], async (within) => {
      const { hook, signingSecret } = await createInlineHook(within, input, visit.request);
      return { id: hook.id, name: hook.name, signingSecret };
    });
    return secretPage(result, result.signingSecret, 'Inline hook created');
  },
};

const one: ConsolePage = {
  path: '/api/inline-hooks/:id',
  access: 'service',
  async show(visit) {
    const hook = await inlineHookOf(visit);
    const { id, name, type, failure, status, channel } = hook;
    const at = inlineHookPath(id);
    const step = status === 'ACTIVE' ? { label: 'Deactivate', href: `${at}/deactivate` } : { label: 'Activate', href: `${at}/activate` };
    const actions = [
      { label: 'Test', href: `${at}/test`, main: true },
      { label: 'Edit', href: `${at}/edit` },
      { label: 'New secret', href: `${at}/secret` },
      step,
      { label: 'Delete', href: `${at}/delete`, danger: true },
    ];
    return detailPage({
      title: verbatim(name),
      status: statusOf(hook),
      crumbs: INLINE_HOOK_CRUMBS,
      actions: mayWrite(visit) ? actions : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Type', value: [{ text: phrase(TYPES[type]) }, { text: verbatim(type), code: true }] },
            { label: 'If the hook fails', value: phrase(FAILURES[failure]) },
            { label: 'Address', value: { text: channel.uri, code: true } },
            { label: 'Headers', value: { text: channel.headers.map(({ key }) => key).join(', '), code: true } },
            { label: 'Authentication', value: channel.authScheme === null ? '' : { text: channel.authScheme.key, code: true } },
            { label: 'Previous secret valid until', value: { moment: momentOrNull(hook.previousSecretUntil) } },
            { label: 'ID', value: id, copy: true },
            { label: 'Created', value: { moment: momentOf(hook.created) } },
            { label: 'Last change', value: { moment: momentOf(hook.lastUpdated) } },
          ],
        },
      ],
    });
  },
};

const edit: ConsolePage = {
  path: '/api/inline-hooks/:id/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await inlineHookOf(visit);
    const page = {
      title: phrase('Edit {hook}', { hook: hook.name }),
      crumbs: inlineHookCrumbs(hook),
      fields: inlineHookFormFields(hook),
    };
    return formPage({ ...page, submit: 'Save', cancel: inlineHookPath(hook.id) }, typed);
  },
  async receive(visit, form) {
    const before = await inlineHookOf(visit);
    await updateInlineHook(visit.services, before.id, inlineHookIn(form, before), visit.request);
    return { goTo: inlineHookPath(before.id), notice: 'inline-hook-changed' };
  },
};

const secret: ConsolePage = {
  path: '/api/inline-hooks/:id/secret',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await inlineHookOf(visit);
    const facts = [
      'For 24 hours requests are signed with the secret before as well, so that the receiver can change over without a gap.',
      'If the secret was renewed within that time, the previous one stops working immediately.',
    ];
    const title = phrase('New signing secret for {hook}', { hook: hook.name });
    return formPage(
      { title, crumbs: inlineHookCrumbs(hook), facts, hidden: formKey(), submit: 'Create secret', cancel: inlineHookPath(hook.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const { id, name } = await inlineHookOf(visit);
    const result = await submitOnce(visit, form, [id], async (within) => ({
      value: await renewInlineHookSecret(within, id, visit.request),
    }));
    return secretPage({ id, name }, result.value, 'New signing secret');
  },
};

export const inlineHookPages: readonly ConsolePage[] = [list, create, one, edit, secret, ...inlineHookSteps];
