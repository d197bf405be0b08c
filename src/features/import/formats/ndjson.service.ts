/** Users in the format of the API and the export: one JSON object per line, or an array. */
import { malformedBody } from '../../../platform/errors/errors.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { recordsOf, type SourceRecord } from '../import-source.service.ts';

export async function* itemsOfNdjson(source: AsyncIterable<Buffer>): AsyncGenerator<ImportItem> {
  for await (const record of recordsOf(source)) yield* readRecord(record, (value, place) => [{ kind: 'user', place, value }]);
}

/** Parses a record, or reports why it is refused. */
export function* readRecord(
  record: SourceRecord,
  itemsOf: (value: unknown, place: { readonly line: number }) => Iterable<ImportItem>,
): Generator<ImportItem> {
  const place = { line: record.line };
  try {
    yield* itemsOf(jsonOf(record), place);
  } catch (error) {
    yield { kind: 'refused', place, reasons: reasonsOf(error) };
  }
}

/** @throws {ApiError} malformed body */
function jsonOf({ text }: SourceRecord): unknown {
  if (text === null) throw malformedBody('it has more than 1,048,576 characters');
  // The decoder replaces bytes that are not valid UTF-8: names would be corrupted silently.
  if (text.includes('\uFFFD')) throw malformedBody('it is not UTF-8');
  try {
    return JSON.parse(text);
  } catch {
    throw malformedBody('it is not a JSON object');
  }
}
