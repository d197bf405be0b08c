/** Network zones. The only SQL on that table. */
import { isIP } from 'node:net';
import type { Knex } from 'knex';
import type pg from 'pg';
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import type { NetworkZone } from './network-zones.resource.ts';

const ZONE: Columns<NetworkZone> = { id: 'id', name: 'name', networks: 'networks', created: 'created', lastUpdated: 'last_updated' };

/** @returns false when another zone has that name */
export async function insertZone(executor: Executor, zone: NetworkZone): Promise<boolean> {
  return (await executor('network_zones').insert(toRow(ZONE, zone)).onConflict('name').ignore().returning('id')).length === 1;
}

/** Oldest first. */
export const selectZones = (executor: Executor, window: Window): Promise<Page<NetworkZone>> =>
  readPage<NetworkZone>(executor('network_zones'), ZONE, window, { search: applyZoneSearch });

/** By words of the name and of the networks, or by an IP address in one of the networks. There are at most a hundred zones. */
function applyZoneSearch(query: Knex.QueryBuilder, typed: string): void {
  const address = typed.trim();
  if (isIP(address) !== 0) query.whereRaw('?::inet <<= ANY (networks::cidr[])', [address]);
  else applyWords(query, ['name', "array_to_string(networks, ' ')"], typed);
}

export async function findZone(executor: Executor, id: string): Promise<NetworkZone | undefined> {
  return executor('network_zones').where({ id }).first<NetworkZone | undefined>(ZONE);
}

export async function countZones(executor: Executor): Promise<number> {
  const row = await executor('network_zones').first<{ n: number }>(executor.raw('count(*)::int AS n'));
  return row.n;
}

/** @returns the names that zones have, in alphabetical order */
export async function listZoneNames(executor: Executor): Promise<string[]> {
  return executor('network_zones').orderBy('name').pluck('name');
}

/** @returns false when another zone has that name; the transaction is then good for nothing more */
export const updateZoneRow = (trx: Executor, id: string, changes: Partial<NetworkZone>): Promise<boolean> =>
  unlessRefused(trx('network_zones').where({ id }).update(toRow<NetworkZone>(ZONE, changes)), 'network_zones_name_key');

export async function deleteZoneRow(trx: Executor, id: string): Promise<void> {
  await trx('network_zones').where({ id }).delete();
}

/** Committed rows, regardless of the current transaction. */
export async function findCommittedZones(pool: pg.Pool): Promise<readonly Pick<NetworkZone, 'name' | 'networks'>[]> {
  const { rows } = await pool.query<Pick<NetworkZone, 'name' | 'networks'>>({
    name: 'find-network-zones',
    text: 'SELECT name, networks FROM network_zones ORDER BY seq',
  });
  return rows;
}
