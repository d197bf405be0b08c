/** Groups by SCIM, for tokens of the whole service. Members are changed one by one, so a change to a large group does not read it. */

import { z } from 'zod';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Filter } from '../../platform/database/filter.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import type { NumberedPage } from '../../platform/database/paging.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { Group } from '../groups/groups.resource.ts';
import { addGroupMembers, createGroup, deleteGroup, removeGroupMember, searchGroupsBy, updateGroup } from '../groups/groups.service.ts';
import { findGroup, lockGroup } from '../groups/groups.store.ts';
import {
  countMembersOf,
  findGroupLinks,
  findMemberPrints,
  listMemberIds,
  listMembersOfGroups,
  listUserIdsAmong,
  saveGroupLink,
  scimGroupColumns,
} from './scim.store.ts';
import { GROUP, GROUP_TYPE, type ScimAttribute, type ScimObject } from './scim-attributes.policy.ts';
import { requireGroups, type ScimCaller } from './scim-caller.policy.ts';
import { badRequest, notFoundHere } from './scim-errors.policy.ts';
import { canonicalResource, canonicalValue } from './scim-names.policy.ts';
import { readFilter, type ScimOperation, type Step, stepsOf } from './scim-patch.service.ts';
import {
  locationOf,
  readListFilter,
  readSliceOf,
  requireVersion,
  type ScimQuery,
  versionOf,
  wantsAttribute,
} from './scim-resources.service.ts';
import type { ScimView } from './scim-users.service.ts';

const MEMBERS = GROUP.attributes.find(({ name }) => name === 'members') as ScimAttribute;

/** @param withMembers false: omits the members, of which a large group has many */
async function viewsOf(
  services: Services,
  executor: Executor,
  { tokenId }: ScimCaller,
  groups: readonly Group[],
  withMembers: boolean,
): Promise<ScimView[]> {
  const ids = groups.map(({ id }) => id);
  const links = await findGroupLinks(executor, tokenId, ids);
  const prints = await findMemberPrints(executor, ids);
  const members = withMembers ? await listMembersOfGroups(executor, ids) : new Map();
  return groups.map((group) => {
    const externalId = links.get(group.id);
    const listed = (members.get(group.id) ?? []) as readonly { id: string; display: string }[];
    const version = versionOf([group.id, group.name, group.lastUpdated, externalId, prints.get(group.id)]);
    const resource = {
      schemas: [GROUP.id],
      id: group.id,
      ...(externalId !== undefined && { externalId }),
      displayName: group.name,
      ...(listed.length > 0 && {
        members: listed.map(({ id, display }) => ({ value: id, $ref: locationOf(services, 'User', id), display, type: 'User' })),
      }),
      meta: {
        resourceType: 'Group',
        created: group.created.toISOString(),
        lastModified: group.lastUpdated.toISOString(),
        location: locationOf(services, 'Group', group.id),
        version,
      },
    };
    return { id: group.id, version, resource };
  });
}

async function viewOf(services: Services, executor: Executor, caller: ScimCaller, id: string, withMembers = true): Promise<ScimView> {
  const group = await findGroup(executor, id);
  const [view] = group === undefined ? [] : await viewsOf(services, executor, caller, [group], withMembers);
  if (view === undefined) throw notFoundHere(id);
  return view;
}

/** @throws {ScimError} invalidFilter, invalidPath, forbidden */
export async function listScimGroups(services: Services, caller: ScimCaller, query: ScimQuery): Promise<NumberedPage<ScimView>> {
  requireGroups(caller);
  const columns = scimGroupColumns(GROUP_TYPE, caller.tokenId);
  const page = await searchGroupsBy(services, readListFilter(query.filter, columns), columns, readSliceOf(query, columns));
  const withMembers = wantsAttribute(query, 'members');
  const groups = withMembers ? await fitting(services.database.knex, page.items) : page.items;
  return { total: page.total, items: await viewsOf(services, services.database.knex, caller, groups, withMembers) };
}

/** Members in one list. */
const MOST_LISTED_MEMBERS = 20_000;

