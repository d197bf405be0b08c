/** Memberships of users in organizations and departments. The only SQL that writes that table, except deletions with a user. */

import type { Columns } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { foldCounts, type KeptCounts, keptCount } from '../../platform/database/kept-counts.ts';
import {
  type NumberedPage,
  type NumberedWindow,
  type Page,
  readNumberedPage,
  readPage,
  type Window,
} from '../../platform/database/paging.ts';
import { asciiAddress, composedName } from '../../platform/dns/address-spelling.ts';
import type { Reach } from '../administrators/administration.policy.ts';
import type { UserStatus } from '../users/user-lifecycle.policy.ts';
import { applyUserWords, USER_ORDERS } from '../users/user-orders.store.ts';
import type { JoinedUser, MemberOrder, User } from '../users/users.resource.ts';
import { selectedUsers, USER_AMONG_OTHERS, USER_COLUMNS } from '../users/users.store.ts';
import type { SignInOrganization } from './sign-in-organization.policy.ts';

export const MEMBER_COUNTS: KeptCounts = { table: 'member_counts', owner: 'org_id', totals: 'member_totals' };

/** @param o alias of the organization's row @returns expression of the number of its members */
export const memberCountOf = (o: string): string => keptCount(MEMBER_COUNTS, `${o}.id`);

/** @returns the number of updated organizations, at most `limit` */
export const foldMemberCounts = (executor: Executor, limit: number): Promise<number> => foldCounts(executor, MEMBER_COUNTS, limit);

export interface Membership {
  readonly orgId: string;
  readonly userId: string;
  /** Absent: directly in the organization. */
  readonly depId?: string | undefined;
}

/** A user as a member of an organization. */
export interface Member {
  readonly userId: string;
  readonly login: string;
  /** Stored status; combine it with `lockedUntil` in `statusAt`. */
  readonly status: UserStatus;
  readonly lockedUntil: Date | null;
  /** null: directly in the organization. */
  readonly depId: string | null;
  /** Time of joining. */
  readonly created: Date;
}

const FIELDS = new Map([
  ['memberships_org_id_fkey', 'orgId'],
  ['memberships_user_id_fkey', 'userId'],
  ['memberships_org_id_dep_id_fkey', 'depId'],
] as const);

/** Missing object to which a membership refers. */
type Missing = 'orgId' | 'userId' | 'depId';

/**
 * @param isJoined did the account exist before? Then the organization's administrators cannot change it
 * @returns the missing object that prevented it; undefined: inserted
 */
export function insertMembership(
  executor: Executor,
  { orgId, userId, depId }: Membership,
  created: Date,
  { isJoined = false }: { readonly isJoined?: boolean } = {},
): Promise<Missing | undefined> {
  return missing(executor('memberships').insert({ org_id: orgId, user_id: userId, dep_id: depId ?? null, created, is_joined: isJoined }));
}

/** Moves a member to another department. @returns the missing object that prevented it; undefined: moved */
export function moveMembership(executor: Executor, { orgId, userId, depId }: Membership): Promise<Missing | undefined> {
  return missing(
    executor('memberships')
      .where({ org_id: orgId, user_id: userId })
      .update({ dep_id: depId ?? null }),
  );
}

async function missing(write: PromiseLike<unknown>): Promise<Missing | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    const constraint = violatedConstraint(error);
    for (const [name, field] of FIELDS) if (name === constraint) return field;
    throw error;
  }
}

export async function findMembership(executor: Executor, orgId: string, userId: string): Promise<Membership | undefined> {
  const row = await executor<{ org_id: string; user_id: string; dep_id: string | null }>('memberships')
    .where({ org_id: orgId, user_id: userId })
    .first();
  return row && { orgId, userId, depId: row.dep_id ?? undefined };
}

export async function deleteMembership(executor: Executor, orgId: string, userId: string): Promise<void> {
  await executor('memberships').where({ org_id: orgId, user_id: userId }).delete();
}

/** The organizations that a user belongs to. */
export async function findOrgIds(executor: Executor, userId: string): Promise<string[]> {
  return executor('memberships').where({ user_id: userId }).pluck('org_id');
}

/** Is any of these users a member of any of these organizations? */
export async function isAnyMember(executor: Executor, userIds: readonly string[], orgIds: ReadonlySet<string>): Promise<boolean> {
  const found = executor('memberships')
    .whereIn('user_id', [...userIds])
    .whereIn('org_id', [...orgIds]);
  return (await found.first('user_id')) !== undefined;
}

/**
 * A member of any of these organizations, by ID or user name; IDs take precedence. The same statement runs for an unknown user and for a user of
 * other organizations.
 */
export async function findMemberNamed(executor: Executor, idOrLogin: string, orgIds: ReadonlySet<string>): Promise<User | undefined> {
  return selectedUsers(executor, { filters: [], orgIds }, {})
    .where((named) =>
      named
        .where({ id: idOrLogin })
        .orWhereRaw('lower(login) IN (lower(?), lower(?))', [composedName(idOrLogin), asciiAddress(composedName(idOrLogin))]),
    )
    .orderByRaw('(id = ?) DESC, lower(login) = lower(?) DESC', [idOrLogin, idOrLogin.normalize('NFC')])
    .first<User | undefined>(USER_COLUMNS);
}

/** Is the user a member, and did the account exist before each of the memberships? */
export async function isJoinedOnly(executor: Executor, userId: string): Promise<boolean> {
  const marks: boolean[] = await executor('memberships').where({ user_id: userId }).pluck('is_joined');
  return marks.length > 0 && marks.every((isJoined) => isJoined);
}

