/**
 * Introspection (RFC 7662).
 * 1. The client authenticates: in oidc-provider, or in short-path.ts for a plain `client_secret_basic`.
 * 2. The token is looked up once, with its user (`findModel`).
 * 3. `mayIntrospectTokenOf` decides whether the client may introspect the token.
 * 4. `introspectionResponse` builds the response for both paths.
 */
import type { IncomingMessage } from 'node:http';
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
import { type ClaimedToken, HOOKED_CLAIMS } from '../token/server-claims.ts';
import type { Subjects } from '../token/subjects.ts';

/** The rule for oidc-provider's `features.introspection.allowedPolicy`. */
export async function mayIntrospect(
  ctx: KoaContextWithOIDC,
  client: AskingClient,
  token: Pick<AccessToken | ClientCredentials | RefreshToken, 'clientId'>,
): Promise<boolean> {
  await checkProof(ctx, token);
  const owner = token.clientId === undefined ? undefined : await ctx.oidc.provider.Client.find(token.clientId);
  return owner !== undefined && mayIntrospectTokenOf(client, owner);
}

type AskingClient = Pick<Client, 'clientId' | 'tokenEndpointAuthMethod'>;

/**
 * A confidential client may introspect all tokens of the server unless its settings limit it to its own; a public client only its own.
 * Tokens of a deactivated or deleted application are inactive for everyone.
 * @param owner the client that the token was issued to
 */
export const mayIntrospectTokenOf = (client: AskingClient, owner: Pick<Client, 'clientId'>): boolean =>
  owner.clientId === client.clientId || (client.tokenEndpointAuthMethod !== 'none' && clientSettings(client).introspectAny);

const INACTIVE = { active: false };

/** The claims that the server adds to an access token. Opaque tokens store none, so their claims are current. */
type ClaimsOfToken = (token: ClaimedToken, account?: Account) => Promise<Readonly<Record<string, unknown>>>;

interface StoredToken extends ClaimedToken {
  readonly iat?: number;
  readonly sid?: string;
  readonly deviceId?: string;
  /** Granted authorization details (RFC 9396 section 9.2). */
  readonly rar?: readonly object[];
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Thumbprint of the key that the token is bound to (RFC 9449 section 6). */
  readonly jkt?: string;
  /** Thumbprint of the certificate that the token is bound to (RFC 8705 section 3.2). */
  readonly 'x5t#S256'?: string;
}

/** RFC 7800 section 3.1. */
function confirmationOf({ jkt, 'x5t#S256': x5t }: StoredToken): object | undefined {
  if (jkt !== undefined) return { jkt };
  return x5t === undefined ? undefined : { 'x5t#S256': x5t };
}

/** Identifies a token without revealing its value. */
const publicJti = (handle: string): string => (isJwtHandle(handle) ? jtiOfHandle(handle) : digest(`jti ${handle}`).slice(0, 22));

export interface IntrospectionParts {
  readonly format: Pick<AccessTokenFormat, 'idTokenClaims'>;
  findUser(id: string): Promise<Account | undefined>;
  readonly claimsOf: ClaimsOfToken;
  readonly subjects: Subjects;
}

interface IntrospectedToken {
  /** The value under which the token is stored. */
  readonly handle: string;
  /** The presented token, if it is a JWT; its signature was verified before the lookup. */
  readonly presented: string | undefined;
  /** The client that the token was issued to. */
  readonly owner: Client;
}

