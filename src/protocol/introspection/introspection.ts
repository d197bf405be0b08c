/**
 * Introspection (RFC 7662).
 * 1. The client authenticates: oidc-provider, or short-path.ts for a plain `client_secret_basic`.
 * 2. The token is looked up once, with its user (`findModel`).
 * 3. `mayAskAbout` decides whether the client may ask about the token.
 * 4. `introspectionResponse` describes the token, whichever way the request took.
 */
import { decodeJwt } from 'jose';
import { digest } from '../../platform/crypto/secrets.ts';
import type { AccessToken, Client, ClientCredentials, KoaContextWithOIDC, RefreshToken } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { Account, FoundModel } from '../storage/protocol-state.store.ts';
import { requestStateOf } from '../storage/request-state.ts';
import { rowKey } from '../storage/row-keys.ts';
import { type AccessTokenFormat, isJwtHandle, jtiOfHandle } from '../token/access-token-format.ts';
import { isActive } from '../token/account.ts';
import { checkProof } from '../token/proof-of-possession.ts';
import type { ClaimedToken } from '../token/server-claims.ts';

/** The rule for oidc-provider's `features.introspection.allowedPolicy`. */
export async function mayIntrospect(
  ctx: KoaContextWithOIDC,
  client: AskingClient,
  token: Pick<AccessToken | ClientCredentials | RefreshToken, 'clientId'>,
): Promise<boolean> {
  await checkProof(ctx, token);
  return mayAskAbout(client, token.clientId, (id) => ctx.oidc.provider.Client.find(id));
}

type AskingClient = Pick<Client, 'clientId' | 'tokenEndpointAuthMethod'>;

/**
 * A confidential client may ask about all tokens of the server unless its settings limit it to its own; a public client only about its own.
 * Tokens of a deactivated or deleted application are inactive for everyone.
 * @param owner the client that the token was issued to
 */
export async function mayAskAbout(
  client: AskingClient,
  owner: string | undefined,
  findClient: (id: string) => Promise<object | undefined>,
): Promise<boolean> {
  if (owner === client.clientId) return true;
  if (owner === undefined || (await findClient(owner)) === undefined) return false;
  return client.tokenEndpointAuthMethod !== 'none' && clientSettings(client).introspectAny;
}

const INACTIVE = { active: false };

/** The claims that the server adds to an access token. An opaque token stores none, so its claims are current. */
export type ClaimsOfToken = (token: ClaimedToken, account?: Account) => Promise<Readonly<Record<string, unknown>>>;

interface StoredToken extends ClaimedToken {
  readonly iat?: number;
  readonly sid?: string;
  readonly deviceId?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Thumbprint of the key that it is bound to (RFC 9449 section 6). */
  readonly jkt?: string;
  /** Thumbprint of the certificate that it is bound to (RFC 8705 section 3.2). */
  readonly 'x5t#S256'?: string;
}

/** RFC 7800 section 3.1. */
function confirmationOf({ jkt, 'x5t#S256': x5t }: StoredToken): object | undefined {
  if (jkt !== undefined) return { jkt };
  return x5t === undefined ? undefined : { 'x5t#S256': x5t };
}

/** Identifies a token without revealing its value. */
const publicJti = (handle: string): string => (isJwtHandle(handle) ? jtiOfHandle(handle) : digest(`jti ${handle}`).slice(0, 22));

/**
 * Describes a valid token (RFC 7662 section 2.2).
 * @param handle the value under which the token is stored
 * @param presented the token as the client sent it, if it is a JWT; its signature was verified before the look-up
 */
export async function introspectionResponse(
  { model, payload, expiresAt, account }: FoundModel,
  handle: string,
  issuer: string,
  presented: string | undefined,
  claimsOf: ClaimsOfToken,
): Promise<object> {
  const token = payload as StoredToken;
  const { accountId, clientId, extra } = token;
  // Deleting or deactivating a user ends all their tokens at once.
  if (accountId !== undefined && (account === undefined || !isActive(account))) return INACTIVE;
  const isRefreshToken = model === 'RefreshToken';
  const claims = isRefreshToken ? {} : presented === undefined ? await claimsOf(token, account) : decodeJwt(presented);
  const described = Object.assign({ active: true, sub: accountId ?? clientId }, extra, {
    client_id: clientId,
    exp: Math.floor(expiresAt),
    iat: token.iat,
    sid: token.sid,
    iss: issuer,
    jti: publicJti(handle),
    // A JWT keeps the audience it was issued for; an opaque token is for the server itself.
    aud: extra?.aud ?? issuer,
    // As in the token response: a token without scopes has an empty scope.
    scope: token.scope ?? '',
    token_type: token.jkt === undefined || isRefreshToken ? 'Bearer' : 'DPoP',
    cnf: confirmationOf(token),
    nbf: token.iat,
    username: account?.login,
    uid: model === 'AccessToken' ? accountId : undefined,
    device_id: isRefreshToken ? token.deviceId : undefined,
  });
  // V8 of Node 20 gives each object that begins with a spread a hidden class of its own, which lives until the next full collection.
  return Object.assign({}, claims, Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined)));
}

export interface IntrospectionParts {
  readonly format: Pick<AccessTokenFormat, 'idTokenClaims'>;
  findUser(id: string): Promise<Account | undefined>;
  readonly claimsOf: ClaimsOfToken;
}

/**
 * Replaces oidc-provider's response, once it has authenticated the client and found the token active or not.
 * @param presented the token as the client sent it, if it is a JWT
 */
export async function completeIntrospection(
  ctx: KoaContextWithOIDC,
  presented: string | undefined,
  { format, findUser, claimsOf }: IntrospectionParts,
): Promise<void> {
  const { entities, client, issuer } = ctx.oidc;
  const token = entities.AccessToken ?? entities.RefreshToken ?? entities.ClientCredentials;
  if ((ctx.body as { readonly active: boolean }).active && token !== undefined) {
    const found = await requestStateOf(ctx)?.models.get(rowKey(token.jti));
    ctx.body = found === undefined ? INACTIVE : await introspectionResponse(found, token.jti, issuer, presented, claimsOf);
    return;
  }
  const idToken = presented === undefined ? undefined : await format.idTokenClaims(presented);
  if (idToken !== undefined && client !== undefined && (await mayIntrospect(ctx, client, { clientId: String(idToken.aud) }))) {
    const owner = await ctx.oidc.provider.Client.find(String(idToken.aud));
    // ID tokens are not stored. One that is older than its application belongs to a deleted application of the same client ID.
    const isOwners = owner !== undefined && Number(idToken.iat) >= clientSettings(owner).createdAt;
    ctx.body = isOwners ? describeIdToken(idToken, await findUser(String(idToken.sub))) : INACTIVE;
  } else ctx.body = INACTIVE;
}

function describeIdToken(claims: Record<string, unknown>, user: Account | undefined) {
  if (user === undefined || !isActive(user)) return INACTIVE;
  return { active: true, ...claims, client_id: claims.aud, username: user.login, nbf: claims.iat };
}
