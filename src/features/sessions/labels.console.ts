/** Names of applications and authorization servers for IDs. */

import type { ConsoleRequest } from '../../pages/console/page.ts';
import { getApplication } from '../applications/applications.service.ts';
import { listAuthorizationServers } from '../authorization-servers/authorization-servers.service.ts';

/** Labels by client_id; a deleted application has none. */
export async function applicationNames({ services }: ConsoleRequest, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all([...new Set(ids)].map((id) => getApplication(services, id).catch(() => undefined)));
  return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.id, one.label] as const])));
}

export const serverNames = async ({ services }: ConsoleRequest): Promise<ReadonlyMap<string, string>> =>
  new Map((await listAuthorizationServers(services)).map(({ id, name }) => [id, name]));
