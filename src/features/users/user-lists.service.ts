/** Lists of users, limited to those whom the caller can see. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type AttributeColumns, attributeTypes, type Filter } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { NumberedPage, NumberedWindow, Page, Slice, Window } from '../../platform/database/paging.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { foundUsers, readUsers, readUsersInOrder, readUsersSlice } from './user-search.store.ts';
import type { User } from './users.resource.ts';
import { type UserSelection, userAttributes } from './users.store.ts';

export interface UserQuery {
  /** Words: each is a prefix of a word of user name, e-mail address or a name. Case and accents are ignored. */
  readonly q?: string | undefined;
  /** Filters of RFC 7644 section 3.4.2.2; both must match. */
  readonly search?: string | undefined;
  readonly filter?: string | undefined;
}

interface Selected {
  readonly selection: UserSelection;
  /** Columns used to parse the filters. */
  readonly columns: AttributeColumns;
}

/** As in Okta, DEPROVISIONED users appear only with `search` or `filter`. @throws {ApiError} validation of search or filter */
async function selectionOf(services: Services, { q, search, filter }: UserQuery, request: RequestContext): Promise<Selected> {
  const columns = userAttributes((await currentUserSchema(services)).attributes, present());
  const filters = Object.entries({ search, filter }).flatMap(([field, expression]) =>
    expression === undefined ? [] : [parseFilter(expression, attributeTypes(columns), field)],
  );
  const selection: UserSelection = {
    words: q,
    filters,
    withoutStatus: filters.length === 0 ? 'DEPROVISIONED' : undefined,
    orgIds: orgIdsOf(request),
  };
  return { selection, columns };
}

/** The organizations whose members the caller can see; undefined: everyone. */
function orgIdsOf(request: RequestContext): ReadonlySet<string> | undefined {
  const reach = reachOf(request.roles ?? [], 'read', 'MANAGE_MEMBERS');
  return reach === 'everything' ? undefined : reach;
}

/** Oldest first. @throws {ApiError} validation of search or filter */
export async function listUsers(services: Services, query: UserQuery & Window, request: RequestContext): Promise<Page<User>> {
  const { limit, after } = query;
  const { selection, columns } = await selectionOf(services, query, request);
  return readUsers(services.database.knex, selection, columns, { limit, after });
}

/** One page by number in any order, with the total. @throws {ApiError} validation of search or filter */
export async function searchUsers(
  services: Services,
  query: UserQuery,
  window: NumberedWindow,
  request: RequestContext,
): Promise<NumberedPage<User>> {
  const { selection, columns } = await selectionOf(services, query, request);
  return readUsersInOrder(services.database.knex, selection, columns, window);
}

/** Users in any status for a short list: an exact ID, user name or e-mail address comes first, then words, by name. @param most limit */
export async function suggestUsers(
  services: Services,
  q: string | undefined,
  most: number,
  request: RequestContext,
): Promise<readonly User[]> {
  const find = async (query: UserQuery) =>
    (await searchUsers(services, query, { page: 1, size: most, sort: { by: 'name', descending: false } }, request)).items;
  const others = find({ q, filter: 'id pr' });
  if (q === undefined) return others;
  const value = JSON.stringify(q);
  const exact = await find({ filter: `id eq ${value} or profile.login eq ${value} or profile.email eq ${value}` });
  return [...exact, ...(await others).filter(({ id }) => exact.every((one) => one.id !== id))].slice(0, most);
}

/**
 * A slice of the users in any status that match a filter.
 * @param columns those that the filter was parsed with
 */
export const searchUsersBy = (
  { database }: Services,
  filter: Filter | undefined,
  columns: AttributeColumns,
  slice: Slice,
  request: RequestContext,
): Promise<NumberedPage<User>> =>
  readUsersSlice(database.knex, { filters: filter === undefined ? [] : [filter], orgIds: orgIdsOf(request) }, columns, slice);

/** The matching rows, for a store's statement. @throws {ApiError} validation of search or filter */
export async function matchingUsers(services: Services, executor: Executor, query: UserQuery, request: RequestContext) {
  const { selection, columns } = await selectionOf(services, query, request);
  return foundUsers(executor, selection, columns);
}
