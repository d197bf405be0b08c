/** A list of users as a file, streamed: CSV (RFC 4180) or newline-delimited JSON. */
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { listUsers, type UserQuery } from './user-lists.service.ts';
import type { User } from './users.resource.ts';
import { BASE_ATTRIBUTES } from './users.resource.ts';
import { profileFields } from './users.service.ts';

/** Rows that are read together. */
const BATCH = 500;
/** Columns that an import passes over. */
export const EXPORT_ONLY = ['id', 'status', 'created', 'lastLogin'] as const;
/** Attributes of the profile, in the order of the columns; those that operators have added come last. */
export const PROFILE_COLUMNS: readonly string[] = ['login', 'email', 'emailVerified', ...BASE_ATTRIBUTES];

const recordOf = (user: User) => ({
  id: user.id,
  status: user.status,
  created: user.created.toISOString(),
  lastLogin: user.lastLogin?.toISOString() ?? null,
  ...profileFields(user),
});

/**
 * The users that match, the oldest first. Cells that a spreadsheet would run as a formula begin with an apostrophe.
 * @throws {ApiError} validation of search or filter
 */
export async function exportUsers(services: Services, query: UserQuery, format: 'csv' | 'ndjson', request: RequestContext) {
  // Read the first rows before the response starts, so that an invalid search returns an error.
  const first = await listUsers(services, { ...query, limit: BATCH }, request);
  await recordEvent(services.database.knex, {
    eventType: 'system.export.users',
    displayMessage: 'Export users',
    request,
    after: { format, q: query.q, search: query.search, filter: query.filter },
  });
  async function* records() {
    for (let page = first; ; page = await listUsers(services, { ...query, limit: BATCH, after: page.next }, request)) {
      yield* page.items.map(recordOf);
      if (page.next === undefined) return;
    }
  }
  async function* lines() {
    for await (const record of records()) yield `${JSON.stringify(record)}\n`;
  }
  if (format === 'ndjson') return { name: 'users.ndjson', type: 'application/x-ndjson', content: Readable.from(lines()) };
  const { attributes } = await currentUserSchema(services);
  const columns = [...EXPORT_ONLY, ...PROFILE_COLUMNS, ...attributes.map(({ name }) => name)];
  // A list is one cell, as JSON.
  const cast = { boolean: (value: boolean) => String(value), object: (value: unknown) => JSON.stringify(value) };
  const csv = stringify({ header: true, bom: true, columns, escape_formulas: true, cast });
  return { name: 'users.csv', type: 'text/csv; charset=utf-8', content: Readable.from(records()).pipe(csv) };
}
