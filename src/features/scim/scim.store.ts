/** SCIM data of users and groups, and SQL expressions of SCIM attributes. */

import type { Executor } from '../../platform/database/database.ts';
import type { AttributeColumn, AttributeColumns } from '../../platform/database/filter.ts';
import { spellingsOf } from '../../platform/dns/address-spelling.ts';
import type { Attribute } from '../user-schema/attributes.resource.ts';
import { userAttributes } from '../users/users.store.ts';
import { ENTERPRISE, type ScimAttribute, type ScimType, USER } from './scim-attributes.policy.ts';
import type { Labels } from './scim-user.policy.ts';

export interface UserLink {
  readonly externalId: string | undefined;
  readonly labels: Labels;
}

/** By user. */
export async function findUserLinks(
  executor: Executor,
  tokenId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, UserLink>> {
  const rows: { user_id: string; external_id: string | null; labels: Labels }[] = await executor('scim_users')
    .where({ token_id: tokenId })
    .whereIn('user_id', [...userIds])
    .select('user_id', 'external_id', 'labels');
  return new Map(rows.map(({ user_id, external_id, labels }) => [user_id, { externalId: external_id ?? undefined, labels }]));
}

export async function saveUserLink(executor: Executor, tokenId: string, userId: string, { externalId, labels }: UserLink): Promise<void> {
  const row = { token_id: tokenId, user_id: userId, external_id: externalId ?? null, labels: JSON.stringify(labels) };
  await executor('scim_users').insert(row).onConflict(['token_id', 'user_id']).merge(['external_id', 'labels']);
}

/** External IDs by group. */
export async function findGroupLinks(
  executor: Executor,
  tokenId: string,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows: { group_id: string; external_id: string }[] = await executor('scim_groups')
    .where({ token_id: tokenId })
    .whereNotNull('external_id')
    .whereIn('group_id', [...groupIds])
    .select('group_id', 'external_id');
  return new Map(rows.map(({ group_id, external_id }) => [group_id, external_id]));
}

export async function saveGroupLink(executor: Executor, tokenId: string, groupId: string, externalId: string | undefined): Promise<void> {
  const row = { token_id: tokenId, group_id: groupId, external_id: externalId ?? null };
  await executor('scim_groups').insert(row).onConflict(['token_id', 'group_id']).merge(['external_id']);
}

function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

export interface GroupOfUser {
  readonly id: string;
  readonly name: string;
}

/** The groups of users, oldest first. */
export async function listGroupsOfUsers(
  executor: Executor,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly GroupOfUser[]>> {
  const rows: (GroupOfUser & { user_id: string })[] = await executor('group_members')
    .join('groups', 'groups.id', 'group_members.group_id')
    .whereIn('group_members.user_id', [...userIds])
    .orderBy('groups.seq')
    .select('group_members.user_id', 'groups.id', 'groups.name');
  return grouped(rows, ({ user_id }) => user_id);
}

export interface MemberOfGroup {
  readonly id: string;
  readonly display: string;
}

/** The members of groups, the oldest users first. */
export async function listMembersOfGroups(
  executor: Executor,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, readonly MemberOfGroup[]>> {
  const rows: (MemberOfGroup & { group_id: string })[] = await executor('group_members')
    .join('users', 'users.id', 'group_members.user_id')
    .whereIn('group_members.group_id', [...groupIds])
    .orderBy('users.seq')
    .select('group_members.group_id', 'users.id', { display: executor.raw("coalesce(users.profile->>'displayName', users.login)") });
  return grouped(rows, ({ group_id }) => group_id);
}

const MEMBER_PRINTS = `SELECT group_id, count(*) || ':' || coalesce(sum(hashtextextended(user_id, 0)), 0) AS print FROM group_members
  WHERE group_id = ANY(?) GROUP BY group_id`;

/** Fingerprint of a group's memberships that changes with them, without reading the members. */
export async function findMemberPrints(executor: Executor, groupIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await executor.raw<{ rows: { group_id: string; print: string }[] }>(MEMBER_PRINTS, [[...groupIds]]);
  return new Map(rows.map(({ group_id, print }) => [group_id, print]));
}

/** Counts members of groups. */
export async function countMembersOf(executor: Executor, groupIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows: { group_id: string; members: string }[] = await executor('group_members')
    .whereIn('group_id', [...groupIds])
    .groupBy('group_id')
    .select('group_id')
    .count({ members: '*' });
  return new Map(rows.map(({ group_id, members }) => [group_id, Number(members)]));
}

/** Filters IDs to those of users. */
export const listUserIdsAmong = (executor: Executor, ids: readonly string[]): Promise<string[]> =>
  executor('users')
    .whereRaw('id = ANY(?)', [[...ids]])
    .pluck('id');

/** The IDs of all members. */
export const listMemberIds = (executor: Executor, groupId: string): Promise<string[]> =>
  executor('group_members').where({ group_id: groupId }).pluck('user_id');

/** Our IDs contain only letters, digits and underscores, so they are safe in a statement. */
function plain(id: string): string {
  if (!/^\w+$/.test(id)) throw new Error('this is not an ID');
  return `'${id}'`;
}

/** The rows of a user's e-mail addresses, with the client's labels. */
const emailRows = (tokenId: string): string => `(SELECT slot.value, coalesce(link.labels->slot.field->>'type', slot.type) AS type,
    coalesce((link.labels->slot.field->>'primary')::boolean, slot.main) AS main
  FROM (VALUES (users.email, 'email', 'work', true), (users.profile->>'secondEmail', 'secondEmail', 'other', false)) AS slot(value, field, type, main)
  LEFT JOIN scim_users AS link ON link.token_id = ${plain(tokenId)} AND link.user_id = users.id WHERE slot.value IS NOT NULL) AS one`;

/** The rows of any other list: one for each slot that is filled. */
function slotRows({ slots = [] }: ScimAttribute): string {
  const names = [...new Set(slots.flatMap(({ fields }) => Object.keys(fields)))];
  const rows = slots.map(({ type, fields }) => `('${type}', ${names.map((name) => `users.profile->>'${fields[name]}'`).join(', ')})`);
  const present = names.map((name) => `slot."${name}" IS NOT NULL`).join(' OR ');
  return `(SELECT * FROM (VALUES ${rows.join(', ')}) AS slot(type, ${names.map((name) => `"${name}"`).join(', ')}) WHERE ${present}) AS one`;
}

const listColumns = (name: string, among: string, columns: Readonly<Record<string, AttributeColumn>>): AttributeColumns =>
  Object.fromEntries(Object.entries(columns).map(([sub, column]) => [sub === '' ? name : `${name}.${sub}`, { ...column, among }]));

const TEXT = 'text' as const;
const ofOne = (sub: string): AttributeColumn => ({ sql: `one."${sub}"`, type: TEXT });

function columnsOfList(attribute: ScimAttribute, tokenId: string): AttributeColumns {
  const { name } = attribute;
  if (name === 'emails') {
    const value = { sql: 'one.value', type: TEXT, spellings: spellingsOf };
    const columns = { '': value, value, type: { sql: 'one.type', type: TEXT }, primary: { sql: 'one.main', type: 'boolean' as const } };
    return listColumns(name, emailRows(tokenId), columns);
  }
  const subs = (attribute.subAttributes ?? []).map((sub) => sub.name);
  const columns = Object.fromEntries(subs.map((sub) => [sub, ofOne(sub)]));
  return listColumns(name, slotRows(attribute), subs.includes('value') ? { ...columns, '': ofOne('value') } : columns);
}

const EXACT = { type: TEXT, caseExact: true };

/** Columns for filtering and sorting users; core attributes also with their URN. @param seesGroups may the client see groups? */
export function scimUserColumns(
  { extensions }: ScimType,
  added: readonly Pick<Attribute, 'name' | 'type'>[],
  { tokenId, seesGroups }: { readonly tokenId: string; readonly seesGroups: boolean },
  now: Date,
): AttributeColumns {
  const base = userAttributes(added, now);
  const columnsOf = (attributes: readonly ScimAttribute[], prefix: string): [string, AttributeColumn][] =>
    attributes.flatMap((attribute): [string, AttributeColumn][] => {
      const { name, field, slots, subAttributes, isCommon, mutability } = attribute;
      const column = field === undefined ? undefined : base[`profile.${field}`];
      if (column !== undefined) return [[`${prefix}${name}`, attribute.caseExact === true ? { ...column, caseExact: true } : column]];
      if (slots !== undefined) return Object.entries(columnsOfList(attribute, tokenId));
      const isNested = subAttributes !== undefined && isCommon !== true && mutability !== 'readOnly';
      return isNested ? columnsOf(subAttributes, `${prefix}${name}.`) : [];
    });
  const link = `(SELECT external_id FROM scim_users WHERE token_id = ${plain(tokenId)} AND user_id = users.id) AS link`;
  const groups =
    '(SELECT groups.id AS value, groups.name AS display FROM group_members JOIN groups ON groups.id = group_id WHERE user_id = users.id) AS one';
  const core: AttributeColumns = {
    ...Object.fromEntries(columnsOf(USER.attributes, '')),
    id: { sql: 'id', ...EXACT },
    externalId: { sql: 'link.external_id', ...EXACT, among: link },
    active: { sql: "status NOT IN ('STAGED', 'SUSPENDED', 'DEPROVISIONED')", type: 'boolean' },
    'name.formatted': { sql: "concat_ws(' ', profile->>'firstName', profile->>'middleName', profile->>'lastName')", type: TEXT },
    ...(seesGroups &&
      listColumns('groups', groups, {
        '': { sql: 'one.value', ...EXACT },
        value: { sql: 'one.value', ...EXACT },
        display: ofOne('display'),
      })),
    ...metaColumns,
  };
  return {
    ...withUrn(core, USER.id),
    ...Object.fromEntries(extensions.flatMap(({ id, attributes }) => columnsOf(attributes, `${id}:`))),
    [`${ENTERPRISE.id}:manager.displayName`]: { sql: "profile->>'manager'", type: TEXT },
  };
}

const metaColumns: AttributeColumns = {
  'meta.created': { sql: 'created', type: 'time' },
  'meta.lastModified': { sql: 'last_updated', type: 'time' },
};

const withUrn = (columns: AttributeColumns, id: string): AttributeColumns => ({
  ...columns,
  ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${id}:${name}`, column])),
});

/** Columns for filtering and sorting groups. */
export function scimGroupColumns({ core }: ScimType, tokenId: string): AttributeColumns {
  const link = `(SELECT external_id FROM scim_groups WHERE token_id = ${plain(tokenId)} AND group_id = groups.id) AS link`;
  const members = '(SELECT user_id AS value FROM group_members WHERE group_id = groups.id) AS one';
  const member: AttributeColumn = { sql: 'one.value', ...EXACT };
  return withUrn(
    {
      id: { sql: 'id', ...EXACT },
      externalId: { sql: 'link.external_id', ...EXACT, among: link },
      displayName: { sql: 'name', type: TEXT },
      ...listColumns('members', members, { '': member, value: member }),
      ...metaColumns,
    },
    core.id,
  );
}
