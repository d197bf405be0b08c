/** Lists of users: only those whom the caller may see. */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { attributeTypes } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { NumberedPage, NumberedWindow, Page, Window } from '../../platform/database/paging.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { ATTRIBUTES } from './user-profile.service.ts';
import type { User } from './users.resource.ts';
import { readUsers, readUsersInOrder, selectedUsers, type UserSelection, userAttributes } from './users.store.ts';

const TYPES = attributeTypes(userAttributes(ATTRIBUTES, present()));

export interface UserQuery {
  /** Words: each begins a word of login, e-mail address or a name. Case and accents do not count. */
  readonly q?: string | undefined;
  /** Filters of RFC 7644 section 3.4.2.2; a user matches both. */
  readonly search?: string | undefined;
  readonly filter?: string | undefined;
}

/** As in Okta, DEPROVISIONED users appear only where `search` or `filter` is given. @throws {ApiError} validation of search or filter */
function selectionOf({ q, search, filter }: UserQuery, request: RequestContext): UserSelection {
  const filters = Object.entries({ search, filter }).flatMap(([field, expression]) =>
    expression === undefined ? [] : [parseFilter(expression, TYPES, field)],
  );
  const reach = reachOf(request.roles ?? [], 'read');
  return {
    words: q,
    filters,
    withoutStatus: filters.length === 0 ? 'DEPROVISIONED' : undefined,
    orgIds: reach === 'everything' ? undefined : reach,
  };
}

/** The oldest first. @throws {ApiError} validation of search or filter */
export function listUsers(services: Services, query: UserQuery & Window, request: RequestContext): Promise<Page<User>> {
  const { limit, after } = query;
  return readUsers(services.database.knex, selectionOf(query, request), userAttributes(ATTRIBUTES, present()), { limit, after });
}

/** One numbered page in any order, with how many there are in all. @throws {ApiError} validation of search or filter */
export const searchUsers = (
  services: Services,
  query: UserQuery,
  window: NumberedWindow,
  request: RequestContext,
): Promise<NumberedPage<User>> =>
  readUsersInOrder(services.database.knex, selectionOf(query, request), userAttributes(ATTRIBUTES, present()), window);

/** The rows that match, for a statement of a store. @throws {ApiError} validation of search or filter */
export const matchingUsers = (executor: Executor, query: UserQuery, request: RequestContext) =>
  selectedUsers(executor, selectionOf(query, request), userAttributes(ATTRIBUTES, present()));
