/** Organizations. The only SQL on that table. */

import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused, violatedConstraint } from '../../platform/database/database-failures.ts';
import { readCountedPage } from '../../platform/database/kept-counts.ts';
import { type NumberedPage, type NumberedWindow, readNumberedPage } from '../../platform/database/paging.ts';
import { applyWords, inAlphabet } from '../../platform/database/words.ts';
import type { Reach } from '../administrators/administration.policy.ts';
import { MEMBER_COUNTS, memberCountOf } from './memberships.store.ts';
import type { OrganizationOrder, OrganizationType } from './organizations.resource.ts';

export interface Organization {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  /** Its ID in the source system; empty if none. */
  readonly originId: string;
  readonly type: OrganizationType;
  readonly created: Date;
  readonly lastUpdated: Date;
}

const ORGANIZATION: Columns<Organization> = columns('id', 'name', 'originId', 'type', 'created', 'lastUpdated');

/** Advisory lock, held from before a new organization gets its number until the commit. */
const CREATION_LOCK = 0x6f726773;

/**
 * Inserts one at a time, so that none becomes visible before an older one: the pages of the list would shift.
 * @returns false if another organization has that name
 */
export async function insertOrganization(trx: Executor, organization: Organization): Promise<boolean> {
  await trx.raw('SELECT pg_advisory_xact_lock(?)', [CREATION_LOCK]);
  const inserted = await trx('organizations').insert(toRow(ORGANIZATION, organization)).onConflict('name').ignore().returning('id');
  return inserted.length === 1;
}

/** An organization with its number of members, in one statement. */
export async function findOrganization(executor: Executor, id: string): Promise<(Organization & { memberCount: number }) | undefined> {
  const memberCount = executor.raw(`${memberCountOf('organizations')} AS "memberCount"`);
  return executor('organizations').where({ id }).first<(Organization & { memberCount: number }) | undefined>(ORGANIZATION, memberCount);
}

export async function organizationExists(executor: Executor, id: string): Promise<boolean> {
  return (await executor('organizations').where({ id }).first('id')) !== undefined;
}

/**
 * Locks the organization, its departments and members against changes until the transaction ends. Rows that refer to it are not blocked, because
 * their writers may hold a user's row, which a change of members waits for.
 */
export async function lockOrganization(trx: Executor, id: string): Promise<Organization | undefined> {
  return trx('organizations').where({ id }).forNoKeyUpdate().first<Organization | undefined>(ORGANIZATION);
}

export async function countOrganizations(executor: Executor): Promise<number> {
  const row = await executor('organizations').count<{ count: number }[]>({ count: '*' }).first();
  return row?.count ?? 0;
}

const ORDERS: Readonly<Record<OrganizationOrder, string>> = {
  name: inAlphabet('name'),
  created: 'seq',
  members: memberCountOf('organizations'),
};

/** Filter of organizations. */
export interface OrganizationSelection {
  readonly reach: Reach;
  /** Each word is a prefix of a word of the name or of the external ID; or the whole is the ID. */
  readonly words?: string | undefined;
}

/** A page by number, in any order. */
export const selectOrganizations = (
  executor: Executor,
  selection: OrganizationSelection,
  window: NumberedWindow,
): Promise<NumberedPage<Organization>> => readNumberedPage(selected(executor, selection), ORGANIZATION, window, ORDERS);

/** An organization with its number of members. */
export type CountedOrganization = Organization & { readonly members: number };

export const selectCountedOrganizations = (
  executor: Executor,
  selection: OrganizationSelection,
  window: NumberedWindow,
): Promise<NumberedPage<CountedOrganization>> =>
  readCountedPage(executor, MEMBER_COUNTS, {
    query: selected(executor, selection),
    isWhole: selection.reach === 'everything' && selection.words === undefined,
    columns: ORGANIZATION,
    window,
    orders: ORDERS,
  });

/** @returns false if another organization has the name */
export const updateOrganization = (
  trx: Executor,
  id: string,
  changes: Partial<Pick<Organization, 'name' | 'lastUpdated'>>,
): Promise<boolean> =>
  unlessRefused(trx('organizations').where({ id }).update(toRow<Organization>(ORGANIZATION, changes)), 'organizations_name_key');

/** @returns the contents that prevented the deletion; undefined: deleted */
export async function deleteOrganizationRow(trx: Executor, id: string): Promise<'departments' | 'members' | undefined> {
  try {
    await trx('organizations').where({ id }).delete();
    return undefined;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'departments_org_id_fkey') return 'departments';
    if (constraint === 'memberships_org_id_fkey') return 'members';
    throw error;
  }
}

function selected(executor: Executor, { reach, words }: OrganizationSelection) {
  const query = executor('organizations');
  if (words !== undefined) applyWords(query, ['name', 'origin_id'], words, 'id');
  return reach === 'everything' ? query : query.whereIn('id', [...reach]);
}
