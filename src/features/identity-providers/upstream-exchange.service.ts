/**
 * Client of an external provider with openid-client: the address of an authorization request (OpenID Connect Core 1.0 section 3.1.2.1, PKCE of RFC
 * 7636), and the authenticated identity (section 3.1.3; for plain OAuth 2.0 from userinfo). The provider's tokens are used for this only and not
 * stored.
 */
import * as client from 'openid-client';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { ALL_SERVERS } from '../../protocol/storage/protocol-state.store.ts';
import { insertOnce } from '../../protocol/storage/protocol-writes.store.ts';
import { readSettings } from '../settings/settings.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { openClientSecret } from './identity-providers.service.ts';
import { combinedClaims, neededClaims, type UpstreamClaims, verifiedEmail } from './upstream-claims.policy.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';
import { TENANT, type UpstreamCall, upstreamMetadata } from './upstream-metadata.service.ts';
import { isFreshResponse, type UpstreamRequestOptions, upstreamParameters } from './upstream-request.policy.ts';

/** Maximum characters of `sub` (OpenID Connect Core 1.0 section 2). */
const LONGEST_SUBJECT = 255;

/** State that the browser keeps during a sign-in at a provider. */
export interface UpstreamTransaction {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Epoch seconds. */
  readonly begun: number;
  readonly maxAge?: number | undefined;
}

/** User authenticated by a provider. */
export interface UpstreamIdentity {
  readonly subject: string;
  readonly claims: UpstreamClaims;
  /** The e-mail address for which the provider is trusted. */
  readonly email: string | undefined;
  /** Epoch seconds; undefined if unknown. */
  readonly authenticatedAt: number | undefined;
}

/** Redirect URI of a provider; unique per provider, so that responses cannot be mixed up (RFC 9700 section 4.4.2.2). */
export const upstreamRedirectUri = (baseUrl: string, idpId: string): string => `${baseUrl}/interaction/upstream/${idpId}/callback`;

