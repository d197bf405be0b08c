/** Where the pages of event hooks are, and how one stands. */

import type { Crumb, Visit } from '../../pages/console/page.ts';
import type { Piece } from '../../pages/console/sheet.ts';
import type { EventHook } from './event-hooks.resource.ts';
import { getEventHook } from './event-hooks.service.ts';

export const HOME = '/admin/api/event-hooks';
export const CRUMBS: readonly Crumb[] = [{ label: 'API' }, { label: 'Event hooks', href: HOME }];

export const addressOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

export const hookIn = ({ services, params }: Visit): Promise<EventHook> => getEventHook(services, params.id ?? '');

export const below = ({ id, name }: Pick<EventHook, 'id' | 'name'>): readonly Crumb[] => [...CRUMBS, { label: name, href: addressOf(id) }];

/** Only one that is active and verified is told anything. */
export function standingOf({ status, verificationStatus }: EventHook): Piece {
  if (status === 'INACTIVE') return { text: 'Inactive', tone: 'plain' };
  return verificationStatus === 'VERIFIED' ? { text: 'Active', tone: 'good' } : { text: 'To be verified', tone: 'warning' };
}
