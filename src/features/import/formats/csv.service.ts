/** Users in rows (RFC 4180): the columns of the export, and a few more. Memberships are names, or a JSON list of names. */
import { CsvError, type Info, parse } from 'csv-parse';
import { validation } from '../../../platform/errors/errors.ts';
import { valueOfText } from '../../user-schema/attribute-values.service.ts';
import type { Attribute } from '../../user-schema/attributes.resource.ts';
import { PROFILE_COLUMNS } from '../../users/user-data.service.ts';
import { csvProblem } from '../csv-problem.service.ts';
import { hashOfText } from '../hash-text.service.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { UnreadableSource } from '../import-source.service.ts';
import { ESCAPED } from '../users-csv.service.ts';

const LONGEST_ROW = 64 * 1024;
/** Columns that are not attributes of the profile. */
const OWN_COLUMNS = ['status', 'orgId', 'depId', 'organizations', 'groups', 'password', 'passwordHash', 'totpSecret'] as const;
/** Columns of the export that an import ignores. */
const PASSED_OVER: readonly string[] = ['id', 'created', 'lastLogin'];

type Row = Readonly<Record<string, string>>;

/** @param attributes custom attributes @throws {UnreadableSource} the first row does not name the columns, or the file is not CSV */
export async function* itemsOfCsv(source: AsyncIterable<Buffer>, attributes: readonly Attribute[]): AsyncGenerator<ImportItem> {
  const parser = parse({
    bom: true,
    columns: (header: readonly string[]) => columnsOf(header, attributes),
    delimiter: [',', ';', '\t'],
    info: true,
    max_record_size: LONGEST_ROW,
    skip_empty_lines: true,
    trim: true,
  });
  pump(source, parser);
  const types = new Map(attributes.map(({ name, type }) => [name, type]));
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Row; info: Info }>) {
      yield itemOf(record, { line: info.lines }, types);
    }
  } catch (error) {
    if (error instanceof CsvError) throw new UnreadableSource(`The file ${csvProblem(error)}.`);
    throw error;
  }
}

/** Reads the source only as fast as rows are consumed. */
function pump(source: AsyncIterable<Buffer>, parser: ReturnType<typeof parse>): void {
  const push = async () => {
    for await (const chunk of source) {
      if (!parser.write(chunk)) await new Promise((resolve) => parser.once('drain', resolve));
    }
    parser.end();
  };
  push().catch((error: unknown) => parser.destroy(error instanceof Error ? error : new Error(String(error))));
}

function columnsOf(header: readonly string[], attributes: readonly Attribute[]): (string | false)[] {
  const names = header.map((name) => name.trim());
  const known = new Set<string>([...PROFILE_COLUMNS, ...attributes.map(({ name }) => name), ...OWN_COLUMNS, ...PASSED_OVER]);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new UnreadableSource(`The first row contains unknown columns: ${unknown.slice(0, 5).join(', ')}. Rename or remove them.`);
  if (!names.includes('login')) throw new UnreadableSource('The first row has no column “login”. Add one.');
  if (new Set(names).size < names.length) throw new UnreadableSource('The first row contains a column twice. Remove one.');
  return names.map((name) => (PASSED_OVER.includes(name) ? false : name));
}

function itemOf(record: Row, place: { readonly line: number }, types: ReadonlyMap<string, Attribute['type']>): ImportItem {
  const given = Object.entries(record).filter(([, value]) => value !== '');
  if (given.some(([, value]) => value.includes('\uFFFD'))) return { kind: 'refused', place, reasons: ['it is not UTF-8'] };
  const own: Row = Object.fromEntries(given.filter(([name]) => (OWN_COLUMNS as readonly string[]).includes(name)));
  const profile = given
    .filter(([name]) => !(name in own))
    .map(([name, value]) => [
      name,
      valueOfText(name === 'emailVerified' ? 'boolean' : (types.get(name) ?? 'string'), value.replace(ESCAPED, '')),
    ]);
  try {
    return { kind: 'user', place, value: { profile: Object.fromEntries(profile), ...ownValues(own) } };
  } catch (error) {
    return { kind: 'refused', place, reasons: reasonsOf(error) };
  }
}

function ownValues({ password, passwordHash, totpSecret, organizations, groups, ...ids }: Row): object {
  if (password !== undefined && passwordHash !== undefined)
    throw validation([{ field: 'password', message: 'cannot be combined with passwordHash. Remove one of them' }]);
  const names = (cell: string) => valueOfText('array', cell.replace(ESCAPED, ''));
  return {
    ...ids,
    ...(password !== undefined && { credentials: { password: { value: password } } }),
    ...(passwordHash !== undefined && { credentials: { password: { hash: hashOfText(passwordHash, 'passwordHash') } } }),
    ...(totpSecret !== undefined && { factors: [{ type: 'TOTP', secret: totpSecret }] }),
    ...(organizations !== undefined && { organizations: names(organizations) }),
    ...(groups !== undefined && { groups: names(groups) }),
  };
}
