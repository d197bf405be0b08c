/**
 * The subject and actor tokens of a token exchange (RFC 8693 section 2.1): access and ID tokens of this installation, and JWTs of trusted
 * identity providers. They count only while the user, the provider, the application and the token are active.
 */
import type { JWTPayload } from 'jose';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import type { IdentityProvider } from '../../features/identity-providers/identity-providers.resource.ts';
import type { AccessGrantType } from '../../features/policies/access-policy.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { isMultiFactor } from '../../features/second-factors/second-factor.policy.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { type IssuerKeys, unverifiedClaims } from '../client-authentication/foreign-jwt.ts';
import { errors, type Provider } from '../library/oidc-provider.ts';
import { SecondFactorNeeded } from '../servers/errors.ts';
import type { RecordDenial } from '../servers/refusals.ts';
import type { Directory } from '../storage/directory.ts';
import { type Account, type FoundModel, findModel } from '../storage/protocol-state.store.ts';
import { rowKey } from '../storage/row-keys.ts';
import type { ServerState } from '../storage/server-state.ts';
import { type AccessTokenFormat, looksLikeJwt } from '../token/access-token-format.ts';
import { isActive } from '../token/account.ts';
import type { Subjects } from '../token/subjects.ts';
import { linkedProviders, type ProviderToken } from './provider-tokens.ts';
import { TOKEN_TYPES } from './token-types.ts';

/** Parts of an authorization server that are needed to validate its tokens. */
export interface IssuingServer {
  readonly provider: Provider;
  readonly issuer: string;
  readonly server: AuthorizationServer;
  readonly state: ServerState;
  readonly format: Pick<AccessTokenFormat, 'handleOf' | 'idTokenClaims'>;
}

/** RFC 8693 section 4.1: the actor, and earlier actors nested in it. */
export interface Act {
  readonly sub: string;
  readonly act?: Act;
}

export interface PresentedIdentity {
  /** A user, or the application of a client credentials token. */
  readonly sub: string;
  /** undefined: an application without a user. */
  readonly account: Account | undefined;
  /** The application that the token was issued to; undefined: a provider issued it. */
  readonly clientId: string | undefined;
  /** Scopes that the token is limited to; undefined: an ID token, or another JWT without `scope`. */
  readonly scopes: readonly string[] | undefined;
  /** Details of an access token (RFC 9396). */
  readonly details: readonly AuthorizationDetail[];
  /** The token family that it ends with. */
  readonly grantId: string | undefined;
  /** Organization that the user signed in for: it ends with the membership. */
  readonly orgId: string | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
  readonly act: Act | undefined;
  /** Authentication of the user, if known. */
  readonly acr: string | undefined;
  /** Epoch seconds. */
  readonly authTime: number | undefined;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[] | undefined;
  /** Thumbprint of the key or certificate that it is bound to. */
  readonly jkt: string | undefined;
  readonly x5t: string | undefined;
}

export interface IdentityParts {
  /** This server. */
  readonly own: IssuingServer;
  readonly directory: Directory;
  readonly issuerKeys: IssuerKeys;
  readonly subjects: Subjects;
  /** @returns a server of this installation by its issuer; undefined: no active one */
  findServer(issuer: string): Promise<IssuingServer | undefined>;
  /** Is the issuer one of this installation's? */
  isOurs(issuer: string): boolean;
  /** Is a second factor required of the user at the application, whether or not they have one? */
  isFactorRequiredByPolicy(userId: string, applicationId: string): Promise<boolean>;
  readonly denied: RecordDenial;
}

/** The application that requests a token on behalf of a user, and its grant. */
interface Requester {
  readonly clientId: string;
  readonly grantType: AccessGrantType;
  /** The requested scope. */
  readonly scope: unknown;
}

/** The client that presents the token. */
export interface Presenter extends Requester {
  readonly client: object;
  /** Audiences of the APIs that the application represents: it may present access tokens for them that were issued to others. */
  readonly audiences: readonly string[];
}

interface Presented {
  /** Parameter name for errors. */
  readonly name: 'subject_token' | 'actor_token';
  readonly token: string;
  readonly type: string;
}

const refuse = (name: string, reason: string): errors.InvalidRequest => new errors.InvalidRequest(`${name}: ${reason}`);

