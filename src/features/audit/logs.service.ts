/** Reads audit events, which features/audit/audit.service.ts writes. */

import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { createSemaphore } from '../../platform/concurrency/semaphore.ts';
import { isTimeout, Overloaded } from '../../platform/database/database-failures.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { attributeTypes } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { notFound, rateLimited, validation } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import { findMembersAmong } from '../organizations/members.service.ts';
import { checkReadable } from '../organizations/organizations.service.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import {
  EVENT_ATTRIBUTES,
  type EventSelection,
  findAuditEvent,
  listAuditEvents,
  listEventsOfObject,
  listEventsOfRequest,
  ORGANIZATION_EVENT_ATTRIBUTES,
  selectRefusals as refusalsOf,
} from './audit.store.ts';
import { type RequestContext, SYSTEM } from './audit-event.policy.ts';
import type { StoredEvent } from './events.resource.ts';

export interface LogQuery extends Pick<EventSelection, 'since' | 'until' | 'newestFirst'> {
  /** An expression of RFC 7644. */
  readonly filter?: string | undefined;
  /** Words that the event must contain. */
  readonly q?: string | undefined;
}

const MOST_WORDS = 10;
/** Default period of a list. */
const LOOK_BACK_MS = 7 * 86_400_000;
/** Maximum concurrent searches of one log in each process. */
const MOST_SEARCHES = 2;
/**
 * Limits concurrent searches of all organizations' logs in each process. A search can use a connection up to the statement timeout, and the pool has
 * ten.
 */
const organizationSearches = createSemaphore(4, 8);
/** Seconds. */
const SEARCH_AGAIN = 5;
const ATTRIBUTES = attributeTypes(EVENT_ATTRIBUTES);
const ORGANIZATION_ATTRIBUTES = attributeTypes(ORGANIZATION_EVENT_ATTRIBUTES);

/**
 * Events of the last seven days, unless the query has a time range.
 * @throws {ApiError} validation of the filter and of the words; rate limited: too many searches at once
 */
export async function readLogs(services: Services, { filter, q = '', ...span }: LogQuery, window: Window): Promise<Page<StoredEvent>> {
  const words = q.split(/\s+/).filter((word) => word !== '');
  if (words.length > MOST_WORDS) throw validation([{ field: 'q', message: `must have at most ${MOST_WORDS} words` }]);
  if (!isPrintable(q)) throw validation([{ field: 'q', message: 'must not contain control characters' }]);
  const isOpen = span.until === undefined && window.after === undefined;
  const selection = {
    ...span,
    since: span.since ?? (isOpen ? new Date(present().getTime() - LOOK_BACK_MS) : undefined),
    words,
    filter: filter === undefined ? undefined : parseFilter(filter, ATTRIBUTES, 'filter'),
  };
  const read = () => listAuditEvents(services.database.knex, selection, window);
  return words.length > 0 || filter !== undefined ? withSearchLimit('', read) : read();
}

/** Milliseconds before and after an event that are searched for events of the same request. */
const REQUEST_MS = 5 * 60_000;
const MOST_OF_REQUEST = 50;

/** An event, and the others of the same request. @throws {ApiError} not found */
export async function readLogEvent(
  { database: { knex } }: Services,
  uuid: string,
): Promise<{ readonly event: StoredEvent; readonly others: readonly StoredEvent[] }> {
  const event = z.uuid().safeParse(uuid).success ? await findAuditEvent(knex, uuid) : undefined;
  if (event === undefined) throw notFound(uuid, 'LogEvent');
  const at = event.published.getTime();
  const span = { since: new Date(at - REQUEST_MS), until: new Date(at + REQUEST_MS) };
  const all = event.transactionId === null ? [] : await listEventsOfRequest(knex, event, span, MOST_OF_REQUEST);
  return { event, others: all.filter((one) => one.uuid !== event.uuid) };
}

/** The newest refused requests of an application. */
export const listRefusals = ({ database: { knex } }: Services, applicationId: string, limit: number): Promise<readonly StoredEvent[]> =>
  refusalsOf(knex, applicationId, limit);

const searching = new Map<string, number>();

/**
 * Limits concurrent searches: each may read all events, and uses a database connection. Each log has its own limit, so that organizations do not
 * affect each other, unless many search at once.
 * @param orgId of the log; empty: the log of the service
 * @throws {ApiError} rate limited; validation: it took too long
 */
async function withSearchLimit<T>(orgId: string, search: () => Promise<T>): Promise<T> {
  const running = searching.get(orgId) ?? 0;
  if (running >= MOST_SEARCHES) throw rateLimited(1);
  searching.set(orgId, running + 1);
  try {
    return await (orgId === '' ? search() : organizationSearches(search));
  } catch (error) {
    if (error instanceof Overloaded) throw rateLimited(SEARCH_AGAIN, 'too many logs are being searched. Try again in a few seconds');
    if (isTimeout(error)) throw validation([{ field: 'since', message: 'the search took too long. Narrow it with since and until' }]);
    throw error;
  } finally {
    const left = (searching.get(orgId) ?? 1) - 1;
    if (left > 0) searching.set(orgId, left);
    else searching.delete(orgId);
  }
}

/** The events about an application, group, organization or another object except users, newest first. */
export const listObjectActivity = ({ database: { knex } }: Services, id: string, window: Window): Promise<Page<StoredEvent>> =>
  listEventsOfObject(knex, id, window);

// The log of an organization: the events about it, for users whose roles there allow them to read it.

/** Filter of an organization's log. */
type OrganizationLogQuery = Pick<LogQuery, 'since' | 'until' | 'filter'>;

/**
 * Newest first. Only administrators of the service see the IP address and browser of actors who are not members of the organization. Nobody can
 * filter by them here.
 * @throws {ApiError} not found, forbidden; validation of the filter; rate limited
 */
export async function readOrganizationLog(
  services: Services,
  orgId: string,
  query: OrganizationLogQuery,
  window: Window,
  request: RequestContext,
): Promise<Page<StoredEvent>> {
  checkReadable(orgId, request, 'READ_LOG');
  const page = await listOrganizationEvents(services, orgId, query, window);
  if (page.items.length === 0 && !(await organizationExists(services.database.knex, orgId))) throw notFound(orgId, 'Organization');
  if (reachOf(request.roles ?? [], 'read') === 'everything') return page;
  const actors = [...new Set(page.items.map(({ actor }) => actor.id))];
  const members = await findMembersAmong(services, orgId, actors, SYSTEM);
  return { ...page, items: page.items.map((event) => (members.has(event.actor.id) ? event : { ...event, client: {} })) };
}

async function listOrganizationEvents(
  { database: { knex } }: Services,
  orgId: string,
  { filter: typed, ...span }: OrganizationLogQuery,
  window: Window,
): Promise<Page<StoredEvent>> {
  const filter = typed === undefined ? undefined : parseFilter(typed, ORGANIZATION_ATTRIBUTES, 'filter');
  const read = () => listEventsOfObject(knex, orgId, window, { ...span, filter });
  return filter !== undefined || span.since !== undefined || span.until !== undefined ? withSearchLimit(orgId, read) : read();
}
