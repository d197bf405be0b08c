/** Reads what happened: the events that services/audit.ts wrote. */
import { validation } from '../errors.ts';
import { EVENT_ATTRIBUTES, type EventSelection, listAuditEvents, type StoredEvent } from '../store/audit.ts';
import { attributeTypes } from '../store/filter.ts';
import type { Page, Window } from '../store/paging.ts';
import type { Services } from './dependencies.ts';
import { parseFilter } from './filter.ts';

export interface LogQuery extends Pick<EventSelection, 'since' | 'until' | 'newestFirst'> {
  /** An expression of RFC 7644. */
  readonly filter?: string | undefined;
  /** Words that all are somewhere in an event. */
  readonly q?: string | undefined;
}

const MOST_WORDS = 10;
const ATTRIBUTES = attributeTypes(EVENT_ATTRIBUTES);

/** @throws {ApiError} validation of the filter and of the words */
export async function readLogs(services: Services, { filter, q = '', ...span }: LogQuery, window: Window): Promise<Page<StoredEvent>> {
  const words = q.split(/\s+/).filter((word) => word !== '');
  if (words.length > MOST_WORDS) throw validation([{ field: 'q', message: `must have at most ${MOST_WORDS} words` }]);
  const selection = { ...span, words, filter: filter === undefined ? undefined : parseFilter(filter, ATTRIBUTES, 'filter') };
  return listAuditEvents(services.database.knex, selection, window);
}
