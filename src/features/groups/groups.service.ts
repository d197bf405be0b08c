/** Operations on groups: sets of users for assigning applications and for claims (management API, `groups`). */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type AttributeColumns, attributeTypes, type Filter } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { NumberedPage, NumberedWindow, Page, Slice, Window } from '../../platform/database/paging.ts';
import { conflict, notFound, requireFound, validation } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { Event, RequestContext } from '../audit/audit-event.policy.ts';
import { removePersonFromPolicies } from '../policies/policy-names.service.ts';
import { findVisibleUser } from '../users/user-reach.service.ts';
import type { JoinedUser, User } from '../users/users.resource.ts';
import { findUserById } from '../users/users.store.ts';
import type { Group } from './groups.resource.ts';
import {
  type CountedGroup,
  countOfGroup,
  deleteGroupMember,
  deleteGroupRow as deleteRow,
  findGroup,
  GROUP_ATTRIBUTES,
  insertGroup,
  insertGroupMember,
  listGroupMemberIdsAmong,
  listGroupsOf,
  selectGroupMembers as listMemberRows,
  selectGroups as listRows,
  lockGroup,
  type MemberFilter,
  readGroupsSlice,
  selectGroupMembersInOrder,
  selectGroupsInOrder,
  updateGroupRow as updateRow,
} from './groups.store.ts';

export type GroupProfile = Pick<Group, 'name' | 'description'>;

/** Filter of groups; all conditions must match. */
export interface GroupSearch {
  /** Prefix of the name. */
  readonly q?: string | undefined;
  readonly search?: string | undefined;
  readonly filter?: string | undefined;
}

const FILTERABLE = attributeTypes(GROUP_ATTRIBUTES);

/** @throws {ApiError} conflict: the name is taken */
export async function createGroup(
  services: Services,
  profile: GroupProfile,
  request: RequestContext,
  origin: Group['origin'] = 'ADMIN',
): Promise<Group> {
  const now = present();
  const group: Group = { id: newId('grp'), ...profile, origin, created: now, lastUpdated: now };
  await services.database.transaction(async (trx) => {
    if (!(await insertGroup(trx, group))) throw nameTaken();
    await recordEvent(trx, {
      eventType: 'group.lifecycle.create',
      displayMessage: 'Create group',
      request,
      targets: [groupTarget(group)],
      after: profile,
    });
  });
  return group;
}

/** Oldest first. @throws {ApiError} validation of the filters */
export async function listGroups(services: Services, { q, search, filter }: GroupSearch, window: Window): Promise<Page<Group>> {
  const filters: Filter[] = [];
  if (search !== undefined) filters.push(parseFilter(search, FILTERABLE, 'search'));
  if (filter !== undefined) filters.push(parseFilter(filter, FILTERABLE, 'filter'));
  return listRows(services.database.knex, { words: q, filters }, window);
}

/** One page by number in any order, with the total. @param q words of the name */
export const searchGroups = (services: Services, q: string | undefined, window: NumberedWindow): Promise<NumberedPage<CountedGroup>> =>
  selectGroupsInOrder(services.database.knex, { words: q, filters: [] }, window);

/** A slice of the groups that match a filter. @param columns attributes with which the filter was parsed */
export const searchGroupsBy = (
  { database }: Services,
  filter: Filter | undefined,
  columns: AttributeColumns,
  slice: Slice,
): Promise<NumberedPage<Group>> => readGroupsSlice(database.knex, { filters: filter === undefined ? [] : [filter] }, columns, slice);

/** @throws {ApiError} not found */
export const getGroup = (services: Services, id: string): Promise<Group> => requireGroup(services.database.knex, id);

/** @throws {ApiError} not found, conflict of the name */
export async function updateGroup(services: Services, id: string, profile: GroupProfile, request: RequestContext): Promise<Group> {
  return services.database.transaction(async (trx) => {
    const before = requireFound(await lockGroup(trx, id), id, 'Group');
    const changes = { ...profile, lastUpdated: present() };
    if (!(await updateRow(trx, id, changes))) throw nameTaken();
    const after = { ...before, ...changes };
    await recordEvent(trx, {
      eventType: 'group.profile.update',
      displayMessage: 'Update group',
      request,
      targets: [groupTarget(after)],
      before: described(before),
      after: profile,
    });
    return after;
  });
}

/** Also deletes its memberships and assignments. @throws {ApiError} not found */
export async function deleteGroup(services: Services, id: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const before = requireFound(await lockGroup(trx, id), id, 'Group');
    await removePersonFromPolicies(services, trx, 'group', id, request);
    await deleteRow(trx, id);
    await recordEvent(trx, {
      eventType: 'group.lifecycle.delete',
      displayMessage: 'Delete group',
      request,
      targets: [groupTarget(before)],
      before: described(before),
    });
  });
}