/** Describes a valid token (RFC 7662 section 2.2). */
export async function introspectionResponse(
  { model, payload, expiresAt, account }: FoundModel,
  { handle, presented, owner }: IntrospectedToken,
  issuer: string,
  { claimsOf, subjects }: Pick<IntrospectionParts, 'claimsOf' | 'subjects'>,
): Promise<object> {
  const token = payload as StoredToken;
  const { accountId, clientId, extra } = token;
  const hooked = extra?.[HOOKED_CLAIMS] as object | undefined;
  // Deleting or deactivating a user ends all their tokens at once.
  if (accountId !== undefined && (account === undefined || !isActive(account))) return INACTIVE;
  const isRefreshToken = model === 'RefreshToken';
  // Other values are the same for all applications and would reveal the user behind a pairwise subject.
  const isPairwise = clientSettings(owner).sector !== undefined;
  const claims = isRefreshToken ? {} : presented === undefined ? (hooked ?? (await claimsOf(token, account))) : decodeJwt(presented);
  const sub = accountId === undefined ? clientId : await subjects.of(owner, accountId);
  const described = Object.assign({ active: true, sub }, extra, {
    client_id: clientId,
    exp: Math.floor(expiresAt),
    iat: token.iat,
    sid: token.sid,
    iss: issuer,
    jti: publicJti(handle),
    // A JWT keeps the audience it was issued for; an opaque token is for the server itself.
    aud: extra?.aud ?? issuer,
    // Same as in the token response: a token without scopes has an empty scope.
    scope: token.scope ?? '',
    authorization_details: token.rar,
    token_type: token.jkt === undefined || isRefreshToken ? 'Bearer' : 'DPoP',
    cnf: confirmationOf(token),
    nbf: token.iat,
    username: isPairwise ? undefined : account?.login,
    uid: model === 'AccessToken' && !isPairwise ? accountId : undefined,
    device_id: isRefreshToken ? token.deviceId : undefined,
    [HOOKED_CLAIMS]: undefined,
  });
  // In Node 20, V8 gives each object that begins with a spread a hidden class of its own, which lives until the next full collection.
  return Object.assign({}, claims, Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined)));
}

/** RFC 9701 section 4. */
const SIGNED = 'application/token-introspection+jwt';

/** Does the request ask for the response as a JWT? */
export const wantsSigned = ({ headers }: IncomingMessage): boolean => headers.accept?.toLowerCase().includes(SIGNED) === true;

/** The media type of the response. */
export const acceptedIntrospection = (req: IncomingMessage): string => (wantsSigned(req) ? SIGNED : 'application/json');

/** Replaces oidc-provider's response after it has authenticated the client and looked up the token. */
export async function replaceIntrospectionResponse(ctx: KoaContextWithOIDC, parts: IntrospectionParts): Promise<object> {
  const { format, findUser, subjects } = parts;
  const { entities, client, issuer } = ctx.oidc;
  const { presentedJwt: presented } = requestStateOf(ctx) ?? {};
  const token = entities.AccessToken ?? entities.RefreshToken ?? entities.ClientCredentials;
  if ((ctx.body as { readonly active: boolean }).active && token !== undefined) {
    const found = await requestStateOf(ctx)?.models.get(rowKey(token.jti));
    const owner = token.clientId === undefined ? undefined : await ctx.oidc.provider.Client.find(token.clientId);
    if (found === undefined || owner === undefined) return INACTIVE;
    return introspectionResponse(found, { handle: token.jti, presented, owner }, issuer, parts);
  }
  const idToken = presented === undefined ? undefined : await format.idTokenClaims(presented);
  if (idToken === undefined || client === undefined) return INACTIVE;
  if (!(await mayIntrospect(ctx, client, { clientId: String(idToken.aud) }))) return INACTIVE;
  const owner = await ctx.oidc.provider.Client.find(String(idToken.aud));
  // ID tokens are not stored. One that is older than its application belongs to a deleted application with the same client ID.
  const isOwners = owner !== undefined && Number(idToken.iat) >= clientSettings(owner).createdAt;
  const userId = isOwners ? await subjects.userOf(owner, String(idToken.sub)) : undefined;
  const user = userId === undefined ? undefined : await findUser(userId);
  if (user === undefined || !isActive(user)) return INACTIVE;
  const username = clientSettings(owner as Client).sector === undefined ? { username: user.login } : {};
  return { active: true, ...idToken, client_id: idToken.aud, ...username, nbf: idToken.iat };
}
