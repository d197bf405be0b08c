/** Targets of a consent event: application and authorization server, with searchable names. */
import type { Executor } from '../../platform/database/database.ts';
import { findApplicationById } from '../applications/applications.store.ts';
import { findServer } from '../authorization-servers/authorization-servers.store.ts';
import type { ConsentKey } from './consents.resource.ts';

export async function consentTargets(executor: Executor, { applicationId, serverId }: Pick<ConsentKey, 'applicationId' | 'serverId'>) {
  const application = await findApplicationById(executor, applicationId);
  const server = await findServer(executor, serverId);
  return [
    { id: applicationId, type: 'AppInstance', displayName: application?.label ?? applicationId },
    { id: serverId, type: 'AuthorizationServer', displayName: server?.name ?? serverId },
  ];
}
