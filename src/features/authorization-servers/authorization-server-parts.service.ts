/** Changes of a server's parts: serialized by the server's lock, and announced to all processes. */

import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { lockExisting } from '../../platform/database/named-statements.ts';
import { notFound, wrongState } from '../../platform/errors/errors.ts';
import { lockServer } from './authorization-servers.store.ts';
import { BUILT_IN } from './server-id.policy.ts';

/** A server is loaded with all its parts, and each token evaluates them. With more parts, requests of all its clients would be slow. */
const MOST = { scopes: 1000, 'authorization detail types': 100, claims: 100, policies: 100, rules: 100 } as const;

/**
 * @param there the existing ones of the server or, for rules, of the policy
 * @throws {ApiError} wrong state: the maximum is reached
 */
export function refuseOneMore(what: keyof typeof MOST, there: readonly unknown[]): void {
  if (there.length >= MOST[what]) throw wrongState(`the limit of ${MOST[what]} ${what} is reached. Delete one first`);
}

/** Objects that a change refers to in addition to those of the server. */
export interface Names {
  readonly application?: readonly string[];
  readonly user?: readonly string[];
  readonly group?: readonly string[];
}

/** The existing ones, locked until the change is committed. */
export type Existing = { readonly [K in keyof Names]-?: ReadonlySet<string> };

/**
 * Changes a custom server's scopes, claims, policies or rules in one transaction. Referenced objects are locked before the server, as in
 * their deletion. The server and its parts are locked until the end.
 * @param change writes the rows and their audit event
 * @param ofBuiltIn can the change apply to the built-in server? The change must then check what is allowed there
 * @throws {ApiError} not found; wrong state: the built-in server has the standard scopes, one policy, and no custom claims
 */
export async function changeServerPart<T>(
  { database, notifications }: Services,
  serverId: string,
  names: Names,
  change: (trx: Executor, existing: Existing) => Promise<T>,
  ofBuiltIn = false,
): Promise<T> {
  const result = await database.transaction(async (trx) => {
    const existing = {
      application: await lockExisting(trx, 'application', names.application ?? []),
      user: await lockExisting(trx, 'user', names.user ?? []),
      group: await lockExisting(trx, 'group', names.group ?? []),
    };
    if ((await lockServer(trx, serverId)) === undefined) throw notFound(serverId, 'AuthorizationServer');
    if (serverId === BUILT_IN && !ofBuiltIn)
      throw wrongState('the built-in authorization server has fixed scopes, claims and policies. Use a custom one');
    const changed = await change(trx, existing);
    await notifications.publish(trx, { kind: 'server', id: serverId });
    return changed;
  });
  notifications.announce({ kind: 'server', id: serverId });
  return result;
}
