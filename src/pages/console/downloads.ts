/** All rows of a console list that match its filters, for a file or a bulk action. */
import { recordEvent } from '../../features/audit/audit.service.ts';
import type { Event } from '../../features/audit/audit-event.policy.ts';
import type { NumberedPage, NumberedWindow, Page, Window } from '../../platform/database/paging.ts';
import { type FileFormat, listFile } from '../../platform/http/list-files.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { type ListColumns, wordSearchIn } from './list-state.ts';
import type { Action, ConsoleRequest } from './page.ts';

/** Rows per query. */
const BATCH = 500;

/** The format in the URL. */
export const formatIn = (query: URLSearchParams): FileFormat => (query.get('format') === 'ndjson' ? 'ndjson' : 'csv');

/** Links to the files; none for an empty list. */
export function fileActions(path: string, query: URLSearchParams, total: number | undefined): readonly Action[] {
  const kept = [...query].filter(([name]) => !['page', 'size', 'sort'].includes(name));
  const file = (format: FileFormat) => `${path}/download?${new URLSearchParams([...kept, ['format', format]])}`;
  return total === undefined || total === 0
    ? []
    : [
        { label: 'Export as CSV', href: file('csv') },
        { label: 'Export as NDJSON', href: file('ndjson') },
      ];
}

/** All rows of a list in batches, in the order of a column that never changes, so that concurrent changes do not move other rows. */
export type Pieces<T> = AsyncIterable<readonly T[]>;

/** @param read reads a page of a list that can be in any order */
export async function* piecesInOrder<T>(read: (window: NumberedWindow) => Promise<NumberedPage<T>>): Pieces<T> {
  for (let after: NumberedWindow['after'] = 'first'; after !== undefined; ) {
    const { items, next }: NumberedPage<T> = await read({ page: 1, size: BATCH, after });
    yield items;
    after = next;
  }
}

/** @param columns of the list, which the search reads @param read reads one batch */
export async function* piecesOf<T>(
  query: URLSearchParams,
  columns: ListColumns,
  read: (window: Window) => Promise<Pick<Page<T>, 'items'> & { readonly next?: number | undefined }>,
): Pieces<T> {
  const words = wordSearchIn(query, columns);
  let after: number | undefined;
  do {
    const { items, next } = await read({ limit: BATCH, after, words });
    yield items;
    after = next;
  } while (after !== undefined);
}

interface ListFile<T> {
  /** File name, without extension. */
  readonly name: string;
  /** All possible columns of the file. */
  readonly columns: readonly string[];
  readonly pieces: Pieces<T>;
  readonly recordOf: (item: T) => Readonly<Record<string, unknown>>;
  /** The rows' parent, for the event of the export. */
  readonly of?: NonNullable<Event['targets']>[number] | undefined;
  /** Its rows are users. */
  readonly hasUsers?: boolean;
}

/** @throws {ApiError} of the first batch, before the response starts */
export async function downloadList<T>(
  { services, query, request }: Pick<ConsoleRequest, 'services' | 'query' | 'request'>,
  { name, columns, pieces, recordOf, of, hasUsers = false }: ListFile<T>,
) {
  const rest = pieces[Symbol.asyncIterator]();
  const first = await rest.next();
  const format = formatIn(query);
  // The URL must not select another list, or contain what PostgreSQL cannot store.
  const narrowed = Object.fromEntries([...query].filter((pair) => pair.every(isPrintable)));
  await recordEvent(services.database.knex, {
    eventType: hasUsers ? 'system.export.users' : 'system.export.list',
    displayMessage: hasUsers ? 'Export users' : 'Export list',
    request,
    ...(of !== undefined && { targets: [of] }),
    after: { ...narrowed, list: name, format },
  });
  async function* records() {
    for (let piece = first; piece.done !== true; piece = await rest.next())
      for (const item of piece.value) {
        const record = recordOf(item);
        yield Object.fromEntries(columns.map((column) => [column, record[column]]));
      }
  }
  return listFile(name, format, columns, records());
}
