/** A list of the console as a file: all its rows, with what narrows it. */
import type { NumberedPage, NumberedWindow } from '../../platform/database/paging.ts';
import { type FileFormat, listFile } from '../../platform/http/list-files.ts';
import type { Action } from './page.ts';

/** Rows that are read together. */
const BATCH = 500;

/** The format that an address asks for. */
export const formatIn = (query: URLSearchParams): FileFormat => (query.get('format') === 'ndjson' ? 'ndjson' : 'csv');

/** Links to the files; none for an empty list. */
export function fileActions(path: string, query: URLSearchParams, total: number): readonly Action[] {
  const kept = [...query].filter(([name]) => !['page', 'size', 'sort'].includes(name));
  const file = (format: FileFormat) => `${path}/download?${new URLSearchParams([...kept, ['format', format]])}`;
  return total === 0
    ? []
    : [
        { label: 'Export as CSV', href: file('csv') },
        { label: 'Export as NDJSON', href: file('ndjson') },
      ];
}

interface ListDownload<T, Order extends string> {
  /** File name, without extension. */
  readonly name: string;
  /** Rows that are added while the file is read come last by this order. */
  readonly by: Order;
  readonly columns: readonly string[];
  read(window: NumberedWindow & { readonly sort: { readonly by: Order; readonly descending: boolean } }): Promise<NumberedPage<T>>;
  readonly recordOf: (item: T) => object;
}

/** @throws {ApiError} of the first read, before the response starts */
export async function downloadList<T, Order extends string>(
  query: URLSearchParams,
  { name, by, columns, recordOf, read }: ListDownload<T, Order>,
) {
  const batch = (page: number) => read({ page, size: BATCH, sort: { by, descending: false } });
  const first = await batch(1);
  async function* records() {
    for (let [page, found] = [1, first]; ; found = await batch(page)) {
      yield* found.items.map(recordOf);
      if (page * BATCH >= found.total) return;
      page += 1;
    }
  }
  return listFile(name, formatIn(query), columns, records());
}