export function createUpstream(services: Services, outbound: UpstreamCall) {
  const { metadataOf, forget } = upstreamMetadata(outbound);

  function configurationOf(provider: IdentityProvider, server: client.ServerMetadata, fetch: UpstreamCall): client.Configuration {
    const { client_id: id, token_endpoint_auth_method: method } = provider.protocol.credentials.client;
    const secret = openClientSecret(services, provider) ?? '';
    const authentication = {
      client_secret_basic: client.ClientSecretBasic,
      client_secret_post: client.ClientSecretPost,
      none: client.None,
    }[method];
    const metadata = { [client.clockTolerance]: provider.policy.maxClockSkew / 1000 };
    const configuration = new client.Configuration(server, id, metadata, authentication(secret));
    configuration[client.customFetch] = fetch as client.CustomFetch;
    configuration.timeout = timings.outbound / 1000;
    // Addresses without TLS (loopback) were already checked when they were configured or discovered.
    client.allowInsecureRequests(configuration);
    if (provider.protocol.type === 'OIDC') client.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  return {
    /** @returns the URL to which the browser is redirected @throws {UpstreamFailure} */
    async authorizationUrl(provider: IdentityProvider, transaction: UpstreamTransaction, options: UpstreamRequestOptions): Promise<URL> {
      const configuration = configurationOf(provider, await metadataOf(provider), outbound);
      return client.buildAuthorizationUrl(configuration, {
        ...upstreamParameters(provider, options),
        redirect_uri: upstreamRedirectUri(services.config.baseUrl, provider.id),
        state: transaction.state,
        code_challenge: await client.calculatePKCECodeChallenge(transaction.codeVerifier),
        code_challenge_method: 'S256',
        ...(provider.protocol.type === 'OIDC' && { nonce: transaction.nonce }),
      });
    },

    /** @param response parameters that were received at the redirect URI @throws {UpstreamFailure} */
    async identify(provider: IdentityProvider, transaction: UpstreamTransaction, response: URLSearchParams): Promise<UpstreamIdentity> {
      try {
        const identity =
          provider.protocol.type === 'OIDC'
            ? await byOpenId(provider, transaction, response)
            : await byOAuth(provider, transaction, response);
        if (identity.subject === '' || identity.subject.length > LONGEST_SUBJECT || !isPrintable(identity.subject))
          throw new UpstreamFailure('untrusted', 'SUBJECT_NOT_ALLOWED');
        await refuseStale(provider, transaction, identity.authenticatedAt);
        return identity;
      } catch (error) {
        const failure = failureOf(error);
        if (failure.problem === 'untrusted') forget(provider);
        throw failure;
      }
    },
  };

  async function refuseStale(
    { policy }: IdentityProvider,
    { begun, maxAge }: UpstreamTransaction,
    authenticatedAt: number | undefined,
  ): Promise<void> {
    const { sessionLifetimeDays } = await readSettings(services, 'sign-in');
    const limits = { begun, maxAge, longest: sessionLifetimeDays * 86_400, skew: policy.maxClockSkew / 1000 };
    if (!isFreshResponse(authenticatedAt, limits)) throw new UpstreamFailure('stale', 'AUTHENTICATED_TOO_LONG_AGO');
  }

  /** The URL from which openid-client reads the response. */
  function responseUrl(provider: IdentityProvider, response: URLSearchParams): URL {
    const url = new URL(upstreamRedirectUri(services.config.baseUrl, provider.id));
    url.search = response.toString();
    return url;
  }

  async function byOpenId(
    provider: IdentityProvider,
    transaction: UpstreamTransaction,
    response: URLSearchParams,
  ): Promise<UpstreamIdentity> {
    const { nonce, codeVerifier, state } = transaction;
    const checks = { expectedNonce: nonce, pkceCodeVerifier: codeVerifier, expectedState: state, idTokenExpected: true };
    const known = await metadataOf(provider);
    const exchange = (server: client.ServerMetadata, fetch: UpstreamCall) => {
      const configuration = configurationOf(provider, server, fetch);
      return client
        .authorizationCodeGrant(configuration, responseUrl(provider, response), checks)
        .then((tokens) => ({ tokens, configuration }));
    };
    const { tokens, configuration } = known.issuer.includes(TENANT)
      ? await exchangeOfAnyTenant(known, exchange)
      : await exchange(known, outbound);
    const idToken = tokens.claims();
    if (idToken === undefined) throw new UpstreamFailure('untrusted', 'NO_ID_TOKEN');
    const missing = neededClaims(provider).some((claim) => idToken[claim] === undefined);
    const more = missing && known.userinfo_endpoint ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub) : {};
    const claims = combinedClaims(idToken, more);
    const email = verifiedEmail(provider.type, provider.policy, claims);
    return { subject: idToken.sub, claims, email, authenticatedAt: idToken.auth_time };
  }

  /**
   * A multi-tenant issuer names the tenant in the `tid` of the ID token, which is known only after the exchange: read the token response once, then
   * validate it with that tenant's issuer.
   */
  async function exchangeOfAnyTenant<T>(
    server: client.ServerMetadata,
    exchange: (server: client.ServerMetadata, fetch: UpstreamCall) => Promise<T>,
  ): Promise<T> {
    let kept: Awaited<ReturnType<UpstreamCall>> | undefined;
    const once: UpstreamCall = async (url, init) => {
      if (String(url) !== server.token_endpoint) return outbound(url, init);
      kept ??= await outbound(url, init);
      return kept.clone();
    };
    // The first attempt fails because the issuer is still a template. Without a token response, its error counts; other problems are found later.
    await exchange(server, once).catch((error: unknown) => {
      if (kept === undefined) throw error;
    });
    const body = (await kept?.clone().json()) as { id_token?: unknown } | undefined;
    const tenant = tenantOf(body?.id_token);
    if (tenant === undefined) throw new UpstreamFailure('untrusted', 'NO_TENANT');
    return exchange({ ...server, issuer: server.issuer.replace(TENANT, tenant) }, once);
  }

  async function byOAuth(
    provider: IdentityProvider,
    { codeVerifier, state }: UpstreamTransaction,
    response: URLSearchParams,
  ): Promise<UpstreamIdentity> {
    const server = await metadataOf(provider);
    const configuration = configurationOf(provider, server, outbound);
    // Plain OAuth 2.0 has no issuer to compare it with.
    const withoutIssuer = new URLSearchParams([...response].filter(([name]) => name !== 'iss'));
    const tokens = await client.authorizationCodeGrant(configuration, responseUrl(provider, withoutIssuer), {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
    });
    const address = new URL(server.userinfo_endpoint ?? '');
    const user = await read(configuration, tokens.access_token, address);
    if (!isClaims(user)) throw new UpstreamFailure('untrusted', 'MALFORMED');
    const { id } = user;
    if ((typeof id !== 'number' && typeof id !== 'string') || id === '') throw new UpstreamFailure('untrusted', 'NO_SUBJECT');
    const claims = { ...user, ...(await gitHubEmail(configuration, tokens.access_token, address)) };
    return { subject: String(id), claims, email: verifiedEmail(provider.type, provider.policy, claims), authenticatedAt: undefined };
  }

  /** GitHub: "List email addresses for the authenticated user". The field `email` of the user is only the public address, if there is one. */
  async function gitHubEmail(configuration: client.Configuration, accessToken: string, user: URL): Promise<UpstreamClaims> {
    // Without permission to read the list, the address is unknown.
    const list = await read(configuration, accessToken, new URL(`${user.href}/emails`), [403, 404]);
    const primary = Array.isArray(list) ? list.find((entry) => entry?.primary === true && entry.verified === true) : undefined;
    return { email: primary?.email, email_verified: typeof primary?.email === 'string' };
  }

  /** @param empty statuses that mean an empty result */
  async function read(
    configuration: client.Configuration,
    accessToken: string,
    address: URL,
    empty: readonly number[] = [],
  ): Promise<unknown> {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Gatehouse' });
    const response = await client.fetchProtectedResource(configuration, accessToken, address, 'GET', null, headers);
    if (response.status !== 200) {
      await response.body?.cancel();
      if (empty.includes(response.status)) return undefined;
      throw new UpstreamFailure(response.status >= 500 ? 'unreachable' : 'refused', 'USERINFO_REFUSED');
    }
    return response.json();
  }
}

