/** The tab "Activity" of things that have events: an application, a group, an organization. */
import type { TablePart } from '../../pages/console/detail-page.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { LOG } from './event-links.console.ts';
import { LOG_COLUMNS, rowOf } from './log.console.ts';
import { listObjectActivity } from './logs.service.ts';

/** @param path of the tab */
export async function activityOf({ services, query }: ConsoleRequest, id: string, path: string): Promise<TablePart> {
  const { items, next } = await listObjectActivity(services, id, { limit: LIMIT, after: afterIn(query) });
  return {
    kind: 'table',
    title: 'Activity',
    actions: [{ label: 'Search the system log', href: `${LOG}?${new URLSearchParams({ target: id })}` }],
    name: 'Activity',
    columns: LOG_COLUMNS,
    rows: items.map(rowOf),
    empty: 'No activity yet.',
    pager: pagerOf(path, query, next),
  };
}
