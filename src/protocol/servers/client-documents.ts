/** Clients with a metadata document at one authorization server: when documents are fetched, and where refusals are recorded. */
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { networkOf } from '../../features/sign-in/failure-limits.service.ts';
import type { ClientDocumentRules } from '../storage/client-adapter.ts';
import type { ProviderParts } from './dependencies.ts';

/** Endpoints that only use existing tokens. */
const TOKEN_ENDPOINTS: ReadonlySet<unknown> = new Set(['introspection', 'revocation', 'userinfo']);

export const clientDocumentRules = (
  { id, name }: AuthorizationServer,
  { describe, refuseDocument }: Pick<ProviderParts, 'describe' | 'refuseDocument'>,
): ClientDocumentRules => ({
  requesterOf: (ctx) => (TOKEN_ENDPOINTS.has(ctx.oidc?.route) ? undefined : { network: networkOf(describe(ctx.req).ipAddress) }),
  refused: (ctx, clientId, { message }) => refuseDocument({ clientId, reason: message, server: { id, name } }, ctx.req),
});
