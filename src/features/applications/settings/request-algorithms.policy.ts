/**
 * Signing algorithms of an application's requests, by their client metadata names (OpenID Connect Dynamic Client Registration section 2). A
 * configured algorithm is a limit: others are refused.
 */

/** By a secret (RFC 7518 section 3.2). */
const BY_SECRET = ['HS256', 'HS384', 'HS512'] as const;

/** Algorithms for request objects. */
export const REQUEST_OBJECT_ALGS = [...BY_SECRET, 'RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
/** Algorithms for client assertions. */
export const CLIENT_ASSERTION_ALGS = ['HS256', 'RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

/** Is the signature made with the client secret? */
export const signsBySecret = (alg: string): boolean => (BY_SECRET as readonly string[]).includes(alg);

export interface RequestAlgSettings {
  /** Absent: any that is supported. */
  readonly request_object_signing_alg?: (typeof REQUEST_OBJECT_ALGS)[number] | undefined;
  /** Absent: any that its method allows. */
  readonly token_endpoint_auth_signing_alg?: (typeof CLIENT_ASSERTION_ALGS)[number] | undefined;
}

interface Credentials {
  readonly token_endpoint_auth_method: string;
  readonly jwks?: object | undefined;
  readonly jwks_uri?: string | undefined;
}

/** @returns every choice that the application cannot sign by, with the setting to change */
export function requestAlgProblems(
  settings: RequestAlgSettings & Credentials,
): readonly { readonly setting: keyof RequestAlgSettings; readonly message: string }[] {
  const { token_endpoint_auth_method: method, request_object_signing_alg: request, token_endpoint_auth_signing_alg: assertion } = settings;
  const hasSecret = method.startsWith('client_secret_');
  const hasKeys = settings.jwks !== undefined || settings.jwks_uri !== undefined;
  const problems: { setting: keyof RequestAlgSettings; message: string }[] = [];
  if (request !== undefined && !(signsBySecret(request) ? hasSecret : hasKeys))
    problems.push({
      setting: 'request_object_signing_alg',
      message: signsBySecret(request) ? 'requires a token_endpoint_auth_method with a secret' : 'requires jwks or jwks_uri',
    });
  if (assertion !== undefined && method !== (signsBySecret(assertion) ? 'client_secret_jwt' : 'private_key_jwt'))
    problems.push({
      setting: 'token_endpoint_auth_signing_alg',
      message: `cannot be used with token_endpoint_auth_method ${method}`,
    });
  return problems;
}
