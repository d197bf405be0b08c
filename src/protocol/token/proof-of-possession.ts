/** Tokens that are bound to a key of their application (RFC 9449, RFC 8705), where oidc-provider does not bind or check them. */
import { decodeJwt } from 'jose';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import {
  type Configuration,
  checkDpopReplay,
  checkDpopRequired,
  checkMtlsCert,
  errors,
  type KoaContextWithOIDC,
  type Provider,
  validateDpop,
} from '../library/oidc-provider.ts';
import { isFromFuture } from './clock-offset.ts';

/** The algorithms of DPoP proofs: those of FAPI 2.0 Security Profile section 5.4. */
export const PROOF_ALGS = ['ES256', 'PS256', 'Ed25519', 'EdDSA'] as const;

/** An access token, or another value that can be bound. */
interface Bindable {
  setThumbprint(kind: 'jkt' | 'x5t', input: string): void;
}

/** Binds a token of one of our own grants. @throws {errors.InvalidGrant} without a proof, if the application must send one */
export async function bindToken(provider: Provider, ctx: KoaContextWithOIDC, token: Bindable): Promise<void> {
  const { client } = ctx.oidc;
  const proof = await validateDpop(provider, ctx);
  if (client !== undefined) await checkDpopReplay(provider, ctx, proof, client.clientId);
  checkDpopRequired(provider, ctx, proof);
  const certificate = checkMtlsCert(provider, ctx);
  if (proof !== undefined) token.setThumbprint('jkt', proof.thumbprint);
  if (certificate !== undefined) token.setThumbprint('x5t', certificate as string);
}

/** The library's feature. Nonces are the same in all processes. After a rotation of SECRET_KEY clients get a new one. */
export const dpopFeature = (keyring: Keyring, isFapi2: (ctx: KoaContextWithOIDC) => boolean): DpopFeature => ({
  enabled: true,
  nonceSecret: keyring.keysOf('dpop nonces')[0],
  requireNonce: (ctx) => needsNonce(ctx, isFapi2(ctx)),
});

type DpopFeature = NonNullable<NonNullable<Configuration['features']>['dPoP']>;

/**
 * A proof dated too far ahead needs a nonce, which is more reliable than the application's clock.
 * @throws {errors.InvalidDpopProof} under FAPI 2.0, which refuses such proofs (section 5.3.2.1)
 */
function needsNonce(ctx: KoaContextWithOIDC, isFapi2: boolean): boolean {
  if (!isFromFuture(timeOf(ctx.get('DPoP')), epochSeconds())) return false;
  if (isFapi2)
    throw new errors.InvalidDpopProof(
      'the iat of the DPoP proof is more than 60 seconds in the future. Check the clock of the application',
    );
  return true;
}

/** Unverified `iat`; values that are not JWTs are refused elsewhere. */
function timeOf(proof: string): unknown {
  try {
    return decodeJwt(proof).iat;
  } catch {
    return undefined;
  }
}

interface BoundToken {
  readonly clientId?: string | undefined;
  readonly jkt?: string | undefined;
}

/**
 * Revocation and introspection need no proof, because a resource server does not have the token's key. A proof that is sent must be valid.
 * @throws {errors.InvalidDpopProof} of another key than the token's, or used before
 */
export async function checkProof(ctx: KoaContextWithOIDC, token: object): Promise<void> {
  const { provider, client } = ctx.oidc;
  const proof = await validateDpop(provider, ctx);
  if (proof === undefined) return;
  await checkDpopReplay(provider, ctx, proof, client?.clientId ?? '', errors.InvalidDpopProof);
  if (proof.thumbprint !== (token as BoundToken).jkt)
    throw new errors.InvalidDpopProof('the DPoP proof must be signed with the key that the token is bound to');
}
