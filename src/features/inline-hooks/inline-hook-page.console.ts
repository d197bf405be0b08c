/** The page of an inline hook: its paths, lifecycle actions and test run. */

import { affectedCount, confirmationPages } from '../../pages/console/confirmation-page.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Drawn } from '../../pages/console/page.ts';
import { validation } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { HOOK_PROBLEMS } from '../audit/hook-text.console.ts';
import { sampleData, type TriedHook, tryInlineHook } from './inline-hook-trial.service.ts';
import type { InlineHook } from './inline-hooks.resource.ts';
import { deleteInlineHook, getInlineHook, setInlineHookStatus } from './inline-hooks.service.ts';

export const INLINE_HOOKS_PATH = '/admin/api/inline-hooks';
export const INLINE_HOOK_CRUMBS: readonly Crumb[] = [{ label: 'API' }, { label: 'Inline hooks', href: INLINE_HOOKS_PATH }];

export const inlineHookPath = (id: string): string => `${INLINE_HOOKS_PATH}/${encodeURIComponent(id)}`;

export const inlineHookOf = ({ services, params }: ConsoleRequest): Promise<InlineHook> => getInlineHook(services, params.id ?? '');

export const inlineHookCrumbs = ({ id, name }: Pick<InlineHook, 'id' | 'name'>): readonly Crumb[] => [
  ...INLINE_HOOK_CRUMBS,
  { label: verbatim(name), href: inlineHookPath(id) },
];

const step = confirmationPages(async (visit) => {
  const hook = await inlineHookOf(visit);
  return { name: hook.name, address: inlineHookPath(hook.id), crumbs: inlineHookCrumbs(hook) };
});

function triedPage(hook: InlineHook, result: TriedHook, message: string): Drawn {
  const { facts } = result;
  const problem = result.kind === 'failed' ? HOOK_PROBLEMS[result.problem] : undefined;
  const detail = result.kind === 'failed' ? result.detail : undefined;
  return detailPage({
    title: phrase('Test run of {hook}', { hook: hook.name }),
    crumbs: inlineHookCrumbs(hook),
    actions: [{ label: 'Test again', href: `${inlineHookPath(hook.id)}/test`, main: true }],
    parts: [
      {
        kind: 'words',
        tone: problem === undefined ? 'good' : 'bad',
        paragraphs: [
          problem === undefined ? 'The hook gave a valid response.' : phrase(problem),
          ...(detail === undefined ? [] : [verbatim(detail)]),
        ],
      },
      {
        kind: 'facts',
        facts: [
          { label: 'Response', value: facts.status === undefined ? { text: 'No response', tone: 'bad' } : verbatim(String(facts.status)) },
          { label: 'Latency', value: phrase('{latency} ms', { latency: facts.milliseconds }) },
          { label: 'Attempts', value: phrase('{attempts}', { attempts: facts.attempts }) },
        ],
      },
      {
        kind: 'text',
        title: 'Request body',
        id: 'request-body',
        name: 'text of the request',
        text: JSON.stringify(JSON.parse(message), null, 2),
      },
      ...(facts.body === ''
        ? []
        : [{ kind: 'text' as const, title: 'Response body', id: 'response-body', name: 'text of the response', text: facts.body }]),
    ],
  });
}

const test: ConsolePage = {
  path: '/api/inline-hooks/:id/test',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const hook = await inlineHookOf(visit);
    return formPage(
      {
        title: phrase('Test {hook}', { hook: hook.name }),
        crumbs: inlineHookCrumbs(hook),
        facts: ['The request is signed like every other. What the hook answers is shown and changes nothing.'],
        fields: [
          {
            name: 'data',
            label: 'Data of the request',
            kind: 'description',
            rows: 12,
            value: JSON.stringify(sampleData(hook, visit.services.config.baseUrl), null, 2),
            hint: 'JSON. The sample can be changed.',
          },
        ],
        submit: 'Send test request',
        cancel: inlineHookPath(hook.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const hook = await inlineHookOf(visit);
    const { result, message } = await tryInlineHook(visit.services, hook.id, dataIn(form.get('data') ?? ''), visit.request);
    return triedPage(hook, result, message);
  },
};

/** @throws {ApiError} validation */
function dataIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw validation([{ field: 'data', message: 'must be a JSON object' }]);
}

export const inlineHookSteps: readonly ConsolePage[] = [
  test,
  step({
    path: '/api/inline-hooks/:id/activate',
    label: 'Activate',
    facts: ['It is called from now on.'],
    notice: 'inline-hook-activated',
    reverse: 'deactivate',
    execute: ({ services, request }, id) => setInlineHookStatus(services, id, 'ACTIVE', request),
  }),
  step({
    path: '/api/inline-hooks/:id/deactivate',
    label: 'Deactivate',
    facts: [
      'It is no longer called: tokens are issued unchanged and sign-ups continue without it.',
      'Users whose password it would verify cannot sign in with a password until it is active again.',
    ],
    danger: true,
    notice: 'inline-hook-deactivated',
    reverse: 'activate',
    execute: ({ services, request }, id) => setInlineHookStatus(services, id, 'INACTIVE', request),
  }),
  step({
    path: '/api/inline-hooks/:id/delete',
    label: 'Delete',
    async facts({ services, params }) {
      const { rules } = await affectedBy(services, 'inlineHook', { id: params.id ?? '' });
      return [
        rules === 0
          ? 'Its settings and secrets are deleted. No access rule uses it.'
          : phrase('It is used by {rules}. Remove it there first.', { rules: affectedCount(rules, 'rule') }),
        'This cannot be undone.',
      ];
    },
    danger: true,
    notice: 'inline-hook-deleted',
    goTo: INLINE_HOOKS_PATH,
    execute: ({ services, request }, id) => deleteInlineHook(services, id, request),
  }),
];
