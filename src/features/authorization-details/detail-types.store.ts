/** Types of authorization details of an authorization server. The only SQL that writes that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { columnsOf } from '../../platform/validation/resource.ts';
import { DETAIL_TYPE_SETTINGS, type DetailType } from './detail-types.resource.ts';

const TABLE = 'authorization_detail_types';
const DETAIL_TYPE: Columns<DetailType> = { id: 'id', ...columnsOf(DETAIL_TYPE_SETTINGS) };

/** @returns false if the server already has a type of this name */
export async function insertDetailType(trx: Executor, serverId: string, type: DetailType): Promise<boolean> {
  const row = { server_id: serverId, ...toRow<DetailType>(DETAIL_TYPE, type) };
  return (await trx(TABLE).insert(row).onConflict(['server_id', 'name']).ignore().returning('id')).length === 1;
}

/** All types of a server, oldest first. */
export const listDetailTypes = (executor: Executor, serverId: string): Promise<DetailType[]> =>
  executor(TABLE).where({ server_id: serverId }).select<DetailType[]>(DETAIL_TYPE).orderBy('seq');

/** Oldest first. @param words of the name and of the name on the consent page */
export function readDetailTypes(
  executor: Executor,
  serverId: string,
  words: string | undefined,
  window: Window,
): Promise<Page<DetailType>> {
  const query = executor(TABLE).where({ server_id: serverId });
  if (words !== undefined) applyWords(query, ['name', 'display_name'], words, 'part');
  return readPage(query, DETAIL_TYPE, window);
}

export const findDetailType = (executor: Executor, serverId: string, id: string): Promise<DetailType | undefined> =>
  executor(TABLE).where({ server_id: serverId, id }).first<DetailType | undefined>(DETAIL_TYPE);

/** @returns false if another type of the server has the wanted name; the transaction can then only be rolled back */
export const updateDetailType = (trx: Executor, id: string, changes: Omit<DetailType, 'id'>): Promise<boolean> =>
  unlessRefused(trx(TABLE).where({ id }).update(toRow<DetailType>(DETAIL_TYPE, changes)));

export async function deleteDetailType(trx: Executor, id: string): Promise<void> {
  await trx(TABLE).where({ id }).delete();
}