/** The first of these groups, at least one, within the maximum members of a response. */
async function fitting(executor: Executor, groups: readonly Group[]): Promise<readonly Group[]> {
  const counts = await countMembersOf(
    executor,
    groups.map(({ id }) => id),
  );
  let total = 0;
  const end = groups.findIndex(({ id }, index) => {
    total += counts.get(id) ?? 0;
    return index > 0 && total > MOST_LISTED_MEMBERS;
  });
  return end < 0 ? groups : groups.slice(0, end);
}

/** @throws {ScimError} not found, forbidden */
export async function getScimGroup(services: Services, caller: ScimCaller, id: string, query: ScimQuery): Promise<ScimView> {
  requireGroups(caller);
  return viewOf(services, services.database.knex, caller, id, wantsAttribute(query, 'members'));
}

const groupName = z.object({ displayName: text({ least: 1 }) });

/** @throws {ScimError} @throws {ApiError} as `createGroup` */
export async function createScimGroup(services: Services, caller: ScimCaller, body: unknown): Promise<ScimView> {
  requireGroups(caller);
  const wanted = canonicalResource(GROUP_TYPE, body);
  const { displayName } = parse(groupName, wanted);
  return inOneTransaction(services, async (within, trx) => {
    const { id } = await createGroup(within, { name: displayName, description: '' }, caller.request, 'SCIM');
    if (wanted.externalId !== undefined) await saveGroupLink(trx, caller.tokenId, id, String(wanted.externalId));
    await addMembers(within, trx, caller, id, idsOf(wanted.members));
    return viewOf(within, trx, caller, id);
  });
}

/** The whole of a group (PUT). */
export async function replaceScimGroup(
  services: Services,
  caller: ScimCaller,
  id: string,
  body: unknown,
  ifMatch?: string,
): Promise<ScimView> {
  const wanted = canonicalResource(GROUP_TYPE, body);
  const { displayName } = parse(groupName, wanted);
  return changeScimGroup(services, caller, id, { ifMatch, withMembers: true }, async (within, trx, group) => {
    await rename(within, caller, group, displayName);
    await keepExternalId(trx, caller, group, wanted.externalId as string | undefined);
    await setMembers(within, trx, caller, id, idsOf(wanted.members));
  });
}

/** @param operations as `readOperations` has read them */
export async function patchScimGroup(
  services: Services,
  caller: ScimCaller,
  id: string,
  operations: readonly ScimOperation[],
  { ifMatch, withMembers }: { readonly ifMatch?: string | undefined; readonly withMembers: boolean },
): Promise<ScimView> {
  const steps = operations.flatMap((operation) => stepsOf(GROUP_TYPE, operation));
  return changeScimGroup(services, caller, id, { ifMatch, withMembers }, async (within, trx, group) => {
    for (const step of steps) {
      const name = step.at.attribute?.name;
      const value = step.op === 'remove' || name === 'members' ? undefined : canonicalValue(step.at.attribute as ScimAttribute, step.value);
      if (name === 'displayName') await rename(within, caller, group, parse(groupName, { displayName: value }).displayName);
      if (name === 'externalId') await keepExternalId(trx, caller, group, value as string | undefined);
      if (name === 'members') await changeMembers(within, trx, caller, id, step);
    }
  });
}

/** @throws {ApiError} as `deleteGroup` */
export async function deleteScimGroup(services: Services, caller: ScimCaller, id: string, ifMatch?: string): Promise<void> {
  requireGroups(caller);
  await inOneTransaction(services, async (within, trx) => {
    if ((await lockGroup(trx, id)) === undefined) throw notFoundHere(id);
    requireVersion((await viewOf(within, trx, caller, id, false)).version, ifMatch);
    await deleteGroup(within, id, caller.request);
  });
}

/** Locks the group: the second of two concurrent writers waits and sees the version of the first. */
async function changeScimGroup(
  services: Services,
  caller: ScimCaller,
  id: string,
  { ifMatch, withMembers }: { readonly ifMatch: string | undefined; readonly withMembers: boolean },
  change: (within: Services, trx: Executor, group: Group) => Promise<void>,
): Promise<ScimView> {
  requireGroups(caller);
  return inOneTransaction(services, async (within, trx) => {
    const group = await lockGroup(trx, id);
    if (group === undefined) throw notFoundHere(id);
    requireVersion((await viewOf(within, trx, caller, id, false)).version, ifMatch);
    await change(within, trx, group);
    return viewOf(within, trx, caller, id, withMembers);
  });
}