/** Oldest users first. @throws {ApiError} not found */
export async function listGroupMembers(services: Services, id: string, window: Window): Promise<Page<User>> {
  await getGroup(services, id);
  return listMemberRows(services.database.knex, id, window);
}

/** One page of members by number in any order, with the total. */
export const searchGroupMembers = (
  { database }: Services,
  id: string,
  filter: MemberFilter,
  window: NumberedWindow,
): Promise<NumberedPage<JoinedUser>> => selectGroupMembersInOrder(database.knex, id, filter, window);

/** The groups of a user, oldest first. @throws {ApiError} not found */
export async function listUserGroups(services: Services, idOrLogin: string, window: Window, request: RequestContext): Promise<Page<Group>> {
  const { id } = await findVisibleUser(services.database.knex, idOrLogin, request);
  return listGroupsOf(services.database.knex, id, window);
}

/** Makes a user who is created in the same transaction a member. @throws {ApiError} validation of `groupIds`: there is no such group */
export async function joinGroups(trx: Executor, user: User, groupIds: readonly string[], request: RequestContext): Promise<void> {
  for (const groupId of new Set(groupIds)) {
    const group = await findGroup(trx, groupId);
    const outcome = group === undefined ? 'missing' : await insertGroupMember(trx, groupId, user.id, user.created);
    if (group === undefined || outcome === 'missing') throw validation([{ field: 'groupIds', message: `${groupId} does not exist` }]);
    await recordMembership(trx, 'add', group, user, request);
  }
}

/** Adding a member again is not an error. @returns the IDs of the new members @throws {ApiError} not found: the group or the user */
export async function addGroupMembers(
  services: Services,
  groupId: string,
  userIds: readonly string[],
  request: RequestContext,
): Promise<readonly string[]> {
  return services.database.transaction(async (trx) => {
    const added: string[] = [];
    for (const userId of userIds) {
      const [group, user] = await findBoth(trx, groupId, userId);
      const outcome = await insertGroupMember(trx, groupId, userId, present());
      if (outcome === 'missing') throw notFound(userId, 'User');
      if (outcome !== 'added') continue;
      await recordMembership(trx, 'add', group, user, request);
      added.push(userId);
    }
    return added;
  });
}

/** Filters users to members of the group. */
export const findGroupMembers = async (services: Services, groupId: string, userIds: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(await listGroupMemberIdsAmong(services.database.knex, groupId, userIds));

/** Removing a user who is not a member is not an error. @returns was the user a member? @throws {ApiError} not found: the group or the user */
export async function removeGroupMember(services: Services, groupId: string, userId: string, request: RequestContext): Promise<boolean> {
  return services.database.transaction(async (trx) => {
    const [group, user] = await findBoth(trx, groupId, userId);
    const isRemoved = await deleteGroupMember(trx, groupId, userId);
    if (isRemoved) await recordMembership(trx, 'remove', group, user, request);
    return isRemoved;
  });
}

const requireGroup = async (executor: Executor, id: string): Promise<Group> => requireFound(await findGroup(executor, id), id, 'Group');

async function findBoth(trx: Executor, groupId: string, userId: string): Promise<[Group, User]> {
  const group = await requireGroup(trx, groupId);
  const user = requireFound(await findUserById(trx, userId), userId, 'User');
  return [group, user];
}

const recordMembership = (trx: Executor, change: 'add' | 'remove', group: Group, user: User, request: RequestContext): Promise<string> =>
  recordEvent(trx, membershipEvent(change, group, user, request));

/** Audit event for joining or leaving a group. */
export const membershipEvent = (
  change: 'add' | 'remove',
  group: Pick<Group, 'id' | 'name'>,
  user: Pick<User, 'id' | 'login'>,
  request: RequestContext,
): Event => ({
  eventType: `group.user_membership.${change}`,
  displayMessage: change === 'add' ? 'Add user to group' : 'Remove user from group',
  request,
  targets: [{ id: user.id, type: 'User', displayName: user.login }, groupTarget(group)],
  [change === 'add' ? 'after' : 'before']: { groupId: group.id, userId: user.id },
});

export const groupTarget = ({ id, name }: Pick<Group, 'id' | 'name'>) => ({ id, type: 'UserGroup', displayName: name });
const described = ({ name, description }: Group): GroupProfile => ({ name, description });
const nameTaken = () => conflict({ field: 'profile.name', message: 'another group has this name. Choose another name' });

/** Numbers of memberships and application assignments of a group. */
export const groupCounts = ({ database: { knex } }: Services, id: string) => countOfGroup(knex, id);
