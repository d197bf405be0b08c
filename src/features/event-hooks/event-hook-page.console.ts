/** Where the pages of event hooks are, and how one stands. */

import type { Piece } from '../../pages/console/detail-page.ts';
import type { ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import type { EventHook } from './event-hooks.resource.ts';
import { getEventHook } from './event-hooks.service.ts';

export const EVENT_HOOKS_PATH = '/admin/api/event-hooks';
export const EVENT_HOOK_CRUMBS: readonly Crumb[] = [{ label: 'API' }, { label: 'Event hooks', href: EVENT_HOOKS_PATH }];

export const eventHookPath = (id: string): string => `${EVENT_HOOKS_PATH}/${encodeURIComponent(id)}`;

export const hookIn = ({ services, params }: ConsoleRequest): Promise<EventHook> => getEventHook(services, params.id ?? '');

export const eventHookCrumbs = ({ id, name }: Pick<EventHook, 'id' | 'name'>): readonly Crumb[] => [
  ...EVENT_HOOK_CRUMBS,
  { label: name, href: eventHookPath(id) },
];

/** Only one that is active and verified is told anything. */
export function standingOf({ status, verificationStatus }: EventHook): Piece {
  if (status === 'INACTIVE') return { text: 'Inactive', tone: 'plain' };
  return verificationStatus === 'VERIFIED' ? { text: 'Active', tone: 'good' } : { text: 'To be verified', tone: 'warning' };
}
