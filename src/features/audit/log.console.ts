/** Reports → System log: the audit events, the newest first, searched, and kept as a file. */

import { detailPage, type Piece, type TableRow } from '../../pages/console/detail-page.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage, ConsoleRequest, FieldMessage } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { fieldMessages } from '../../pages/console/refusals.ts';
import type { Page } from '../../platform/database/paging.ts';
import { ApiError, validation } from '../../platform/errors/errors.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { tellDecision } from './decision-text.console.ts';
import { addressOfEntry, LOG, partyPiece } from './event-links.console.ts';
import type { StoredEvent } from './events.resource.ts';
import { describeEvent } from './log-events.service.ts';
import { type LogSearch, searchFields, searchIn } from './log-search.console.ts';
import { readLogs } from './logs.service.ts';

/** Entries of a file at most. */
const MOST_KEPT = 1000;

const BUSY = 'Others are searching just now. Search again in a moment.';

interface Found {
  readonly page: Page<StoredEvent>;
  readonly problems: readonly FieldMessage[];
}

/** A search that cannot be carried out finds nothing, and says why. */
async function find({ services, query }: ConsoleRequest, { question, problems }: LogSearch): Promise<Found> {
  const nothing = { items: [], next: undefined };
  if (problems.length > 0) return { page: nothing, problems };
  try {
    return { page: await readLogs(services, question, { limit: LIMIT, after: afterIn(query) }), problems };
  } catch (error) {
    const isBusy = error instanceof ApiError && error.status === 429;
    const told = isBusy ? [{ message: BUSY }] : fieldMessages(error);
    if (told === undefined) throw error;
    // The filter is made of several fields.
    return {
      page: nothing,
      problems: told.map(({ field, message }) => (field === undefined || field === 'filter' ? { message } : { field, message })),
    };
  }
}

export const outcomePieces = ({ outcome: { result, reason } }: StoredEvent): readonly Piece[] => [
  result === 'SUCCESS' ? { text: 'Success', tone: 'good' } : { text: 'Failure', tone: 'bad' },
  ...(reason === undefined || reason === null ? [] : [{ text: reason, soft: true }]),
];

/** An event as a row of a list. */
export function rowOf(event: StoredEvent): TableRow {
  const { uuid, published, displayMessage, eventType, actor, target } = event;
  const parties = [actor, ...target];
  const [first, ...rest] = target;
  const others: Piece = { text: `and ${rest.length} more`, soft: true };
  const address = addressOfEntry(uuid);
  return {
    cells: [
      [
        { text: displayMessage, href: address },
        { text: eventType, soft: true },
      ],
      { moment: momentOf(published) },
      partyPiece(actor, parties),
      first === undefined ? '' : [partyPiece(first, parties), ...(rest.length === 0 ? [] : [others])],
      outcomePieces(event),
    ],
    actions: tellDecision(event) === undefined ? [] : [{ label: 'Explain', href: `${address}/explain` }],
  };
}

export const COLUMNS = ['What', 'When', 'Who', 'To what', 'Outcome'] as const;

export const log: ConsolePage = {
  path: '/reports/log',
  access: 'service',
  async show(visit) {
    const { query } = visit;
    const search = searchIn(query);
    const { page, problems } = await find(visit, search);
    const { isNarrowed, lookedBackTo } = search;
    const kept = new URLSearchParams([...query].filter(([name]) => name !== 'after' && name !== 'notice'));
    const file = `${LOG}/download${kept.size === 0 ? '' : `?${kept}`}`;
    const span = lookedBackTo === undefined ? '' : ` Looked back to ${momentOf(lookedBackTo).text}; set “Since” to look further back.`;
    return detailPage({
      title: 'System log',
      lead: 'Who did what, when and from where, the newest first.',
      crumbs: [{ label: 'Reports' }],
      actions: [
        ...(page.items.length === 0 ? [] : [{ label: 'Download up to 1,000 as JSON', href: file }]),
        ...(mayCall(visit.request.roles, 'service', 'write') ? [{ label: 'Retention', href: `${LOG}/retention` }] : []),
      ],
      parts: [
        {
          kind: 'table',
          name: 'System log',
          columns: COLUMNS,
          rows: page.items.map(rowOf),
          empty:
            problems.length > 0 ? 'The search could not be carried out.' : `${isNarrowed ? 'Nothing fits.' : 'Nothing happened.'}${span}`,
          search: {
            label: 'Search',
            q: query.get('q') ?? '',
            hint: 'Words of the event, names, ids; all must be found. “Who” and “To what”: an id, or part of a name.',
            fields: searchFields(query),
            isNarrowed,
            problems,
          },
          pager: pagerOf(LOG, query, page.next),
        },
        ...(page.items.length > 0 && span !== '' && page.next === undefined ? [{ kind: 'words', paragraphs: [span.trim()] } as const] : []),
      ],
    });
  },
  async download({ services, query }) {
    const { question, problems } = searchIn(query);
    if (problems.length > 0) throw validation(problems);
    const { items } = await readLogs(services, question, { limit: MOST_KEPT, after: undefined });
    return { name: 'system-log.json', type: 'application/json', content: JSON.stringify(items.map(describeEvent), null, 2) };
  },
};
