/** Lists as files, streamed: CSV (RFC 4180) or newline-delimited JSON. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

export type FileFormat = 'csv' | 'ndjson';

/** Formats of values, the same as in NDJSON; a list is one cell. */
const CAST = {
  boolean: (value: boolean) => String(value),
  date: (value: Date) => value.toISOString(),
  object: (value: unknown) => JSON.stringify(value),
};

/** An error of the records ends the file, which reports it to the response. Without `pipeline` the error would be unhandled and end the process. */
const noError = () => {};

/**
 * Cells that a spreadsheet would run as a formula get a leading apostrophe.
 * @param name without extension
 * @param columns of the CSV file; NDJSON has all fields of a record
 */
export function listFile(name: string, format: FileFormat, columns: readonly string[], records: AsyncIterable<unknown>) {
  if (format === 'csv') {
    const csv = stringify({ header: true, bom: true, columns: [...columns], escape_formulas: true, cast: CAST });
    return { name: `${name}.csv`, type: 'text/csv; charset=utf-8', content: pipeline(Readable.from(records), csv, noError) };
  }
  async function* lines() {
    for await (const record of records) yield `${JSON.stringify(record)}\n`;
  }
  return { name: `${name}.ndjson`, type: 'application/x-ndjson', content: Readable.from(lines()) };
}
