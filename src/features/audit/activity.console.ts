/** The tab "Activity" of objects with events: a user, an application, a group, an organization. */
import type { TablePart } from '../../pages/console/detail-page.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { LOG } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { COMMON, findEvents } from './log.console.ts';
import { LOG_COLUMNS, plainRowOf, rowOf } from './log-rows.console.ts';
import { searchFields, searchIn } from './log-search.console.ts';
import { listObjectActivity, readOrganizationLog } from './logs.service.ts';

/**
 * @param path of the tab
 * @param read events about the object, and for a user also those by them
 */
export async function activityOf(
  visit: ConsoleRequest,
  id: string,
  path: string,
  read: (window: Window) => Promise<Page<StoredEvent>> = (window) => listObjectActivity(visit.services, id, window),
): Promise<TablePart> {
  return tableOf(await read(windowIn(path, visit)), { id, path }, visit);
}

/** The activity of an organization, with a search. The permission to read its log is enough. @throws {ApiError} not found, forbidden */
export async function organizationActivity(visit: ConsoleRequest, id: string, path: string): Promise<TablePart> {
  const { services, query, request } = visit;
  const fields = searchFields(query);
  const asked = new URLSearchParams([...query].filter(([name]) => fields.some((field) => field.name === name)));
  const search = searchIn(asked);
  const { page, problems } = await findEvents(search, () =>
    readOrganizationLog(services, id, search.question, windowIn(path, visit), request),
  );
  const table = tableOf(page, { id, path }, visit);
  return {
    ...table,
    empty: problems.length > 0 ? 'The search failed.' : search.isNarrowed ? 'No matches.' : table.empty,
    search: { fields: fields.slice(0, COMMON), advanced: fields.slice(COMMON), isNarrowed: search.isNarrowed, problems },
  };
}

const windowIn = (path: string, visit: ConsoleRequest) => ({ limit: LIMIT, after: afterIn(path, visit) });

function tableOf(
  { items, next }: Page<StoredEvent>,
  { id, path }: { readonly id: string; readonly path: string },
  visit: ConsoleRequest,
): TablePart {
  const seesAll = mayCall(visit.request.roles, 'service', 'read');
  return {
    kind: 'table',
    title: 'Activity',
    actions: seesAll ? [{ label: 'Search the system log', icon: 'search', href: `${LOG}?${new URLSearchParams({ q: id })}` }] : [],
    name: 'Activity',
    isDense: true,
    columns: LOG_COLUMNS,
    rows: items.map((event) => (seesAll ? rowOf(event) : plainRowOf(event))),
    empty: 'No activity yet.',
    pager: pagerOf(path, visit, next),
  };
}
