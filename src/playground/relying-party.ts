/**
 * The playground as a client of our own servers, over HTTP like any other: discovery, the code flow with PKCE (OpenID Connect Core 1.0
 * section 3.1, RFC 7636), userinfo, and the address to sign out at (RP-Initiated Logout 1.0 section 2). No page is made here.
 */
import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import type { Config } from '../config.ts';
import type { ServerId, Transaction } from './transaction.ts';

export const SERVERS: Readonly<Record<ServerId, { readonly label: string; readonly path: string }>> = {
  'built-in': { label: 'Built-in server', path: '/oauth/v1' },
  default: { label: 'Default server', path: '/oauth/v1/default' },
};

const SCOPE = 'openid profile email offline_access';
const TIMEOUT_SECONDS = 10;
const CACHE_MILLISECONDS = 60_000;

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What a finished sign-in yields. */
export interface SignIn {
  readonly server: ServerId;
  readonly issuer: string;
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly scope: string;
  /** Lifetime of the access token in seconds, where the server told it. */
  readonly expiresIn: number | undefined;
  readonly userinfo: Readonly<Record<string, unknown>>;
  /** Where the browser goes to sign out, parameters included. */
  readonly endSession: URL;
}

/** Something went wrong between the playground and the authorization server, in the protocol's terms. */
export class ProtocolProblem extends Error {
  override readonly name = 'ProtocolProblem';
  constructor(
    readonly code: string,
    readonly description: string,
  ) {
    super(`${code}: ${description}`);
  }
}

export interface RelyingParty {
  /** Prepares an authorization request. @throws {ProtocolProblem} */
  begin(server: ServerId, credentials: Credentials): Promise<{ readonly request: URL; readonly transaction: Transaction }>;
  /** Checks the authorization response, exchanges its code and asks for userinfo. @throws {ProtocolProblem} */
  finish(response: URL, transaction: Transaction, credentials: Credentials): Promise<SignIn>;
}

export function relyingParty(config: Pick<Config, 'baseUrl' | 'secure'>): RelyingParty {
  const home = `${config.baseUrl}/playground`;
  const configurations = new LRUCache<string, client.Configuration>({ max: 8, ttl: CACHE_MILLISECONDS });

  async function configuration(server: ServerId, { clientId, clientSecret }: Credentials): Promise<client.Configuration> {
    // The credentials are part of the key: a rotated secret is used at once.
    const key = [server, clientId, clientSecret].join(' ');
    const known = configurations.get(key);
    if (known !== undefined) return known;
    const issuer = new URL(config.baseUrl + SERVERS[server].path);
    const discovered = await client.discovery(issuer, clientId, undefined, client.ClientSecretBasic(clientSecret), {
      timeout: TIMEOUT_SECONDS,
      execute: [client.enableNonRepudiationChecks, ...(config.secure ? [] : [client.allowInsecureRequests])],
    });
    configurations.set(key, discovered);
    return discovered;
  }

  return {
    begin: (server, credentials) =>
      inProtocolTerms(async () => {
        const transaction = {
          server,
          state: client.randomState(),
          nonce: client.randomNonce(),
          codeVerifier: client.randomPKCECodeVerifier(),
        };
        const request = client.buildAuthorizationUrl(await configuration(server, credentials), {
          redirect_uri: `${home}/callback`,
          scope: SCOPE,
          state: transaction.state,
          nonce: transaction.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(transaction.codeVerifier),
          code_challenge_method: 'S256',
        });
        return { request, transaction };
      }),

    finish: (response, transaction, credentials) =>
      inProtocolTerms(async () => {
        const server = await configuration(transaction.server, credentials);
        const tokens = await client.authorizationCodeGrant(server, response, {
          expectedState: transaction.state,
          expectedNonce: transaction.nonce,
          pkceCodeVerifier: transaction.codeVerifier,
        });
        const subject = tokens.claims()?.sub;
        if (tokens.id_token === undefined || subject === undefined)
          throw new ProtocolProblem('invalid_response', 'The ID token is missing.');
        return {
          server: transaction.server,
          issuer: server.serverMetadata().issuer,
          idToken: tokens.id_token,
          accessToken: tokens.access_token,
          refreshToken: tokens.refresh_token,
          // A server may leave the scope out when it granted what was asked for (RFC 6749 section 5.1).
          scope: tokens.scope ?? SCOPE,
          expiresIn: tokens.expires_in,
          userinfo: await client.fetchUserInfo(server, tokens.access_token, subject),
          endSession: client.buildEndSessionUrl(server, { id_token_hint: tokens.id_token, post_logout_redirect_uri: home }),
        };
      }),
  };
}

/** Runs a step of the protocol and turns what openid-client throws into a problem that can be shown. */
async function inProtocolTerms<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw asProblem(error);
  }
}

function asProblem(error: unknown): unknown {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    return new ProtocolProblem(error.error, error.error_description ?? 'The authorization server gave no description.');
  }
  if (error instanceof client.WWWAuthenticateChallengeError) {
    const challenge = error.cause[0]?.parameters;
    return new ProtocolProblem(challenge?.error ?? 'unauthorized', challenge?.error_description ?? `The server answered ${error.status}.`);
  }
  // The sentence of the cause says more; what hangs on the cause may hold tokens and goes no further.
  if (error instanceof client.ClientError) {
    return new ProtocolProblem(error.code ?? 'invalid_response', error.cause instanceof Error ? error.cause.message : error.message);
  }
  // fetch reports a network failure as a TypeError with its cause; a mistake of ours is a TypeError without one.
  if (error instanceof TypeError && error.cause !== undefined) {
    return new ProtocolProblem('server_unreachable', 'The authorization server did not answer at the base URL of this service.');
  }
  return error;
}