export type Upstream = ReturnType<typeof createUpstream>;

/** The claim `tid` of a token; its signature is verified later. */
function tenantOf(idToken: unknown): string | undefined {
  const [, payload] = typeof idToken === 'string' ? idToken.split('.') : [];
  if (payload === undefined) return undefined;
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const tid = isClaims(claims) ? claims.tid : undefined;
  return typeof tid === 'string' && /^[0-9a-f-]{36}$/.test(tid) ? tid : undefined;
}

const isClaims = (value: unknown): value is UpstreamClaims => typeof value === 'object' && value !== null && !Array.isArray(value);

const NETWORK_CODES: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
/** Errors thrown by fetch() and by the outbound client. */
const NETWORK_ERRORS: ReadonlySet<string> = new Set(['TypeError', 'OutboundRefused', 'TimeoutError', 'AbortError']);
const isNetworkError = (error: unknown): error is Error => error instanceof Error && NETWORK_ERRORS.has(error.name);

/** GitHub's token endpoint reports errors with status 200 ("Troubleshooting OAuth app access token request errors"). */
function hasErrorInBody({ cause }: Error): boolean {
  const details = cause instanceof Error ? cause.cause : undefined;
  const body = isClaims(details) ? details.body : undefined;
  return isClaims(body) && typeof body.error === 'string';
}

/** Converts errors of openid-client and the network to messages for the user and the audit log. */
function failureOf(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof client.AuthorizationResponseError) {
    return error.error === 'access_denied'
      ? new UpstreamFailure('denied', 'ACCESS_DENIED', error)
      : new UpstreamFailure('refused', 'ERROR_ANSWERED', error);
  }
  if (error instanceof client.ResponseBodyError) return new UpstreamFailure('refused', 'TOKEN_REFUSED', error);
  if (error instanceof client.WWWAuthenticateChallengeError) return new UpstreamFailure('refused', 'TOKEN_NOT_ACCEPTED', error);
  if (error instanceof client.ClientError) {
    if (hasErrorInBody(error)) return new UpstreamFailure('refused', 'TOKEN_REFUSED', error);
    // The cause is a Response of the outbound client, not the global class.
    const status = isClaims(error.cause) ? Number(error.cause.status) : 0;
    if (NETWORK_CODES.has(error.code) || isNetworkError(error.cause) || status >= 500)
      return new UpstreamFailure('unreachable', 'NO_ANSWER', error);
    return new UpstreamFailure('untrusted', error.code ?? 'MALFORMED', error);
  }
  if (isNetworkError(error)) return new UpstreamFailure('unreachable', 'NO_ANSWER', error);
  if (error instanceof SyntaxError) return new UpstreamFailure('untrusted', 'MALFORMED', error);
  throw error;
}

/** Longer than browsers keep a transaction. */
const KEPT_SECONDS = 3600;

/** @param state of the authorization request, unguessable @returns false if it was used before; of concurrent calls one gets true */
export function claimResponse({ database }: Services, state: string): Promise<boolean> {
  const now = epochSeconds();
  const nobody = { accountId: undefined, clientId: undefined, grantId: undefined, uid: undefined };
  const id = digest(`upstream answer ${state}`);
  const row = { model: 'ReplayDetection', id, serverKey: ALL_SERVERS, payload: {}, ...nobody, expiresAt: now + KEPT_SECONDS } as const;
  return insertOnce(database.pool, row, now);
}
