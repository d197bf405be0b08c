/** API → Event hooks: verifying, activating, deactivating and deleting one. */

import { confirmationPages } from '../../pages/console/confirmation-page.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { createOutbound } from '../../platform/http/outbound.ts';
import { EVENT_HOOKS_PATH, eventHookCrumbs, eventHookPath, hookIn } from './event-hook-page.console.ts';
import { deleteEventHook, setEventHookStatus, verifyEventHook } from './event-hooks.service.ts';

const step = confirmationPages(async (visit) => {
  const hook = await hookIn(visit);
  return { name: hook.name, address: eventHookPath(hook.id), crumbs: eventHookCrumbs(hook) };
});

/** What is wrong with the address, on a form that has no field for it. */
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
      'The address is asked now, by GET, with the header X-Gatehouse-Verification-Challenge.',
      'It must answer within five seconds with the JSON {"verification": "<the value of the header>"}.',
    ],
    notice: 'hook-verified',
    carryOut: ({ services, request }, id) => verifyEventHook(services, id, request, createOutbound(services.config)).catch(ofAddress),
  }),
  step({
    path: '/api/event-hooks/:id/activate',
    label: 'Activate',
    facts: ['It is told of what happens from now on.'],
    notice: 'hook-activated',
    carryOut: ({ services, request }, id) => setEventHookStatus(services, id, 'ACTIVE', request),
  }),
  step({
    path: '/api/event-hooks/:id/deactivate',
    label: 'Deactivate',
    facts: ['What it was still to be told, and what happens until it is activated again, it is never told.'],
    danger: true,
    notice: 'hook-deactivated',
    carryOut: ({ services, request }, id) => setEventHookStatus(services, id, 'INACTIVE', request),
  }),
  step({
    path: '/api/event-hooks/:id/delete',
    label: 'Delete',
    facts: ['Its settings and secrets are deleted, with all that it was still to be told.', 'This cannot be undone.'],
    danger: true,
    notice: 'hook-deleted',
    goTo: EVENT_HOOKS_PATH,
    carryOut: ({ services, request }, id) => deleteEventHook(services, id, request),
  }),
];
