/** Signing keys of authorization servers and their states: NEXT, ACTIVE, RETIRED. The only SQL on that table. */
import type { Knex } from 'knex';
import { type Columns, columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { KeyInUse, SigningKey } from './signing-keys.resource.ts';

const KEY: Columns<SigningKey> = columns('kid', 'alg', 'status', 'publicJwk', 'privateSealed', 'created', 'activated', 'retired');

export async function insertSigningKey(executor: Executor, serverId: string, key: SigningKey): Promise<void> {
  await executor('signing_keys').insert({ server_id: serverId, ...toRow<SigningKey>(KEY, key) });
}

/** All keys of a server, newest first. */
export async function listSigningKeys(executor: Executor, serverId: string): Promise<SigningKey[]> {
  return executor('signing_keys')
    .where({ server_id: serverId })
    .select<SigningKey[]>(KEY)
    .orderBy([{ column: 'created', order: 'desc' }, 'kid']);
}

export async function findSigningKey(executor: Executor, serverId: string, kid: string): Promise<SigningKey | undefined> {
  return executor('signing_keys').where({ server_id: serverId, kid }).first<SigningKey | undefined>(KEY);
}

/** Makes the key active. The previous one must be retired before: a server has one active key per algorithm. */
export async function activateSigningKey(executor: Executor, kid: string, activated: Date): Promise<void> {
  await executor('signing_keys').where({ kid }).update({ status: 'ACTIVE', activated });
}

/** Only for a key that has not signed anything. */
export async function deleteSigningKey(executor: Executor, kid: string): Promise<void> {
  await executor('signing_keys').where({ kid }).delete();
}

export async function retireSigningKey(executor: Executor, kid: string, retired: Date): Promise<void> {
  await executor('signing_keys').where({ kid }).update({ status: 'RETIRED', retired });
}

/** Join condition for the next key of the same server and algorithm. */
const followsActive = (on: Knex.JoinClause): void => {
  on.on('n.server_id', 'k.server_id').andOn('n.alg', 'k.alg').andOnVal('n.status', 'NEXT');
};

/** Number of algorithms for which a server `s` has keys (`algsOf`). */
const ALGS_OF_SERVER = "SELECT count(DISTINCT alg) FROM unnest(ARRAY['RS256', 'ES256', s.signing_alg] || s.additional_signing_algs) AS alg";

/** Servers without a key for an algorithm, with a superfluous key, without a next key, or with an overdue automatic rotation. */
export async function listServersWithDueKeys(
  executor: Executor,
  { activatedBefore, announcedBefore }: { readonly activatedBefore: Date; readonly announcedBefore: Date },
): Promise<string[]> {
  return executor('signing_keys as k')
    .join('authorization_servers as s', 's.id', 'k.server_id')
    .leftJoin('signing_keys as n', followsActive)
    .where('k.status', 'ACTIVE')
    .where((either) =>
      either
        .whereNull('n.kid')
        .orWhereRaw(`(SELECT count(*) FROM signing_keys a WHERE a.server_id = k.server_id AND a.status = 'ACTIVE') <> (${ALGS_OF_SERVER})`)
        .orWhere((due) =>
          due.where('s.rotation_mode', 'AUTO').where('k.activated', '<=', activatedBefore).where('n.created', '<=', announcedBefore),
        ),
    )
    .distinct()
    .pluck<string[]>('k.server_id');
}

/** Keys in use of one server or all servers, for the configured algorithm. */
export async function listKeysInUse(executor: Executor, serverId?: string): Promise<KeyInUse[]> {
  const query = executor('signing_keys as k')
    .join('authorization_servers as s', (on) => on.on('s.id', 'k.server_id').andOn('s.signing_alg', 'k.alg'))
    .leftJoin('signing_keys as n', followsActive)
    .where('k.status', 'ACTIVE')
    .select<KeyInUse[]>({ serverId: 's.id', kid: 'k.kid', activated: 'k.activated', nextCreated: 'n.created' });
  return serverId === undefined ? query : query.where('s.id', serverId);
}

/** Keys that were retired after that time, the earliest first. */
export async function listKeysRetiredAfter(
  executor: Executor,
  moment: Date,
  limit: number,
): Promise<readonly { readonly serverId: string; readonly kid: string; readonly retired: Date }[]> {
  return executor('signing_keys')
    .where({ status: 'RETIRED' })
    .where('retired', '>', moment)
    .orderBy(['retired', 'kid'])
    .limit(limit)
    .select({ serverId: 'server_id', kid: 'kid', retired: 'retired' });
}

/**
 * Deletes keys that were retired before that time. This changes the revision of their servers (migration 020). Servers that are locked by a
 * concurrent change are skipped until the next time.
 * @returns the number of deleted keys, at most `limit`
 */
export async function deleteRetiredKeys(executor: Executor, before: Date, limit: number): Promise<number> {
  const { rowCount } = await executor.raw<{ rowCount: number }>(
    `WITH free AS MATERIALIZED (SELECT s.id FROM authorization_servers s
        WHERE EXISTS (SELECT 1 FROM signing_keys k WHERE k.server_id = s.id AND k.status = 'RETIRED' AND k.retired < :before)
        ORDER BY s.id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED)
      DELETE FROM signing_keys WHERE kid IN (SELECT k.kid FROM free JOIN signing_keys k ON k.server_id = free.id
        WHERE k.status = 'RETIRED' AND k.retired < :before LIMIT :limit FOR UPDATE OF k SKIP LOCKED)`,
    { before, limit },
  );
  return rowCount;
}
