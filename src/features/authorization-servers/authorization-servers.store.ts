/** Authorization servers, and all that one is built from. The only SQL on that table. */

import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import { violatedConstraint } from '../../platform/database/database-failures.ts';
import { containing } from '../../platform/database/filter.ts';
import { type Page, readPage, type Window } from '../../platform/database/paging.ts';
import { listClaims } from '../claims/claims.store.ts';
import type { ServerClaim } from '../claims/custom-claims.policy.ts';
import type { AccessPolicy } from '../policies/access-policy.policy.ts';
import { listActivePolicies } from '../policies/policies.store.ts';
import { listScopes, type Scope } from '../scopes/scopes.store.ts';
import type { RotationMode } from './key-rotation.policy.ts';
import { listSigningKeys, type SigningAlg, type SigningKey } from './signing-keys.store.ts';

export type ServerStatus = 'ACTIVE' | 'INACTIVE';

/** RFC 9068 section 2.1, and what resource servers know that are older. */
type AccessTokenType = 'at+jwt' | 'JWT';

export interface AuthorizationServer {
  /** `built-in`, `default`, or what its creator chose; the last path segment of a custom server's issuer. */
  readonly id: string;
  /** Small number that rows of the protocol carry in place of the id. */
  readonly key: number;
  readonly name: string;
  readonly description: string;
  readonly audience: string;
  readonly profile: 'service' | 'openid';
  readonly accessTokenFormat: 'opaque' | 'jwt';
  /** The `typ` of its JWT access tokens. */
  readonly accessTokenType: AccessTokenType;
  readonly accessTokenSeconds: number;
  /** Absolute, from the sign-in on. */
  readonly refreshTokenSeconds: number;
  /** Sliding, from the last use on. */
  readonly refreshTokenWindowSeconds: number;
  readonly signingAlg: SigningAlg;
  /** Are its keys rotated by themselves? */
  readonly rotationMode: RotationMode;
  readonly status: ServerStatus;
  /** May not be deleted. */
  readonly system: boolean;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** A server with everything a Provider is built from. */
export interface AuthorizationServerParts {
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
  readonly claims: readonly ServerClaim[];
  readonly keys: readonly SigningKey[];
  /** Those in force. */
  readonly policies: readonly AccessPolicy[];
}

const SERVER: Columns<AuthorizationServer> = {
  id: 'id',
  key: 'key',
  name: 'name',
  description: 'description',
  audience: 'audience',
  profile: 'profile',
  accessTokenFormat: 'access_token_format',
  accessTokenType: 'access_token_type',
  accessTokenSeconds: 'access_token_seconds',
  refreshTokenSeconds: 'refresh_token_seconds',
  refreshTokenWindowSeconds: 'refresh_token_window_seconds',
  signingAlg: 'signing_alg',
  rotationMode: 'rotation_mode',
  status: 'status',
  system: 'system',
  created: 'created',
  lastUpdated: 'last_updated',
};

/** @returns the new server with the key the database gave it; undefined when its id or name is taken */
export async function insertServer(executor: Executor, server: Omit<AuthorizationServer, 'key'>): Promise<AuthorizationServer | undefined> {
  const rows = await executor('authorization_servers')
    .insert(toRow<AuthorizationServer>(SERVER, server))
    .onConflict()
    .ignore()
    .returning<{ key: number }[]>('key');
  return rows[0] && { ...server, key: rows[0].key };
}

/** @returns false when another server has the wanted name */
export async function updateServer(
  executor: Executor,
  id: string,
  changes: Partial<Omit<AuthorizationServer, 'id' | 'key' | 'system' | 'created'>>,
): Promise<boolean> {
  try {
    await executor('authorization_servers').where({ id }).update(toRow<AuthorizationServer>(SERVER, changes));
    return true;
  } catch (error) {
    if (violatedConstraint(error) !== undefined) return false;
    throw error;
  }
}

export async function findServer(executor: Executor, id: string): Promise<AuthorizationServer | undefined> {
  return executor('authorization_servers').where({ id }).first<AuthorizationServer | undefined>(SERVER);
}

/** Locks the row, so that of two changes to one server the second sees the first. Needs a transaction. */
export async function lockServer(executor: Executor, id: string): Promise<AuthorizationServer | undefined> {
  return executor('authorization_servers').where({ id }).forUpdate().first<AuthorizationServer | undefined>(SERVER);
}

/** All servers, oldest first. */
export async function listServers(executor: Executor): Promise<AuthorizationServer[]> {
  return executor('authorization_servers').select<AuthorizationServer[]>(SERVER).orderBy('key');
}

/** Oldest first. @param q what name or audience contains, whatever the case of its letters */
export function pageServers(executor: Executor, q: string | undefined, window: Window): Promise<Page<AuthorizationServer>> {
  const query = executor('authorization_servers');
  if (q !== undefined) query.whereRaw('(lower(name) LIKE lower(?) OR lower(audience) LIKE lower(?))', [containing(q), containing(q)]);
  return readPage(query, SERVER, window, { by: 'key' });
}

/** Its keys, scopes, claims, policies and consents go with it. */
export async function deleteServer(trx: Executor, id: string): Promise<void> {
  await trx('authorization_servers').where({ id }).delete();
}

/** @returns undefined when there is no such server */
export async function loadServerParts(executor: Executor, id: string): Promise<AuthorizationServerParts | undefined> {
  const server = await findServer(executor, id);
  if (server === undefined) return undefined;
  return {
    server,
    scopes: await listScopes(executor, id),
    claims: await listClaims(executor, id),
    keys: await listSigningKeys(executor, id),
    policies: await listActivePolicies(executor, id),
  };
}
