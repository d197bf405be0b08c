/** Network zones. The only SQL on that table. */
import { isIP } from 'node:net';
import type { Knex } from 'knex';
import type pg from 'pg';
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { isInNetworks } from '../../platform/validation/addresses.ts';
import type { NetworkZone } from './network-zones.resource.ts';

const ZONE: Columns<NetworkZone> = { id: 'id', name: 'name', networks: 'networks', created: 'created', lastUpdated: 'last_updated' };

/** @returns false if another zone has the name */
export async function insertZone(executor: Executor, zone: NetworkZone): Promise<boolean> {
  return (await executor('network_zones').insert(toRow(ZONE, zone)).onConflict('name').ignore().returning('id')).length === 1;
}

/** Oldest first. */
export async function selectZones(executor: Executor, window: Window): Promise<Page<NetworkZone>> {
  const around = await zonesAround(executor, window.words?.typed.trim() ?? '');
  const search = (query: Knex.QueryBuilder, typed: string): void => {
    if (around !== undefined) query.whereIn('id', around);
    else applyWords(query, ['name', "array_to_string(networks, ' ')"], typed);
  };
  return readPage<NetworkZone>(executor('network_zones'), ZONE, window, { search });
}

/** IDs of the zones that contain the address, by the same check as in rules of the sign-in policy. @returns undefined if it is not an address */
async function zonesAround(executor: Executor, address: string): Promise<readonly string[] | undefined> {
  if (isIP(address) === 0) return undefined;
  const zones: Pick<NetworkZone, 'id' | 'networks'>[] = await executor('network_zones').select('id', 'networks');
  return zones.filter(({ networks }) => isInNetworks(networks, address)).map(({ id }) => id);
}

export async function findZone(executor: Executor, id: string): Promise<NetworkZone | undefined> {
  return executor('network_zones').where({ id }).first<NetworkZone | undefined>(ZONE);
}

export async function countZones(executor: Executor): Promise<number> {
  const row = await executor('network_zones').first<{ n: number }>(executor.raw('count(*)::int AS n'));
  return row.n;
}

/** @returns the names of all zones, in alphabetical order */
export async function listZoneNames(executor: Executor): Promise<string[]> {
  return executor('network_zones').orderBy('name').pluck('name');
}

/** @returns false if another zone has the name; the transaction can then only be rolled back */
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
