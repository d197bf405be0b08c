/**
 * Workload identity: an application authenticates by a token of another issuer in `client_assertion` (RFC 7523 section 2.2) instead of a
 * secret. oidc-provider supports only assertions that the client signed. So the token is verified before the library sees the request, and
 * replaced by a value that is valid for this request only. The library compares that value like a secret (library/patches.ts).
 */
import type { IncomingMessage } from 'node:http';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Context } from 'koa';
import { credentialsFor, type FederatedCredential } from '../../features/applications/federated-credentials.policy.ts';
import { randomToken, sameSecret } from '../../platform/crypto/secrets.ts';
import type { AdapterPayload, KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { IssuerKeysUnavailable } from '../servers/errors.ts';
import { noteForm, readProtocolForm } from '../servers/form.ts';
import { ForeignJwtRefused, type IssuerKeys, KeysUnavailable, unverifiedClaims, verifyForeignJwt } from './foreign-jwt.ts';
import type { WrongSecrets } from './wrong-secrets.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Kubernetes sets no typ, GitHub `JWT`, SPIFFE `JWT` or `JOSE`. Access tokens of RFC 9068 have another one. */
const TYPES = ['', 'jwt', 'jose'];

interface Federation {
  readonly clientId: string;
  /** The value that replaces the assertion. */
  readonly secret: string;
  /** Why the assertion is refused; undefined: it is valid. */
  readonly refusal: string | undefined;
}

const federations = new WeakMap<IncomingMessage, Federation>();

/** Does the client authenticate by a token of another issuer? */
export const isFederated = (req: IncomingMessage | undefined, clientId: string): boolean =>
  req !== undefined && federations.get(req)?.clientId === clientId;

/** @returns whether the token was valid; undefined: the client authenticates in another way */
export function federatedResult(req: IncomingMessage | undefined, clientId: string, secret: string): boolean | undefined {
  const federation = req && federations.get(req);
  if (federation?.clientId !== clientId) return undefined;
  return federation.refusal === undefined && sameSecret(federation.secret, secret);
}

/** Adds the reason for the refusal to the response. */
export function explainFederation(ctx: KoaContextWithOIDC): void {
  const refusal = federations.get(ctx.req)?.refusal;
  const body = ctx.body as { error?: unknown; error_description?: string } | undefined;
  if (refusal !== undefined && body?.error === 'invalid_client') body.error_description = `the client assertion is refused: ${refusal}`;
}

interface Parts {
  /** @returns undefined if the application does not exist */
  findClient(id: string, ctx: KoaContextWithOIDC): Promise<AdapterPayload | undefined>;
  readonly issuerKeys: IssuerKeys;
  readonly wrongSecrets: WrongSecrets;
}

/**
 * Verifies an assertion of another issuer, if the application in the form trusts other issuers. Everything else is left to the library.
 * @throws {IssuerKeysUnavailable} the issuer's keys cannot be fetched
 */
export async function prepareFederated(ctx: KoaContextWithOIDC, { findClient, issuerKeys, wrongSecrets }: Parts): Promise<void> {
  const form = new URLSearchParams(await readProtocolForm(ctx));
  const [assertion, id] = [form.get('client_assertion'), form.get('client_id')];
  if (assertion === null || id === null || form.get('client_assertion_type') !== ASSERTION_TYPE) return;
  if (isSecond(ctx, form)) return;
  const claims = unverifiedClaims(assertion);
  // Assertions that the client signed itself name it as issuer (RFC 7523 section 3).
  if (claims === undefined || claims.iss === id) return;
  const client = await findClient(id, ctx);
  const credentials = client === undefined ? [] : clientSettings(client).federated;
  if (credentials.length === 0) return;
  wrongSecrets.refuseBlocked(ctx, id);
  const refusal = await refusalOf(assertion, credentialsFor(credentials, claims), issuerKeys);
  const secret = randomToken();
  federations.set(ctx.req, { clientId: id, secret, refusal });
  form.delete('client_assertion');
  form.delete('client_assertion_type');
  form.set('client_secret', secret);
  noteForm(ctx.req, form.toString());
}

/** Two client authentication methods in one request: the library refuses them (RFC 6749 section 2.3). */
const isSecond = ({ headers }: Context, form: URLSearchParams): boolean => headers.authorization !== undefined || form.has('client_secret');

/** @param credentials those of the token's issuer and subject @returns undefined: one of them matches */
async function refusalOf(
  assertion: string,
  credentials: readonly FederatedCredential[],
  issuerKeys: IssuerKeys,
): Promise<string | undefined> {
  let refusal = 'the application trusts no such issuer and subject';
  for (const credential of credentials) {
    const { issuer, audience } = credential;
    try {
      await verifyForeignJwt(assertion, { issuer, audiences: [audience], types: TYPES, keys: () => keysOf(credential, issuerKeys) });
      return undefined;
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new IssuerKeysUnavailable(error);
      if (!(error instanceof ForeignJwtRefused)) throw error;
      refusal = error.message;
    }
  }
  return refusal;
}

const localSets = new WeakMap<object, JWTVerifyGetKey>();

function keysOf(
  { issuer, jwks, jwks_uri: address }: FederatedCredential,
  issuerKeys: IssuerKeys,
): Promise<JWTVerifyGetKey> | JWTVerifyGetKey {
  if (jwks === undefined) return address === undefined ? issuerKeys.of(issuer) : issuerKeys.at(address);
  const keys = localSets.get(jwks) ?? createLocalJWKSet(jwks as unknown as JSONWebKeySet);
  localSets.set(jwks, keys);
  return keys;
}
