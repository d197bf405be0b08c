/** The audit events about one user, for himself: those in a batch are found by `audit_people`, the newest are in none yet. Reads only. */

import type { Executor } from '../../platform/database/database.ts';
import { EVENT } from '../audit/audit.store.ts';
import type { StoredEvent } from '../audit/events.resource.ts';

export interface NumberedEvent extends StoredEvent {
  readonly seq: string;
}

export interface ActivityQuery {
  readonly userId: string;
  readonly eventTypes: readonly string[];
  readonly limit: number;
  /** Only those with a smaller number. */
  readonly before?: string | undefined;
}

/** The newest first: events about the user, and his consents. */
export async function listActivity(executor: Executor, { userId, eventTypes, limit, before }: ActivityQuery): Promise<NumberedEvent[]> {
  const asTarget = JSON.stringify([{ id: userId }]);
  const about = executor('audit_events')
    .whereIn('event_type', [...eventTypes])
    .whereRaw("(target @> ?::jsonb OR (actor->>'id' = ? AND event_type = 'app.oauth2.as.consent.grant'))", [asTarget, userId])
    .andWhere((either) => either.whereNull('seal').orWhereIn('seq', executor('audit_people').where({ user_id: userId }).select('seq')));
  if (before !== undefined) about.where('seq', '<', before);
  return about
    .select<NumberedEvent[]>({ ...EVENT, seq: 'seq' })
    .orderBy('seq', 'desc')
    .limit(limit);
}