async function rename(within: Services, { request }: ScimCaller, { id, name, description }: Group, wanted: string): Promise<void> {
  if (wanted !== name) await updateGroup(within, id, { name: wanted, description }, request);
}

async function keepExternalId(trx: Executor, caller: ScimCaller, { id, name }: Group, externalId: string | undefined): Promise<void> {
  const before = (await findGroupLinks(trx, caller.tokenId, [id])).get(id);
  if (before === externalId) return;
  await saveGroupLink(trx, caller.tokenId, id, externalId);
  await recordEvent(trx, {
    eventType: 'group.profile.update',
    displayMessage: 'Update group',
    request: caller.request,
    targets: [{ id, type: 'UserGroup', displayName: name }],
    before: { externalId: before },
    after: { externalId },
  });
}

/** @throws {ScimError} invalidValue, noTarget, invalidFilter */
async function changeMembers(
  within: Services,
  trx: Executor,
  caller: ScimCaller,
  id: string,
  { op, at: { filter, sub }, value }: Step,
): Promise<void> {
  if (sub !== undefined) throw badRequest('mutability', 'Members can only be added and removed. Their attributes cannot be changed');
  const given = idsOf(canonicalValue(MEMBERS, value));
  if (filter !== undefined) {
    if (op !== 'remove')
      throw badRequest('invalidPath', 'A filter of members can only be used with remove. To add members, use the path members');
    return removeMembers(within, caller, id, idsIn(readFilter(MEMBERS, filter)));
  }
  if (op === 'add') return addMembers(within, trx, caller, id, given);
  if (op === 'replace') return setMembers(within, trx, caller, id, given);
  return value === undefined ? setMembers(within, trx, caller, id, []) : removeMembers(within, caller, id, given);
}

/** The users that a filter names. @throws {ScimError} invalidFilter */
function idsIn(filter: Filter): readonly string[] {
  if (filter.op === 'or') return filter.filters.flatMap(idsIn);
  if (filter.op === 'eq' && filter.attribute === 'value') return [String(filter.value)];
  throw badRequest('invalidFilter', 'A filter of members must be value eq "ID". Combine several with or');
}

const idsOf = (members: unknown): readonly string[] => [
  ...new Set(
    ((members ?? []) as readonly ScimObject[]).map(({ value, type = 'User' }) => {
      if (typeof value !== 'string') throw badRequest('invalidValue', 'members: each needs a value, the ID of a user');
      if (String(type).toLowerCase() !== 'user') throw badRequest('invalidValue', 'members: only users can be members of a group');
      return value;
    }),
  ),
];

async function addMembers(within: Services, trx: Executor, { request }: ScimCaller, id: string, userIds: readonly string[]): Promise<void> {
  const known = new Set(await listUserIdsAmong(trx, userIds));
  const missing = userIds.find((one) => !known.has(one));
  if (missing !== undefined) throw badRequest('invalidValue', `members: the user ${missing} does not exist`);
  await addGroupMembers(within, id, userIds, request);
}

/** Removing users who are not members, or no longer exist, is not an error. */
async function removeMembers(within: Services, { request }: ScimCaller, id: string, userIds: readonly string[]): Promise<void> {
  for (const userId of await listUserIdsAmong(within.database.knex, userIds)) await removeGroupMember(within, id, userId, request);
}

async function setMembers(within: Services, trx: Executor, caller: ScimCaller, id: string, userIds: readonly string[]): Promise<void> {
  const before = await listMemberIds(trx, id);
  const wanted = new Set(userIds);
  await removeMembers(
    within,
    caller,
    id,
    before.filter((one) => !wanted.has(one)),
  );
  const there = new Set(before);
  await addMembers(
    within,
    trx,
    caller,
    id,
    userIds.filter((one) => !there.has(one)),
  );
}