/** Current and former organizations, whose administrators may have prepared ways to sign in as the user. */
export async function findOrgIdsEver(executor: Executor, userId: string): Promise<string[]> {
  const former = executor('former_memberships').where({ user_id: userId }).select('org_id');
  return executor('memberships').where({ user_id: userId }).union(former).pluck('org_id');
}

/** Call after prepared credentials of the user were revoked. */
export async function forgetFormerMemberships(executor: Executor, userId: string): Promise<void> {
  await executor('former_memberships').where({ user_id: userId }).delete();
}

const MEMBER: Columns<Member> = {
  userId: 'users.id',
  login: 'users.login',
  status: 'users.status',
  lockedUntil: 'users.locked_until',
  depId: 'memberships.dep_id',
  created: 'memberships.created',
};

/** Filter of members; all conditions must match. */
export interface MemberSearch {
  /** Words: each is a prefix of a word of the user name, the e-mail address or a name. */
  readonly q?: string | undefined;
  /** This department only, without subdepartments. */
  readonly depId?: string | undefined;
  /** Only these users. */
  readonly ids?: readonly string[] | undefined;
}

/** @returns the members among these users */
export const listMemberIdsAmong = (executor: Executor, orgId: string, userIds: readonly string[]): Promise<string[]> =>
  executor('memberships')
    .where({ org_id: orgId })
    .whereIn('user_id', [...userIds])
    .pluck('user_id');

/** Number of members of each department by ID, without departments below it. */
export async function countMembersByDepartment(executor: Executor, orgId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await executor('memberships')
    .where({ org_id: orgId })
    .whereNotNull('dep_id')
    .groupBy('dep_id')
    .select<{ dep_id: string; count: number }[]>('dep_id', executor.raw('count(*)::int AS count'));
  return new Map(rows.map(({ dep_id, count }) => [dep_id, count]));
}

function members(executor: Executor, orgId: string, { q, depId, ids }: MemberSearch) {
  const query = executor('memberships').join('users', 'users.id', 'memberships.user_id').where('memberships.org_id', orgId);
  if (depId !== undefined) query.where('memberships.dep_id', depId);
  if (q !== undefined) applyUserWords(query, q);
  if (ids !== undefined) query.whereIn('users.id', [...ids]);
  return query;
}

/** The members of an organization, oldest memberships first. */
export const listMemberships = (executor: Executor, orgId: string, search: MemberSearch, window: Window): Promise<Page<Member>> =>
  readPage(members(executor, orgId, search), MEMBER, window, { by: 'memberships.seq' });

const ORDERS: Readonly<Record<MemberOrder, string>> = { ...USER_ORDERS, joined: 'memberships.seq' };

/** A member with all fields of the user. */
export type PlacedUser = JoinedUser & Pick<Member, 'depId'>;

/** A page by number, in any order. @param total number of all members, if known */
export const selectMembersInOrder = (
  executor: Executor,
  orgId: string,
  search: MemberSearch,
  window: NumberedWindow & { readonly total?: number | undefined },
): Promise<NumberedPage<PlacedUser>> =>
  readNumberedPage(
    members(executor, orgId, search),
    { ...USER_AMONG_OTHERS, depId: MEMBER.depId, joined: MEMBER.created },
    window,
    ORDERS,
    { by: 'memberships.seq', total: window.total, isNarrowed: window.total === undefined },
  );

const OWN = `SELECT o.id AS "orgId", o.name, o.policy FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = :userId`;

/**
 * Organizations of a user for a sign-in, in one statement.
 * @param wanted ID or name of the only organization to return; IDs take precedence
 * @param first ID of the organization to list first, if none is wanted
 * @returns at most `most`
 */
export async function listSignInOrganizations(
  executor: Executor,
  userId: string,
  { wanted, first, most = 2 }: { readonly wanted?: string | undefined; readonly first?: string | undefined; readonly most?: number },
): Promise<SignInOrganization[]> {
  const wish = wanted ?? first ?? '';
  const narrowed = wanted === undefined ? '' : 'AND (o.id = :wish OR o.name = :wish)';
  const { rows } = await executor.raw<{ rows: SignInOrganization[] }>(`${OWN} ${narrowed} ORDER BY o.id = :wish DESC, m.seq LIMIT :most`, {
    userId,
    wish,
    most: wanted === undefined ? most : 1,
  });
  return rows;
}

/** An organization that a user belongs to, with their department. */
export interface Affiliation {
  readonly orgId: string;
  readonly orgName: string;
  /** null: directly in the organization. */
  readonly depId: string | null;
  readonly depName: string | null;
  readonly created: Date;
}

const AFFILIATION: Columns<Affiliation> = {
  orgId: 'o.id',
  orgName: 'o.name',
  depId: 'd.id',
  depName: 'd.name',
  created: 'm.created',
};

/** The user's organizations within the reach, oldest memberships first. */
export function listAffiliations(executor: Executor, userId: string, reach: Reach, window: Window): Promise<Page<Affiliation>> {
  const query = executor('memberships AS m')
    .join('organizations AS o', 'o.id', 'm.org_id')
    .leftJoin('departments AS d', { 'd.org_id': 'm.org_id', 'd.id': 'm.dep_id' })
    .where('m.user_id', userId);
  if (reach !== 'everything') query.whereIn('m.org_id', [...reach]);
  return readPage(query, AFFILIATION, window, { by: 'm.seq' });
}