/** The header `typ` of a provider's ID tokens. */
const TYPES = ['', 'jwt'];
/** The same for access tokens (RFC 9068 section 2.1). Many providers set none, or `JWT`. */
const ACCESS_TOKEN_TYPES = [...TYPES, 'at+jwt', 'application/at+jwt'];

/**
 * @returns the subject of the token
 * @throws {errors.InvalidRequest} with the parameter and the reason (RFC 8693 section 2.2.2)
 * @throws {IssuerKeysUnavailable}
 */
export async function identify(parts: IdentityParts, { name, token, type }: Presented, presenter: Presenter): Promise<PresentedIdentity> {
  if (!(Object.values(TOKEN_TYPES) as string[]).includes(type))
    throw refuse(`${name}_type`, `must be ${Object.values(TOKEN_TYPES).join(', ')}`);
  const issuer = looksLikeJwt(token) ? String(unverifiedClaims(token)?.iss) : undefined;
  if (issuer === undefined || parts.isOurs(issuer)) {
    const server = issuer === undefined || issuer === parts.own.issuer ? parts.own : await parts.findServer(issuer);
    if (server === undefined) throw refuse(name, 'its authorization server is not active');
    const found =
      type === TOKEN_TYPES.idToken ? await ofIdToken(parts, server, token, presenter) : await ofAccessToken(server, token, presenter);
    if (typeof found === 'string') throw refuse(name, found);
    return found;
  }
  const isAccessToken = type === TOKEN_TYPES.accessToken;
  // An access token must be for this server. ID tokens are for our client ID.
  const audiencesOf = ({ protocol }: IdentityProvider) => [
    ...(isAccessToken ? [] : [protocol.credentials.client.client_id]),
    parts.own.issuer,
  ];
  const types = isAccessToken ? ACCESS_TOKEN_TYPES : TYPES;
  const found = await ofProvider(parts, { issuer, token, audiencesOf, types }, presenter);
  if (typeof found === 'string') throw refuse(name, found);
  const binding = bindingIn(found.claims);
  if (binding === undefined) throw refuse(name, 'its cnf must have jkt or x5t#S256');
  // Checked in every JWT: many access tokens have no type of their own and could be presented as another JWT.
  const { scope } = found.claims;
  const isLimited = isAccessToken || scope !== undefined;
  return { ...found.identity, ...binding, ...(isLimited && { scopes: spaceSeparated(scope) }) };
}

/** @returns thumbprint of the key that a foreign JWT is bound to, if any; undefined: it is bound in a way that cannot be proved here */
export function bindingIn({ cnf }: JWTPayload): Partial<Pick<PresentedIdentity, 'jkt' | 'x5t'>> | undefined {
  if (cnf === undefined) return {};
  const { jkt, 'x5t#S256': x5t } = (cnf ?? {}) as { readonly jkt?: unknown; readonly 'x5t#S256'?: unknown };
  if (jkt !== undefined) return typeof jkt === 'string' ? { jkt } : undefined;
  return typeof x5t === 'string' ? { x5t } : undefined;
}

/** Same error for unknown, expired, revoked and inaccessible tokens. */
const NOT_ACTIVE = 'it does not exist, has expired or was revoked';
const NO_USER = 'its user is not active';

interface StoredFields {
  readonly kind?: string;
  readonly clientId?: string;
  readonly grantId?: string;
  readonly orgId?: string;
  readonly scope?: string;
  readonly rar?: readonly AuthorizationDetail[];
  readonly jkt?: string;
  readonly 'x5t#S256'?: string;
  readonly extra?: { readonly aud?: string | string[]; readonly act?: Act; readonly acr?: string; readonly auth_time?: number };
}

