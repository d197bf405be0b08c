/** JWTs of trusted identity providers: finds the provider and the linked user. */
import type { JWTPayload } from 'jose';
import type { IdentityProvider } from '../../features/identity-providers/identity-providers.resource.ts';
import {
  ForeignJwtRefused,
  type IssuerKeys,
  KeysUnavailable,
  unverifiedClaims,
  verifyForeignJwt,
} from '../client-authentication/foreign-jwt.ts';
import { IssuerKeysUnavailable } from '../servers/errors.ts';
import type { Directory } from '../storage/directory.ts';
import type { Account } from '../storage/protocol-state.store.ts';

interface Parts {
  readonly directory: Directory;
  readonly issuerKeys: IssuerKeys;
}

export interface ProviderToken {
  readonly issuer: string;
  readonly token: string;
  /** Accepted audiences; the JWT must have exactly one of them. */
  audiencesOf(provider: IdentityProvider): readonly string[];
  /** Header `typ` in lower case; '' means none. */
  readonly types: readonly string[];
}

/** The provider and the user linked to the token's subject. */
interface Known {
  readonly claims: JWTPayload;
  readonly provider: IdentityProvider;
  readonly account: Account;
}

/**
 * Several providers can share an issuer with different client IDs. The audience selects one by its client ID. If it is this server, all are
 * searched for the subject: exactly one user must match.
 * @returns the providers with a matching user, or a reason
 */
export async function linkedProviders(parts: Parts, presented: ProviderToken): Promise<readonly [Known, ...Known[]] | string> {
  const trusted = await parts.directory.trustedProviders(presented.issuer);
  const [audience] = [unverifiedClaims(presented.token)?.aud ?? []].flat();
  const named = trusted.filter(({ protocol }) => protocol.credentials.client.client_id === audience);
  const results: (Known | string)[] = [];
  for (const provider of named.length > 0 ? named : trusted) results.push(await knownAs(parts, provider, presented));
  const [first, ...others] = results.filter((one) => typeof one !== 'string');
  if (first !== undefined && others.every(({ account }) => account.id === first.account.id)) return [first, ...others];
  if (first !== undefined)
    return 'several identity providers with trusted assertions have this issuer and link its subject to different users. Trust only one of them';
  const [reason = 'no active identity provider with trusted assertions has this issuer'] = results.filter((one) => typeof one === 'string');
  return reason;
}

/** @returns the user linked to the subject, or a reason @throws {IssuerKeysUnavailable} */
async function knownAs(
  { directory, issuerKeys }: Parts,
  provider: IdentityProvider,
  { issuer, token, audiencesOf, types }: ProviderToken,
): Promise<Known | string> {
  const address = provider.protocol.endpoints?.jwks?.url;
  const keys = () => (address === undefined ? issuerKeys.of(issuer) : issuerKeys.at(address));
  let claims: JWTPayload;
  try {
    claims = await verifyForeignJwt(token, { issuer, audiences: audiencesOf(provider), types, keys });
  } catch (error) {
    if (error instanceof KeysUnavailable) throw new IssuerKeysUnavailable(error);
    if (error instanceof ForeignJwtRefused) return error.message;
    throw error;
  }
  const account = await directory.linkedUser(provider.id, String(claims.sub));
  return account === undefined ? 'no user is linked to its subject' : { claims, provider, account };
}
