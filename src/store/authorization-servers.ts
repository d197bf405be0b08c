/** Authorization servers with their scopes, and all that one is built from. The only SQL on those two tables. */
import type { AccessPolicy } from '../policy/access-policy.ts';
import { type Columns, toRow } from './columns.ts';
import type { Executor } from './database.ts';
import { violatedConstraint } from './failures.ts';
import { listActivePolicies } from './policies.ts';
import { listSigningKeys, type SigningAlg, type SigningKey } from './signing-keys.ts';

export type ServerStatus = 'ACTIVE' | 'INACTIVE';
export type ScopeConsent = 'IMPLICIT' | 'REQUIRED' | 'FLEXIBLE';

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
  readonly accessTokenSeconds: number;
  /** Absolute, from the sign-in on. */
  readonly refreshTokenSeconds: number;
  /** Sliding, from the last use on. */
  readonly refreshTokenWindowSeconds: number;
  readonly signingAlg: SigningAlg;
  readonly status: ServerStatus;
  /** May not be deleted. */
  readonly system: boolean;
  readonly created: Date;
  readonly lastUpdated: Date;
}

export interface Scope {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly consent: ScopeConsent;
  readonly isDefault: boolean;
  readonly optional: boolean;
  readonly system: boolean;
  readonly metadataPublish: 'ALL_CLIENTS' | 'NO_CLIENTS';
}

/** A server with everything a Provider is built from. */
export interface AuthorizationServerParts {
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
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
  accessTokenSeconds: 'access_token_seconds',
  refreshTokenSeconds: 'refresh_token_seconds',
  refreshTokenWindowSeconds: 'refresh_token_window_seconds',
  signingAlg: 'signing_alg',
  status: 'status',
  system: 'system',
  created: 'created',
  lastUpdated: 'last_updated',
};

const SCOPE: Columns<Scope> = {
  name: 'name',
  displayName: 'display_name',
  description: 'description',
  consent: 'consent',
  isDefault: 'is_default',
  optional: 'optional',
  system: 'system',
  metadataPublish: 'metadata_publish',
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

export async function insertScope(executor: Executor, serverId: string, id: string, scope: Scope): Promise<void> {
  await executor('scopes').insert({ id, server_id: serverId, ...toRow<Scope>(SCOPE, scope) });
}

/** @returns undefined when there is no such server */
export async function loadServerParts(executor: Executor, id: string): Promise<AuthorizationServerParts | undefined> {
  const server = await findServer(executor, id);
  if (server === undefined) return undefined;
  const scopes = await executor('scopes').where({ server_id: id }).select<Scope[]>(SCOPE).orderBy('seq');
  return { server, scopes, keys: await listSigningKeys(executor, id), policies: await listActivePolicies(executor, id) };
}
