/** Reads users from a CSV file (RFC 4180) whose first row names attributes of the profile. */
import { CsvError, parse } from 'csv-parse';
import { validation } from '../../platform/errors/errors.ts';
import { valueOfText } from '../user-schema/attribute-values.service.ts';
import type { Attribute } from '../user-schema/attributes.resource.ts';
import { EXPORT_ONLY, PROFILE_COLUMNS } from '../users/user-data.service.ts';
import { csvProblem } from './csv-problem.service.ts';

const MEMBERSHIP: readonly string[] = ['orgId', 'depId'];
const PASSED_OVER: readonly string[] = EXPORT_ONLY;
const LONGEST_ROW = 64 * 1024;

/** A leading apostrophe, which the export adds to cells that a spreadsheet would run as a formula. */
export const ESCAPED = /^'(?=[=+\-@\t\r])/;

/** @throws {ApiError} validation of the field `file`, with the line */
function columnsOf(header: readonly string[], attributes: readonly Attribute[]): (string | false)[] {
  const names = header.map((name) => name.trim());
  const known = [...PROFILE_COLUMNS, ...attributes.map(({ name }) => name), ...MEMBERSHIP, ...PASSED_OVER];
  const unknown = names.filter((name) => !known.includes(name));
  const problem = (message: string) => validation([{ field: 'file', message }]);
  if (unknown.length > 0) throw problem(`contains unknown columns: ${unknown.slice(0, 5).join(', ')}. Rename or remove them`);
  if (!names.includes('login')) throw problem('has no column “login” in its first row');
  if (new Set(names).size < names.length) throw problem('contains a column twice');
  return names.map((name) => (PASSED_OVER.includes(name) ? false : name));
}

function userIn(record: Readonly<Record<string, string>>, place: number, attributes: readonly Attribute[]) {
  const types = new Map(attributes.map(({ name, type }) => [name, type]));
  const given = Object.entries(record)
    .map(([name, value]) => [name, value.replace(ESCAPED, '')] as const)
    .filter(([, value]) => value !== '');
  const profile = given
    .filter(([name]) => !MEMBERSHIP.includes(name))
    .map(([name, value]) => [name, valueOfText(name === 'emailVerified' ? 'boolean' : (types.get(name) ?? 'string'), value)]);
  const membership = given.filter(([name]) => MEMBERSHIP.includes(name));
  return { name: record.login || `Row ${place}`, item: { ...Object.fromEntries(membership), profile: Object.fromEntries(profile) } };
}

/**
 * Users in the form of the body of `POST users`; empty cells are omitted. Columns are separated by commas, semicolons or tabs.
 * @param attributes custom attributes; the value of a list is JSON, or a single element
 * @throws {ApiError} validation of the field `file`, with the line
 */
export async function* usersFromCsv(
  content: string,
  attributes: readonly Attribute[],
): AsyncGenerator<{ readonly name: string; readonly item: unknown }> {
  const records = parse(content, {
    bom: true,
    columns: (header: readonly string[]) => columnsOf(header, attributes),
    delimiter: [',', ';', '\t'],
    max_record_size: LONGEST_ROW,
    skip_empty_lines: true,
    trim: true,
  });
  let place = 0;
  try {
    for await (const record of records) {
      place += 1;
      yield userIn(record, place, attributes);
    }
  } catch (error) {
    if (error instanceof CsvError) throw validation([{ field: 'file', message: csvProblem(error) }]);
    throw error;
  }
}
