/** Groups and their members. The only SQL on those tables. */
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused, violatedConstraint } from '../../platform/database/database-failures.ts';
import { type AttributeColumns, applyFilter, type Filter } from '../../platform/database/filter.ts';
import { foldCounts, type KeptCounts, keptCount, readCountedPage } from '../../platform/database/kept-counts.ts';
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
import { applyWords, inAlphabet } from '../../platform/database/words.ts';
import { applyUserWords, USER_ORDERS } from '../users/user-orders.store.ts';
import type { JoinedUser, MemberOrder, User } from '../users/users.resource.ts';
import { USER_AMONG_OTHERS } from '../users/users.store.ts';
import type { Group, GroupOrder } from './groups.resource.ts';

const GROUP: Columns<Group> = columns('id', 'name', 'description', 'origin', 'created', 'lastUpdated');

/** Filterable attributes of groups. */
export const GROUP_ATTRIBUTES: AttributeColumns = {
  id: { sql: 'id', type: 'text' },
  'profile.name': { sql: 'name', type: 'text' },
  'profile.description': { sql: 'description', type: 'text' },
  created: { sql: 'created', type: 'time' },
  lastUpdated: { sql: 'last_updated', type: 'time' },
  // The same value for every group, as in the API.
  type: { sql: `'OKTA_GROUP'`, type: 'text' },
};

const GROUP_COUNTS: KeptCounts = { table: 'group_counts', owner: 'group_id', totals: 'group_totals' };

/** @returns the number of updated groups, at most `limit` */
export const foldGroupCounts = (executor: Executor, limit: number): Promise<number> => foldCounts(executor, GROUP_COUNTS, limit);

/** @returns false if another group has the name */
export async function insertGroup(executor: Executor, group: Group): Promise<boolean> {
  return (await executor('groups').insert(toRow(GROUP, group)).onConflict('name').ignore().returning('id')).length === 1;
}

/** @returns false if another group has the name; the transaction can then only be rolled back */
export const updateGroupRow = (
  executor: Executor,
  id: string,
  changes: Partial<Omit<Group, 'id' | 'origin' | 'created'>>,
): Promise<boolean> => unlessRefused(executor('groups').where({ id }).update(toRow<Group>(GROUP, changes)), 'groups_name_key');

/** Also deletes its memberships and assignments. */
export async function deleteGroupRow(executor: Executor, id: string): Promise<void> {
  await executor('groups').where({ id }).delete();
}

export async function findGroup(executor: Executor, id: string): Promise<Group | undefined> {
  return executor('groups').where({ id }).first<Group | undefined>(GROUP);
}

