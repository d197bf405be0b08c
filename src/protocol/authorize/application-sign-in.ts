/** Records the first use of a session for an application. */
import { applicationSignIn } from '../../features/audit/protocol-events.service.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { requestStateOf } from '../storage/request-state.ts';

/** Adds the event to what the request writes, if it adds the application to its session. Call after the library, before the commit. */
export function noteApplicationSignIn(
  ctx: KoaContextWithOIDC,
  server: AuthorizationServer,
  { describe, requestId }: Pick<ProviderParts, 'describe' | 'requestId'>,
): void {
  const state = requestStateOf(ctx);
  const { client, session } = ctx.oidc;
  const joining = state?.writes.sessionClients.find(({ clientId, isFirst }) => isFirst && clientId === client?.clientId);
  const userId = session?.accountId;
  if (state === undefined || joining === undefined || client === undefined || userId === undefined) return;
  joining.event = applicationSignIn(
    {
      user: { id: userId, name: state.accounts.get(userId)?.login ?? userId },
      application: { id: client.clientId, name: client.clientName ?? client.clientId },
      server,
    },
    { ...describe(ctx.req), requestId: requestId(ctx.req) },
  );
}
