/** Introspection (RFC 7662): who may ask about which token, and the fields that oidc-provider does not fill. */
import { decodeJwt } from 'jose';
import { digest } from '../../platform/crypto/secrets.ts';
import type { AccessToken, Client, ClientCredentials, KoaContextWithOIDC, RefreshToken } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { Account, FoundModel } from '../storage/protocol-state.store.ts';
import { requestStateOf } from '../storage/request-state.ts';
import { type AccessTokenFormat, isJwtHandle, jtiOfHandle } from '../token/access-token-format.ts';
import { isActive } from '../token/account.ts';
import type { ClaimedToken } from '../token/server-claims.ts';

type Token = AccessToken | ClientCredentials | RefreshToken;

/**
 * A confidential application may introspect any token of the server unless it is set to its own; a public one only its own. The tokens of
 * an application that was deactivated or deleted are dead for everyone.
 */
export async function mayIntrospect(ctx: KoaContextWithOIDC, client: Asking, token: Pick<Token, 'clientId'>): Promise<boolean> {
  return mayAskAbout(client, token.clientId, (id) => ctx.oidc.provider.Client.find(id));
}

type Asking = Pick<Client, 'clientId' | 'tokenEndpointAuthMethod'>;

/** @param owner the application that the token was issued to */
export async function mayAskAbout(
  client: Asking,
  owner: string | undefined,
  findClient: (id: string) => Promise<object | undefined>,
): Promise<boolean> {
  if (owner === client.clientId) return true;
  if (owner === undefined || (await findClient(owner)) === undefined) return false;
  return client.tokenEndpointAuthMethod !== 'none' && clientSettings(client).introspectAny;
}

/** The identifier of a token as introspection tells it: never the token itself. */
function publicJti(stored: string): string {
  return isJwtHandle(stored) ? jtiOfHandle(stored) : digest(`jti ${stored}`).slice(0, 22);
}

const INACTIVE = { active: false };
const defined = (answer: Record<string, unknown>) => Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));

export interface IntrospectionParts {
  readonly format: Pick<AccessTokenFormat, 'idTokenClaims'>;
  findUser(id: string): Promise<Account | undefined>;
  /** What the server adds to an access token by itself; an opaque one holds nothing, so its claims are of the present. */
  claimsOf(token: ClaimedToken, account?: Account): Promise<Readonly<Record<string, unknown>>>;
}

/** What of a token is told on, whichever way it was found. */
interface Described extends ClaimedToken {
  readonly kind: string;
  /** The value that it is stored under. */
  readonly jti: string;
  readonly iat?: number | undefined;
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What is known of whose it is. */
interface Known {
  readonly account: Account | undefined;
  readonly deviceId: string | undefined;
}

/**
 * Completes oidc-provider's answer.
 * @param presented the token as it came when it is a JWT
 */
export async function completeIntrospection(
  ctx: KoaContextWithOIDC,
  presented: string | undefined,
  { format, findUser, claimsOf }: IntrospectionParts,
): Promise<void> {
  const { entities, client } = ctx.oidc;
  const answer = ctx.body as Record<string, unknown>;
  const request = requestStateOf(ctx);
  const token = entities.AccessToken ?? entities.RefreshToken ?? entities.ClientCredentials;
  if (answer.active === true && token !== undefined) {
    const accountId = 'accountId' in token ? token.accountId : undefined;
    const known = { account: accountId === undefined ? undefined : request?.accounts.get(accountId), deviceId: request?.deviceId };
    const described = describe(answer, token, ctx.oidc.issuer, known);
    ctx.body = described === INACTIVE ? INACTIVE : Object.assign({}, await claimsIn(token, presented, claimsOf), described);
    return;
  }
  const idToken = presented === undefined ? undefined : await format.idTokenClaims(presented);
  if (idToken !== undefined && client !== undefined && (await mayIntrospect(ctx, client, { clientId: String(idToken.aud) }))) {
    const owner = await ctx.oidc.provider.Client.find(String(idToken.aud));
    // Nothing of an ID token is stored: one of an application that was deleted shows by its age when the id is given anew.
    const isOwners = owner !== undefined && Number(idToken.iat) >= clientSettings(owner).createdAt;
    ctx.body = isOwners ? describeIdToken(idToken, await findUser(String(idToken.sub))) : INACTIVE;
  } else ctx.body = INACTIVE;
}

/** What a token says beyond its fields. A JWT was verified when its row was looked for. */
async function claimsIn(token: Described, presented: string | undefined, claimsOf: IntrospectionParts['claimsOf'], account?: Account) {
  if (token.kind === 'RefreshToken') return {};
  return presented === undefined ? claimsOf(token, account) : decodeJwt(presented);
}

/**
 * The answer about a token that was found without oidc-provider, valid and of its owner: what that one says of it, completed.
 * @param handle the value that it is stored under
 * @param presented the token as it came when it is a JWT
 */
export async function describeFound(
  { model, payload, expiresAt, account }: FoundModel,
  handle: string,
  issuer: string,
  presented: string | undefined,
  claimsOf: IntrospectionParts['claimsOf'],
): Promise<object> {
  // No spread before further members in what each request passes: V8 of Node 20 gives each such object a hidden class of its own, that lives until the next
  // full collection.
  const token = Object.assign({}, payload, { kind: model, jti: handle }) as Described & {
    readonly sid?: string;
    readonly deviceId?: string;
  };
  const answer = Object.assign(token.accountId === undefined ? { active: true } : { active: true, sub: token.accountId }, token.extra, {
    client_id: token.clientId,
    exp: Math.floor(expiresAt),
    iat: token.iat,
    sid: token.sid,
    iss: issuer,
    jti: handle,
    aud: undefined,
    scope: token.scope || undefined,
    token_type: 'Bearer',
  });
  const described = describe(answer, token, issuer, { account, deviceId: token.deviceId });
  return Object.assign({}, await claimsIn(token, presented, claimsOf, account), described);
}

function describeIdToken(claims: Record<string, unknown>, user: Account | undefined) {
  if (user === undefined || !isActive(user)) return INACTIVE;
  return { active: true, ...claims, client_id: claims.aud, username: user.login, nbf: claims.iat };
}

/** A JWT access token keeps the audience it was issued for; an opaque token is for the server itself. */
const audienceOf = (token: Described): unknown => token.extra?.aud;

function describe(answer: Record<string, unknown>, token: Described, issuer: string, { account, deviceId }: Known) {
  const { accountId } = token;
  // A token of a user who was deleted or deactivated is dead at once.
  if (accountId !== undefined && (account === undefined || !isActive(account))) return INACTIVE;
  const own = {
    token_type: answer.token_type ?? 'Bearer',
    // As the token response says it: a token without scopes has an empty one.
    scope: answer.scope ?? '',
    nbf: token.iat,
    sub: answer.sub ?? token.clientId,
    aud: audienceOf(token) ?? issuer,
    username: account?.login,
    uid: token.kind === 'AccessToken' ? accountId : undefined,
    device_id: token.kind === 'RefreshToken' ? deviceId : undefined,
    jti: publicJti(token.jti),
  };
  return defined(Object.assign({}, answer, own));
}
