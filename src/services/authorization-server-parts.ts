/** A change of what belongs to an authorization server: under the server's lock, so that of two changes the second sees the first, and told to all processes. */
import { notFound, wrongState } from '../errors.ts';
import { BUILT_IN } from '../policy/server-id.ts';
import { lockServer } from '../store/authorization-servers.ts';
import type { Executor } from '../store/database.ts';
import type { Services } from './dependencies.ts';

/**
 * Carries out a change of a custom server's scopes or claims in one transaction.
 * @param change writes the rows and their audit event
 * @throws {ApiError} not found; wrong state: the built-in server has the standard scopes and no claims of its own
 */
export async function changeServerPart<T>(services: Services, serverId: string, change: (trx: Executor) => Promise<T>): Promise<T> {
  const { database, notifications } = services;
  const result = await database.transaction(async (trx) => {
    if ((await lockServer(trx, serverId)) === undefined) throw notFound(serverId, 'AuthorizationServer');
    if (serverId === BUILT_IN) throw wrongState('the built-in authorization server keeps its scopes and has no claims of its own');
    const changed = await change(trx);
    await notifications.publish(trx, { kind: 'server', id: serverId });
    return changed;
  });
  notifications.announce({ kind: 'server', id: serverId });
  return result;
}
