/** The tab "Activity" of things that have events: an application, a group, an organization. */
import type { TablePart } from '../../pages/console/detail-page.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import type { Page } from '../../platform/database/paging.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { LOG } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { LOG_COLUMNS, plainRowOf, rowOf } from './log.console.ts';
import { listObjectActivity, readOrganizationLog } from './logs.service.ts';

/** @param path of the tab */
export async function activityOf({ services, query, request }: ConsoleRequest, id: string, path: string): Promise<TablePart> {
  return tableOf(await listObjectActivity(services, id, windowIn(query)), { id, path }, { query, request });
}

/** The same of an organization, also for those who read its log alone. @throws {ApiError} not found, forbidden */
export async function organizationActivity({ services, query, request }: ConsoleRequest, id: string, path: string): Promise<TablePart> {
  return tableOf(await readOrganizationLog(services, id, windowIn(query), request), { id, path }, { query, request });
}

const windowIn = (query: URLSearchParams) => ({ limit: LIMIT, after: afterIn(query) });

function tableOf(
  { items, next }: Page<StoredEvent>,
  { id, path }: { readonly id: string; readonly path: string },
  { query, request }: Pick<ConsoleRequest, 'query' | 'request'>,
): TablePart {
  const seesAll = mayCall(request.roles, 'service', 'read');
  return {
    kind: 'table',
    title: 'Activity',
    actions: seesAll ? [{ label: 'Search the system log', href: `${LOG}?${new URLSearchParams({ target: id })}` }] : [],
    name: 'Activity',
    isDense: true,
    columns: LOG_COLUMNS,
    rows: items.map(seesAll ? rowOf : plainRowOf),
    empty: 'No activity yet.',
    pager: pagerOf(path, query, next),
  };
}
