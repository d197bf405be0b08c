/** The page of an event hook: its paths, status and lifecycle actions. */

import { affectedCount, confirmationPages } from '../../pages/console/confirmation-page.ts';
import type { Action, ConsolePage, ConsoleRequest, Crumb, Status } from '../../pages/console/page.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { sendTestEvent } from './event-hook-deliveries.service.ts';
import type { EventHook } from './event-hooks.resource.ts';
import { deleteEventHook, getEventHook, setEventHookStatus, verifyEventHook } from './event-hooks.service.ts';

export const EVENT_HOOKS_PATH = '/admin/api/event-hooks';
export const EVENT_HOOK_CRUMBS: readonly Crumb[] = [{ label: 'API' }, { label: 'Event hooks', href: EVENT_HOOKS_PATH }];

export const eventHookPath = (id: string): string => `${EVENT_HOOKS_PATH}/${encodeURIComponent(id)}`;

export const eventHookTabs = (id: string): readonly Action[] => [
  { label: 'Settings', href: eventHookPath(id) },
  { label: 'Deliveries', href: `${eventHookPath(id)}/deliveries` },
];

/** Actions on the hook that the caller may carry out. */
export function eventHookActions({ request }: ConsoleRequest, { id, status, verificationStatus }: EventHook): readonly Action[] {
  if (!mayCall(request.roles, 'service', 'write')) return [];
  const at = eventHookPath(id);
  const isActive = status === 'ACTIVE';
  const isVerified = verificationStatus === 'VERIFIED';
  return [
    { label: isVerified ? 'Verify again' : 'Verify', href: `${at}/verify`, main: !isVerified },
    ...(isActive && isVerified ? [{ label: 'Send test event', href: `${at}/test` }] : []),
    { label: 'Edit', href: `${at}/edit` },
    { label: 'New secret', href: `${at}/secret` },
    isActive ? { label: 'Deactivate', href: `${at}/deactivate` } : { label: 'Activate', href: `${at}/activate` },
    { label: 'Delete', href: `${at}/delete`, danger: true },
  ];
}

export const hookIn = ({ services, params }: ConsoleRequest): Promise<EventHook> => getEventHook(services, params.id ?? '');

export const eventHookCrumbs = ({ id, name }: Pick<EventHook, 'id' | 'name'>): readonly Crumb[] => [
  ...EVENT_HOOK_CRUMBS,
  { label: verbatim(name), href: eventHookPath(id) },
];

/** Only an active and verified hook gets events. */
export function hookStatusPiece({ status, verificationStatus }: EventHook): Status {
  if (status === 'INACTIVE') return { text: 'Inactive', tone: 'plain' };
  return verificationStatus === 'VERIFIED' ? { text: 'Active', tone: 'good' } : { text: 'To be verified', tone: 'warning' };
}

const step = confirmationPages(async (visit) => {
  const hook = await hookIn(visit);
  return { name: hook.name, address: eventHookPath(hook.id), crumbs: eventHookCrumbs(hook) };
});

/** Shows a problem with the address on a form without an address field. */
function ofAddress(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const causes = error.causes.map((cause) => cause.replace(/^channel\.config\.uri: /, 'The address '));
  throw new ApiError(error.errorCode, error.status, error.summary, causes);
}

export const eventHookSteps: readonly ConsolePage[] = [
  step({
    path: '/api/event-hooks/:id/verify',
    label: 'Verify',
    facts: [
      'The service now sends a GET request with the header X-Gatehouse-Verification-Challenge.',
      'It must answer within five seconds with the JSON {"verification": "<the value of the header>"}.',
    ],
    notice: 'hook-verified',
    execute: ({ services, request }, id) => verifyEventHook(services, id, request, createOutbound(services.config)).catch(ofAddress),
  }),
  step({
    path: '/api/event-hooks/:id/test',
    label: 'Send a test event to',
    submit: 'Send test event',
    facts: ['An event of the type event_hook.test is sent within a second, signed like every other. Only this hook receives it.'],
    notice: 'hook-event-queued',
    execute: ({ services, request }, id) => sendTestEvent(services, id, request),
  }),
  step({
    path: '/api/event-hooks/:id/activate',
    label: 'Activate',
    facts: ['It receives events from now on.'],
    notice: 'hook-activated',
    reverse: 'deactivate',
    execute: ({ services, request }, id) => setEventHookStatus(services, id, 'ACTIVE', request),
  }),
  step({
    path: '/api/event-hooks/:id/deactivate',
    label: 'Deactivate',
    facts: ['Waiting events, and events until it is activated again, are never delivered.'],
    danger: true,
    notice: 'hook-deactivated',
    execute: ({ services, request }, id) => setEventHookStatus(services, id, 'INACTIVE', request),
  }),
  step({
    path: '/api/event-hooks/:id/delete',
    label: 'Delete',
    async facts({ services, params }) {
      const { events } = await affectedBy(services, 'eventHook', { id: params.id ?? '' });
      return [
        phrase('Its settings, its secrets and {events} not yet delivered are deleted.', {
          events: affectedCount(events, 'event'),
        }),
        'This cannot be undone.',
      ];
    },
    danger: true,
    notice: 'hook-deleted',
    goTo: EVENT_HOOKS_PATH,
    execute: ({ services, request }, id) => deleteEventHook(services, id, request),
  }),
];
