/** The grants that issue tokens for other tokens, registered at a server. */

import { fapi2SigningAlg } from '../../features/applications/fapi2.policy.ts';
import type { AuditEvent } from '../../features/audit/events.resource.ts';
import { assertionAccepted, tokenExchanged } from '../../features/audit/protocol-events.service.ts';
import { BUILT_IN, issuerOf } from '../../features/authorization-servers/server-id.policy.ts';
import { JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from '../../features/policies/access-policy.policy.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { isFapi2 } from '../servers/fapi2.ts';
import { ASSERTION_PARAMETERS, type AssertionParts, assertionGrant } from './assertion-grant.ts';
import type { Signer } from './id-jag.ts';
import type { IssuingServer } from './presented-identity.ts';
import { EXCHANGE_PARAMETERS, type ExchangeParts, tokenExchange } from './token-exchange.ts';

type FromServer = 'scopes' | 'directory' | 'delegated' | 'denied' | 'evaluate' | 'subjects';

export interface ExchangeGrantParts extends Pick<ExchangeParts, FromServer>, Pick<AssertionParts, 'audiences'> {
  readonly own: IssuingServer;
  /** The server's signing keys, the current one first. */
  readonly keys: readonly Signer[];
  /** @returns an active server of this installation */
  findServer(id: string): Promise<IssuingServer | undefined>;
}

interface ForUser {
  readonly user: { readonly id: string; readonly login: string };
  readonly scope: string;
}

export function registerExchangeGrants(
  { own, keys, findServer, ...parts }: ExchangeGrantParts,
  { config, issuerKeys, isFactorRequiredByPolicy, describe, requestId }: ProviderParts,
): void {
  const root = issuerOf(config.baseUrl, BUILT_IN);
  const noted =
    (toEvent: typeof tokenExchanged) =>
    (ctx: KoaContextWithOIDC, { user, ...details }: ForUser): AuditEvent => {
      const { client } = ctx.oidc;
      const application = { id: client?.clientId ?? '', name: client?.clientName ?? '' };
      return toEvent({ user, application, server: own.server, details }, { ...describe(ctx.req), requestId: requestId(ctx.req) });
    };
  const all = {
    ...parts,
    own,
    provider: own.provider,
    issuerKeys,
    isFactorRequiredByPolicy,
    strictAssertionAudience: config.strictAssertionAudience,
    isOurs: (issuer: string) => issuer === root || issuer.startsWith(`${root}/`),
    findServer: (issuer: string) => findServer(issuer === root ? BUILT_IN : issuer.slice(root.length + 1)),
    signerFor: (client: object) => signerIn(keys, isFapi2(client, own.server) ? fapi2SigningAlg(own.server.signingAlg) : undefined),
    exchanged: noted(tokenExchanged),
    asserted: noted(assertionAccepted),
  };
  own.provider.registerGrantType(TOKEN_EXCHANGE_GRANT, tokenExchange(all), EXCHANGE_PARAMETERS);
  own.provider.registerGrantType(JWT_BEARER_GRANT, assertionGrant(all), ASSERTION_PARAMETERS);
}

/** @param alg undefined: the server's algorithm */
function signerIn(keys: readonly Signer[], alg: string | undefined): Signer {
  const [key] = alg === undefined ? keys : keys.filter((one) => one.alg === alg);
  if (key === undefined) throw new Error(`the authorization server has no key for ${alg}`);
  return key;
}
