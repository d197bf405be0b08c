/**
 * The console as an application of the built-in authorization server: authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0
 * section 3.1), verification of the ID token's signature, and RP-initiated logout. sign-in.ts handles the browser.
 */

import { isIPv6 } from 'node:net';
import type { CustomFetch } from 'openid-client';
import * as client from 'openid-client';
import { BUILT_IN, issuerOf } from '../../features/authorization-servers/server-id.policy.ts';
import { SIGNING_ALGS } from '../../features/authorization-servers/signing-keys.policy.ts';
import type { Config } from '../../platform/config/config.ts';
import { inProtocolTerms } from '../../platform/http/protocol-problem.ts';

// The console's requests to its own authorization server (token endpoint and keys) use the address at which this process listens: the public one may
// be a proxy that this machine cannot reach or whose certificate it does not trust. Only the origin is replaced.

/** Addresses that mean "every address of this machine": for listening, not for connecting. */
const UNSPECIFIED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Local address of this process. */
export function ownOrigin({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const address = UNSPECIFIED[host] ?? host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

function backChannel(config: Pick<Config, 'baseUrl' | 'host' | 'port'>): CustomFetch {
  const origin = ownOrigin(config);
  return (address, options) => {
    const url = new URL(address);
    if (url.origin !== config.baseUrl) throw new Error(`${url.origin} is not this service`);
    return fetch(origin + url.pathname + url.search, options as RequestInit);
  };
}

const TIMEOUT_SECONDS = 10;

/** The console needs only the user's identity; permissions are read from the database with each request. */
const SCOPE = 'openid';

export interface ConsoleCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** State kept between the authorization request and its response. */
interface Secrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export const newSecrets = (): Secrets => ({
  state: client.randomState(),
  nonce: client.randomNonce(),
  codeVerifier: client.randomPKCECodeVerifier(),
});

interface ConsoleClient {
  /** @param prompt `login`: require the password even with a session */
  authorizationUrl(credentials: ConsoleCredentials, secrets: Secrets, prompt?: 'login'): Promise<URL>;
  /** @param query of the authorization response @throws {ProtocolProblem} the server refused, or the response is invalid */
  redeem(credentials: ConsoleCredentials, secrets: Secrets, query: string): Promise<{ readonly userId: string; readonly idToken: string }>;
  /** Sign-out address. @param idToken absent: the server asks for confirmation */
  endSessionUrl(credentials: ConsoleCredentials, idToken: string | undefined): URL;
}

export function consoleClient(config: Config): ConsoleClient {
  const redirectUri = `${config.baseUrl}/admin/callback`;
  const issuer = issuerOf(config.baseUrl, BUILT_IN);
  // Known without discovery: it is the same service.
  const server: client.ServerMetadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    end_session_endpoint: `${issuer}/logout`,
    id_token_signing_alg_values_supported: [...SIGNING_ALGS],
    authorization_response_iss_parameter_supported: true,
  };

  function configure({ clientId, clientSecret }: ConsoleCredentials): client.Configuration {
    const made = new client.Configuration(server, clientId, undefined, client.ClientSecretBasic(clientSecret));
    made.timeout = TIMEOUT_SECONDS;
    made[client.customFetch] = backChannel(config);
    client.enableNonRepudiationChecks(made);
    if (!config.secure) client.allowInsecureRequests(made);
    return made;
  }

  return {
    async authorizationUrl(credentials, { state, nonce, codeVerifier }, prompt) {
      return client.buildAuthorizationUrl(configure(credentials), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(prompt && { prompt }),
      });
    },
    redeem: (credentials, { state, nonce, codeVerifier }, query) =>
      inProtocolTerms(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true };
        const tokens = await client.authorizationCodeGrant(configure(credentials), new URL(redirectUri + query), checks);
        return { userId: tokens.claims()?.sub ?? '', idToken: tokens.id_token ?? '' };
      }),
    endSessionUrl: (credentials, idToken) =>
      client.buildEndSessionUrl(configure(credentials), idToken === undefined ? {} : { id_token_hint: idToken }),
  };
}
