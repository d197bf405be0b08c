/** Authorization servers and the data that they are built from. The only SQL on that table. */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { unlessRefused } from '../../platform/database/database-failures.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { applyWords } from '../../platform/database/words.ts';
import { listDetailTypes } from '../authorization-details/detail-types.store.ts';
import { listClaims } from '../claims/claims.store.ts';
import { listActivePolicies } from '../policies/policies.store.ts';
import { listScopes } from '../scopes/scopes.store.ts';
import type { AuthorizationServer, AuthorizationServerParts } from './authorization-servers.resource.ts';
import { listSigningKeys } from './signing-keys.store.ts';

const SERVER: Columns<AuthorizationServer> = {
  id: 'id',
  key: 'key',
  name: 'name',
  description: 'description',
  audience: 'audience',
  furtherAudiences: 'further_audiences',
  profile: 'profile',
  accessTokenFormat: 'access_token_format',
  accessTokenType: 'access_token_type',
  accessTokenSeconds: 'access_token_seconds',
  refreshTokenSeconds: 'refresh_token_seconds',
  refreshTokenWindowSeconds: 'refresh_token_window_seconds',
  signingAlg: 'signing_alg',
  additionalSigningAlgs: 'additional_signing_algs',
  rotationMode: 'rotation_mode',
  clientIdMetadata: 'client_id_metadata',
  registration: 'registration',
  status: 'status',
  system: 'system',
  created: 'created',
  lastUpdated: 'last_updated',
};

/** @returns the new server with its generated key; undefined if its ID or name is taken */
export async function insertServer(executor: Executor, server: Omit<AuthorizationServer, 'key'>): Promise<AuthorizationServer | undefined> {
  const rows = await executor('authorization_servers')
    .insert(toRow<AuthorizationServer>(SERVER, server))
    .onConflict()
    .ignore()
    .returning<{ key: number }[]>('key');
  return rows[0] && { ...server, key: rows[0].key };
}

/** @returns false if another server has the name */
export const updateServer = (
  executor: Executor,
  id: string,
  changes: Partial<Omit<AuthorizationServer, 'id' | 'key' | 'system' | 'created'>>,
): Promise<boolean> => unlessRefused(executor('authorization_servers').where({ id }).update(toRow<AuthorizationServer>(SERVER, changes)));

export async function findServer(executor: Executor, id: string): Promise<AuthorizationServer | undefined> {
  return executor('authorization_servers').where({ id }).first<AuthorizationServer | undefined>(SERVER);
}

/** Locks the row, so that the second of two concurrent changes sees the first. Needs a transaction. */
export async function lockServer(executor: Executor, id: string): Promise<AuthorizationServer | undefined> {
  return executor('authorization_servers').where({ id }).forUpdate().first<AuthorizationServer | undefined>(SERVER);
}

/** All servers, oldest first. */
export async function listServers(executor: Executor): Promise<AuthorizationServer[]> {
  return executor('authorization_servers').select<AuthorizationServer[]>(SERVER).orderBy('key');
}

/** Oldest first. @param q words of the ID, the name or the audiences, or a part of one */
export function pageServers(executor: Executor, q: string | undefined, window: Window): Promise<Page<AuthorizationServer>> {
  const query = executor('authorization_servers');
  if (q !== undefined) applyWords(query, ['id', 'name', 'audience', "array_to_string(further_audiences, ' ')"], q, 'part');
  return readPage(query, SERVER, window, { by: 'key' });
}

/** Also deletes its keys, scopes, claims, policies and consents. */
export async function deleteServer(trx: Executor, id: string): Promise<void> {
  await trx('authorization_servers').where({ id }).delete();
}

/** @returns undefined if there is no such server */
export async function loadServerParts(executor: Executor, id: string): Promise<AuthorizationServerParts | undefined> {
  const server = await findServer(executor, id);
  if (server === undefined) return undefined;
  return {
    server,
    scopes: await listScopes(executor, id),
    detailTypes: await listDetailTypes(executor, id),
    claims: await listClaims(executor, id),
    keys: await listSigningKeys(executor, id),
    policies: await listActivePolicies(executor, id),
  };
}