/** @returns the existing ones of these IDs, in the given order */
export async function existingGroupIds(executor: Executor, ids: readonly string[]): Promise<string[]> {
  const there = new Set(
    await executor('groups')
      .whereIn('id', [...ids])
      .pluck<string[]>('id'),
  );
  return ids.filter((id) => there.has(id));
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockGroup(trx: Executor, id: string): Promise<Group | undefined> {
  return trx('groups').where({ id }).forUpdate().first<Group | undefined>(GROUP);
}

export interface GroupSelection {
  /** Each word is a prefix of a word of the name; or the whole is the ID. */
  readonly words?: string | undefined;
  readonly filters: readonly Filter[];
}

function selected(executor: Executor, { words, filters }: GroupSelection, columns = GROUP_ATTRIBUTES) {
  const query = executor('groups');
  if (words !== undefined) applyWords(query, ['name'], words, 'id');
  for (const filter of filters) applyFilter(query, filter, columns);
  return query;
}

/** Oldest first. */
export const selectGroups = (executor: Executor, selection: GroupSelection, window: Window): Promise<Page<Group>> =>
  readPage(selected(executor, selection), GROUP, window);

/** A slice, in any order. @param columns attributes with which the filters were parsed */
export const readGroupsSlice = (
  executor: Executor,
  selection: GroupSelection,
  columns: AttributeColumns,
  slice: Slice,
): Promise<NumberedPage<Group>> => readSlice<Group>(selected(executor, selection, columns), GROUP, slice);

const ORDERS: Readonly<Record<GroupOrder, string>> = {
  name: inAlphabet('name'),
  created: 'seq',
  members: keptCount(GROUP_COUNTS, 'groups.id'),
};

/** A group with its number of members. */
export type CountedGroup = Group & { readonly members: number };

/** A page by number, in any order. */
export const selectGroupsInOrder = (
  executor: Executor,
  selection: GroupSelection,
  window: NumberedWindow,
): Promise<NumberedPage<CountedGroup>> =>
  readCountedPage(executor, GROUP_COUNTS, {
    query: selected(executor, selection),
    isWhole: selection.words === undefined && selection.filters.length === 0,
    columns: GROUP,
    window,
    orders: ORDERS,
  });

/** @returns `missing` if the group or user no longer exists; the transaction must then be rolled back */
export async function insertGroupMember(
  trx: Executor,
  groupId: string,
  userId: string,
  created: Date,
): Promise<'added' | 'there already' | 'missing'> {
  try {
    const row = { group_id: groupId, user_id: userId, created };
    const inserted = await trx('group_members').insert(row).onConflict(['group_id', 'user_id']).ignore().returning('user_id');
    return inserted.length === 1 ? 'added' : 'there already';
  } catch (error) {
    if (violatedConstraint(error) !== undefined) return 'missing';
    throw error;
  }
}

export const listGroupMemberIdsAmong = (executor: Executor, groupId: string, userIds: readonly string[]): Promise<string[]> =>
  executor('group_members')
    .where({ group_id: groupId })
    .whereIn('user_id', [...userIds])
    .pluck('user_id');

/** @returns false if the user was not a member */
export async function deleteGroupMember(trx: Executor, groupId: string, userId: string): Promise<boolean> {
  return (await trx('group_members').where({ group_id: groupId, user_id: userId }).delete()) === 1;
}

const members = (executor: Executor, groupId: string) =>
  executor('group_members').join('users', 'users.id', 'group_members.user_id').where('group_members.group_id', groupId);

/** Members, oldest users first: pages continue after a user's number, and memberships have none. */
export const selectGroupMembers = (executor: Executor, groupId: string, window: Window): Promise<Page<User>> =>
  readPage(members(executor, groupId), USER_AMONG_OTHERS, window, { by: 'users.seq' });

const MEMBER_ORDERS: Readonly<Record<MemberOrder, string>> = { ...USER_ORDERS, joined: 'group_members.created' };

/** Narrows a list of members. */
export interface MemberFilter {
  /** Prefixes of words of a name or the e-mail address. */
  readonly q?: string | undefined;
  /** Only these users. */
  readonly ids?: readonly string[] | undefined;
}

/** A page by number, in any order. */
export async function selectGroupMembersInOrder(
  executor: Executor,
  groupId: string,
  { q, ids }: MemberFilter,
  window: NumberedWindow,
): Promise<NumberedPage<JoinedUser>> {
  const query = members(executor, groupId);
  if (q !== undefined) applyUserWords(query, q);
  if (ids !== undefined) query.whereIn('users.id', [...ids]);
  const total = q === undefined && ids === undefined ? (await countOfGroup(executor, groupId)).members : undefined;
  return readNumberedPage(query, { ...USER_AMONG_OTHERS, joined: 'group_members.created' }, window, MEMBER_ORDERS, {
    by: 'group_members.user_id',
    total,
    isNarrowed: total === undefined,
  });
}

/** The groups that the user is a member of, oldest first. */
export function listGroupsOf(executor: Executor, userId: string, window: Window): Promise<Page<Group>> {
  const memberships = executor('group_members').where({ user_id: userId }).select('group_id');
  return readPage(executor('groups').whereIn('id', memberships), GROUP, window);
}

/** @returns the IDs of all groups of the user */
export const listGroupIds = (executor: Executor, userId: string): Promise<string[]> =>
  executor('group_members').where({ user_id: userId }).pluck('group_id');

/** Numbers of memberships and assignments that are deleted with a group. */
export async function countOfGroup(executor: Executor, id: string): Promise<{ readonly members: number; readonly applications: number }> {
  const { rows } = await executor.raw<{ rows: { members: number; applications: number }[] }>(
    `SELECT ${keptCount(GROUP_COUNTS, ':id')} AS members,
            (SELECT count(*) FROM application_groups WHERE group_id = :id)::int AS applications`,
    { id },
  );
  return rows[0] ?? { members: 0, applications: 0 };
}
