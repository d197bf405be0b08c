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

interface ListDownload<T> {
  /** File name, without extension. */
  readonly name: string;
  readonly columns: readonly string[];
  read(window: NumberedWindow): Promise<NumberedPage<T>>;
  readonly recordOf: (item: T) => object;
}

/** @throws {ApiError} of the first read, before the response starts */
export async function downloadList<T>(query: URLSearchParams, { name, columns, recordOf, read }: ListDownload<T>) {
  const batch = (after: NumberedWindow['after']) => read({ page: 1, size: BATCH, after });
  const first = await batch('first');
  async function* records() {
    for (let found = first; ; found = await batch(found.next)) {
      yield* found.items.map(recordOf);
      if (found.next === undefined) return;
    }
  }
  return listFile(name, formatIn(query), columns, records());
}
