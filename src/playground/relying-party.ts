/**
 * The playground as a client of our own servers, over HTTP: discovery, the authorization request, and the requests to other endpoints, each recorded
 * as it was sent (RFC 6749 sections 4.1.3 and 6, RFC 7662, RFC 7009, OpenID Connect Core 1.0 section 5.3, RP-Initiated Logout 1.0 section 2).
 * verification.ts validates the tokens.
 */
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import type { Config } from '../platform/config/config.ts';
import { inProtocolTerms, ProtocolProblem } from '../platform/http/protocol-problem.ts';
import { authorizationParameters } from './authorization-request.ts';
import type { Choices } from './choices.ts';
import { recording, type ShownExchange } from './exchange.ts';
import type { SessionFields, Transaction } from './session.ts';

const TIMEOUT_SECONDS = 10;
const CACHE_MILLISECONDS = 60_000;

export interface PlaygroundCredentials {
  readonly clientId: string;
  /** Absent: a public application. */
  readonly clientSecret?: string;
  /** Client authentication method (OpenID Connect Core 1.0 section 9); absent: `client_secret_basic`. */
  readonly method?: 'client_secret_basic' | 'client_secret_post';
}

/** An authorization request that is ready to be sent. */
interface AuthorizationRequest {
  readonly url: URL;
  readonly sent: SessionFields;
}

/** One server for the application. Requests throw a ProtocolProblem only without any response. */
export interface ServerAccess {
  readonly keys: JWTVerifyGetKey;
  authorizationRequest(transaction: Transaction): Promise<AuthorizationRequest>;
  exchangeCode(code: string, codeVerifier: string): Promise<ShownExchange>;
  refresh(refreshToken: string): Promise<ShownExchange>;
  userinfo(accessToken: string): Promise<ShownExchange>;
  introspect(token: string, hint: string): Promise<ShownExchange>;
  revoke(token: string, hint: string): Promise<ShownExchange>;
  /** Sign-out address with parameters. */
  endSession(idToken: string | undefined, state: string): URL;
}

export interface PlaygroundClient {
  /** @throws {ProtocolProblem} the server does not exist */
  at(issuer: string, credentials: PlaygroundCredentials): Promise<ServerAccess>;
}

/** @returns the state to keep until the response arrives */
export const newTransaction = (choices: Choices, secret?: string): Transaction => ({
  choices,
  ...(secret !== undefined && { secret }),
  state: client.randomState(),
  nonce: client.randomNonce(),
  codeVerifier: client.randomPKCECodeVerifier(),
});

function authenticationOf({ clientSecret, method }: PlaygroundCredentials): client.ClientAuth {
  if (clientSecret === undefined) return client.None();
  return method === 'client_secret_post' ? client.ClientSecretPost(clientSecret) : client.ClientSecretBasic(clientSecret);
}

export function playgroundClient({ baseUrl, secure }: Pick<Config, 'baseUrl' | 'secure'>): PlaygroundClient {
  const home = `${baseUrl}/playground`;
  const redirectUri = `${home}/callback`;
  const discovered = new LRUCache<string, { readonly metadata: client.ServerMetadata; readonly keys: JWTVerifyGetKey }>({
    max: 20,
    ttl: CACHE_MILLISECONDS,
  });
  const permit = secure ? [] : [client.allowInsecureRequests];

  async function discover(issuer: string, clientId: string) {
    const known = discovered.get(issuer);
    if (known !== undefined) return known;
    const options = { timeout: TIMEOUT_SECONDS, execute: permit };
    const metadata = (await client.discovery(new URL(issuer), clientId, undefined, undefined, options)).serverMetadata();
    if (metadata.jwks_uri === undefined) throw new ProtocolProblem('invalid_metadata', 'The server does not say where its keys are.');
    const found = { metadata, keys: createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: TIMEOUT_SECONDS * 1000 }) };
    discovered.set(issuer, found);
    return found;
  }

  return {
    at: (issuer, credentials) =>
      inProtocolTerms(async () => {
        const { clientId } = credentials;
        const { metadata, keys } = await discover(issuer, clientId);
        const configuration = () => {
          const made = new client.Configuration(metadata, clientId, undefined, authenticationOf(credentials));
          made.timeout = TIMEOUT_SECONDS;
          for (const allow of permit) allow(made);
          return made;
        };

        /** Sends one request. An error response is shown, not thrown. */
        async function recorded(request: (made: client.Configuration) => Promise<unknown>): Promise<ShownExchange> {
          let exchange: ShownExchange | undefined;
          const made = configuration();
          made[client.customFetch] = recording((it) => {
            exchange = it;
          });
          try {
            await inProtocolTerms(() => request(made));
          } catch (error) {
            if (!(error instanceof ProtocolProblem) || exchange === undefined) throw error;
          }
          if (exchange === undefined) throw new Error('openid-client sent nothing');
          return exchange;
        }

        return {
          keys,
          async authorizationRequest(transaction) {
            const codeChallenge = await client.calculatePKCECodeChallenge(transaction.codeVerifier);
            const sent = authorizationParameters(transaction, { clientId, redirectUri, codeChallenge });
            return { sent, url: client.buildAuthorizationUrl(configuration(), new URLSearchParams(sent)) };
          },
          exchangeCode: (code, codeVerifier) =>
            recorded((made) =>
              client.genericGrantRequest(made, 'authorization_code', { code, redirect_uri: redirectUri, code_verifier: codeVerifier }),
            ),
          refresh: (refreshToken) => recorded((made) => client.refreshTokenGrant(made, refreshToken)),
          userinfo: (accessToken) => recorded((made) => client.fetchUserInfo(made, accessToken, client.skipSubjectCheck)),
          introspect: (token, hint) => recorded((made) => client.tokenIntrospection(made, token, { token_type_hint: hint })),
          revoke: (token, hint) => recorded((made) => client.tokenRevocation(made, token, { token_type_hint: hint })),
          endSession: (idToken, state) =>
            client.buildEndSessionUrl(configuration(), {
              ...(idToken === undefined ? {} : { id_token_hint: idToken }),
              post_logout_redirect_uri: home,
              state,
            }),
        };
      }),
  };
}
