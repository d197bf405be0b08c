/** The grants by which tokens come from other tokens, registered at a server. */
import { tokenExchanged } from '../../features/audit/token-exchanges.service.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { BUILT_IN, issuerOf } from '../../features/authorization-servers/server-id.policy.ts';
import { TOKEN_EXCHANGE_GRANT } from '../../features/policies/access-policy.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import type { IssuingServer } from '../servers/issuing-server.ts';
import type { Directory } from '../storage/directory.ts';
import type { Subjects } from '../token/subjects.ts';
import type { DelegatedTokens } from './delegated-tokens.ts';
import { EXCHANGE_PARAMETERS, tokenExchange } from './token-exchange.ts';

export interface ExchangeGrantParts {
  readonly own: IssuingServer & { readonly subjects: Subjects };
  readonly scopes: readonly Scope[];
  readonly directory: Directory;
  readonly delegated: DelegatedTokens;
  /** @returns an active server of this installation */
  findServer(id: string): Promise<IssuingServer | undefined>;
}

export function registerExchangeGrants(
  { own, findServer, ...parts }: ExchangeGrantParts,
  { config, issuerKeys, describe, requestId }: ProviderParts,
): void {
  const root = issuerOf(config.baseUrl, BUILT_IN);
  const server: Pick<AuthorizationServer, 'id' | 'name'> = own.server;
  const exchange = tokenExchange({
    ...parts,
    own,
    provider: own.provider,
    issuerKeys,
    subjects: own.subjects,
    isOurs: (issuer) => issuer === root || issuer.startsWith(`${root}/`),
    findServer: (issuer) => findServer(issuer === root ? BUILT_IN : issuer.slice(root.length + 1)),
    eventOf(ctx, { user, act, scope }) {
      const { client } = ctx.oidc;
      const application = { id: client?.clientId ?? '', name: client?.clientName ?? '' };
      return tokenExchanged({ user, application, server, act, scope }, { ...describe(ctx.req), requestId: requestId(ctx.req) });
    },
  });
  own.provider.registerGrantType(TOKEN_EXCHANGE_GRANT, exchange, EXCHANGE_PARAMETERS);
}
