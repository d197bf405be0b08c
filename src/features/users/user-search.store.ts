/** Pages of users that match a search, also by added attributes. */
import type { Knex } from 'knex';
import { termsOf } from '../../platform/database/attribute-terms.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { AttributeColumns } from '../../platform/database/filter.ts';
import {
  type NumberedPage,
  type NumberedWindow,
  type Page,
  readNumberedPage,
  readPage,
  readSlice,
  type Slice,
  type Window,
} from '../../platform/database/paging.ts';
import { applyWordsOfUser, USER_ORDERS } from './user-orders.store.ts';
import type { User } from './users.resource.ts';
import { selectedUsers, USER_COLUMNS, type UserSelection } from './users.store.ts';

/** Users who are compared first, in the order of the list. If one in a hundred matches, they fill the page. */
const FIRST_READ = 2_000;
/** Most users to look up by the index of attributes. If it finds more, reading users in the order of the list is faster. */
const MOST_FOUND = 5_000;

/**
 * As `selectedUsers`, by the index of attributes if it finds few. PostgreSQL cannot decide this: it has no statistics of terms that occur together.
 * @returns inside an object, because a query is thenable
 */
export async function foundUsers(executor: Executor, selection: UserSelection, columns: AttributeColumns) {
  const users = selectedUsers(executor, selection, columns);
  const terms = termsOf({ op: 'and', filters: selection.filters }, columns);
  if (terms === undefined) return { users };
  const found: number[] = await executor
    .select('seq')
    .from(executor.raw(`users_with_terms(${terms.sql}, ?) AS seq`, [...terms.bindings, MOST_FOUND + 1]))
    .pluck('seq');
  if (found.length <= MOST_FOUND) users.whereRaw('users.seq = ANY (CAST(? AS bigint[]))', [`{${found.join()}}`]);
  return { users };
}

/** The oldest first. @param columns those that the filters were parsed with */
export async function readUsers(executor: Executor, { words, ...rest }: UserSelection, columns: AttributeColumns, window: Window) {
  const page = (users: Knex.QueryBuilder): Promise<Page<User>> => {
    if (words !== undefined) applyWordsOfUser('users.id')(users, words);
    return readPage<User>(users, USER_COLUMNS, window);
  };
  if (termsOf({ op: 'and', filters: rest.filters }, columns) !== undefined) {
    const first = executor('users').orderBy('seq').limit(FIRST_READ);
    if (window.after !== undefined) first.whereRaw('seq > ?::bigint', [window.after]);
    const early = await page(selectedUsers(executor, rest, columns, first.as('users')));
    if (early.next !== undefined) return early;
  }
  return page((await foundUsers(executor, rest, columns)).users);
}

/** A page by number, in any order. @param columns those that the filters were parsed with */
export const readUsersInOrder = async (
  executor: Executor,
  selection: UserSelection,
  columns: AttributeColumns,
  window: NumberedWindow,
): Promise<NumberedPage<User>> =>
  readNumberedPage<User>((await foundUsers(executor, selection, columns)).users, USER_COLUMNS, window, USER_ORDERS, {
    isNarrowed: selection.words !== undefined || selection.filters.length > 0 || selection.orgIds !== undefined,
  });

/** A slice, in any order. @param columns those that the filters were parsed with */
export const readUsersSlice = async (
  executor: Executor,
  selection: UserSelection,
  columns: AttributeColumns,
  slice: Slice,
): Promise<NumberedPage<User>> => readSlice<User>((await foundUsers(executor, selection, columns)).users, USER_COLUMNS, slice);