/** @returns the identity, or the reason for a refusal */
async function ofAccessToken(
  { state, format, provider, issuer }: IssuingServer,
  token: string,
  { clientId, audiences }: Presenter,
): Promise<PresentedIdentity | string> {
  const id = rowKey(await format.handleOf(token));
  const found = await state.read((pool) => findModel(pool, id, state.key, epochSeconds()));
  if (found === undefined || !isBearer(found)) return NOT_ACTIVE;
  const fields = found.payload as StoredFields;
  const owner = fields.clientId ?? '';
  if ((await provider.Client.find(owner)) === undefined) return NOT_ACTIVE;
  const audience = [fields.extra?.aud ?? issuer].flat();
  if (owner !== clientId && !audience.some((one) => audiences.includes(one)))
    return 'it was issued to another application for an API that this application may not exchange. Add the API to its token_exchange_audiences';
  const { account } = found;
  if (found.model === 'AccessToken' && (account === undefined || !isActive(account))) return NO_USER;
  return {
    sub: account?.id ?? owner,
    account,
    clientId: owner,
    scopes: spaceSeparated(fields.scope),
    details: fields.rar ?? [],
    grantId: fields.grantId,
    orgId: fields.orgId,
    expiresAt: Math.floor(found.expiresAt),
    act: fields.extra?.act,
    acr: fields.extra?.acr,
    authTime: fields.extra?.auth_time,
    amr: undefined,
    jkt: fields.jkt,
    x5t: fields['x5t#S256'],
  };
}

const isBearer = ({ model, payload, consumedAt }: FoundModel): boolean =>
  (model === 'AccessToken' || model === 'ClientCredentials') && payload.kind === model && consumedAt === undefined;

/** Values for tokens that are not stored. */
const UNKNOWN = {
  scopes: undefined,
  details: [],
  grantId: undefined,
  orgId: undefined,
  act: undefined,
  acr: undefined,
  authTime: undefined,
  amr: undefined,
  jkt: undefined,
  x5t: undefined,
};

/** ID tokens are not stored. They are accepted while their session exists. @returns the identity, or the reason for a refusal */
async function ofIdToken(
  { directory, subjects }: IdentityParts,
  { format, state }: IssuingServer,
  token: string,
  { clientId, client }: Presenter,
): Promise<PresentedIdentity | string> {
  const claims = await format.idTokenClaims(token);
  if (claims === undefined) return 'it is not an ID token of this service, or has expired';
  if (claims.aud !== clientId) return 'it was issued to another application';
  const userId = await subjects.userOf(client, String(claims.sub));
  const account = userId === undefined ? undefined : await directory.user(userId);
  if (account === undefined || !isActive(account)) return NO_USER;
  const { acr, amr, auth_time: signedInAt } = claims as { readonly acr?: string; readonly amr?: string[]; readonly auth_time?: number };
  const session = { userId: account.id, clientId, serverKey: state.key, signedInAt: signedInAt ?? 0 };
  if (!(await directory.hasSession(session))) return 'the session of the ID token has ended';
  return { ...UNKNOWN, sub: account.id, account, clientId, expiresAt: Number(claims.exp), acr, amr, authTime: signedInAt };
}

interface OfProvider {
  readonly identity: PresentedIdentity;
  readonly claims: JWTPayload;
  readonly provider: IdentityProvider;
}

/**
 * A JWT of an identity provider whose assertions are trusted, about a user who is linked to it.
 * @returns the identity, or the reason for a refusal
 * @throws {IssuerKeysUnavailable}
 * @throws {SecondFactorNeeded} a second factor is required, and the JWT does not confirm one
 */
export async function ofProvider(parts: IdentityParts, presented: ProviderToken, requester: Requester): Promise<OfProvider | string> {
  const known = await linkedProviders(parts, presented);
  if (typeof known === 'string') return known;
  const [{ account }] = known;
  if (!isActive(account)) return NO_USER;
  const required = await parts.directory.requiredProvider(account.id);
  const found = known.find(({ provider }) => required === undefined || required.id === provider.id);
  if (found === undefined) return 'its user must sign in with another identity provider';
  const { claims, provider } = found;
  await requireSecondFactor(parts, account.id, methodsIn(claims), requester);
  return { identity: { ...UNKNOWN, sub: account.id, account, clientId: undefined, expiresAt: Number(claims.exp) }, claims, provider };
}

const methodsIn = ({ amr }: JWTPayload): string[] => (Array.isArray(amr) ? amr.filter((one) => typeof one === 'string') : []);

/** A second factor cannot be requested here. A trusted provider is assumed to have checked it. */
async function requireSecondFactor(
  { isFactorRequiredByPolicy, denied }: IdentityParts,
  userId: string,
  amr: readonly string[],
  { clientId, grantType, scope }: Requester,
): Promise<void> {
  if (isMultiFactor(amr) || !(await isFactorRequiredByPolicy(userId, clientId))) return;
  await denied({ kind: 'second-factor-needed', clientId, userId, grantType, scopes: spaceSeparated(scope) });
  throw new SecondFactorNeeded();
}
