/**
 * Signing and encryption of requests and responses of an application, by client metadata names (OpenID Connect Dynamic Client Registration
 * section 2, RFC 9701 section 6, JARM section 3). A configured algorithm of requests is a limit: others are refused.
 */

import type { SigningAlg } from '../../authorization-servers/signing-keys.policy.ts';

/** Algorithms that use a secret (RFC 7518 section 3.2). */
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

/** @returns every request algorithm that the application cannot use, with the setting to change */
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

/** ID and logout tokens; userinfo responses; introspection responses; authorization responses. */
export const RESPONSE_KINDS = ['id_token', 'userinfo', 'introspection', 'authorization'] as const;
export type ResponseKind = (typeof RESPONSE_KINDS)[number];

/** Encryption with keys of the application (RFC 7518 section 4.1). None is derived from a secret, because secrets are rotated. */
export const ENCRYPTION_ALGS = ['RSA-OAEP-256', 'RSA-OAEP', 'ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW'] as const;
/** RFC 7518 section 5.1. */
export const ENCRYPTION_ENCS = ['A128CBC-HS256', 'A256CBC-HS512', 'A128GCM', 'A256GCM'] as const;

export const signedAlg = (kind: ResponseKind) => `${kind}_signed_response_alg` as const;
export const encryptedAlg = (kind: ResponseKind) => `${kind}_encrypted_response_alg` as const;
export const encryptedEnc = (kind: ResponseKind) => `${kind}_encrypted_response_enc` as const;

export const ENCRYPTION_SETTINGS = RESPONSE_KINDS.map(encryptedAlg);

/** All of them, in the API's order. */
export const RESPONSE_SETTINGS = RESPONSE_KINDS.flatMap((kind) => [signedAlg(kind), encryptedAlg(kind), encryptedEnc(kind)]);

/**
 * If no signing algorithm is set, userinfo is plain JSON, and other responses use the authorization server's algorithm. If no encryption algorithm
 * is set, responses are not encrypted. The default content encryption is A128CBC-HS256.
 */
export type ResponseSettings = {
  readonly [K in `${ResponseKind}_signed_response_alg`]?: SigningAlg | undefined;
} & {
  readonly [K in `${ResponseKind}_encrypted_response_alg`]?: (typeof ENCRYPTION_ALGS)[number] | undefined;
} & {
  readonly [K in `${ResponseKind}_encrypted_response_enc`]?: (typeof ENCRYPTION_ENCS)[number] | undefined;
};

interface KeysOf {
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | undefined;
  readonly jwks_uri?: string | undefined;
}

/** @returns every impossible encryption, with the setting to change */
export function encryptionProblems(settings: ResponseSettings & KeysOf): readonly { readonly setting: string; readonly message: string }[] {
  return RESPONSE_KINDS.flatMap((kind) => {
    const { [encryptedAlg(kind)]: alg, [encryptedEnc(kind)]: enc } = settings;
    if (alg === undefined) return enc === undefined ? [] : [{ setting: encryptedEnc(kind), message: `requires ${encryptedAlg(kind)}` }];
    if (settings.jwks_uri !== undefined || settings.jwks?.keys.some((key) => encryptsBy(key, alg))) return [];
    return [{ setting: 'jwks', message: `must contain a key with use enc for ${encryptedAlg(kind)} ${alg}, unless jwks_uri is set` }];
  });
}

/** The use must be given: a signature key must not be used for encryption (RFC 8725 section 3.1). */
const encryptsBy = (key: Readonly<Record<string, unknown>>, alg: string): boolean => key.use === 'enc' && encryptsTo(key, alg);

/** Can the service encrypt to this key? A key at a `jwks_uri` may omit its use. Ed25519 is for signatures only (RFC 8037 section 2). */
export function encryptsTo(key: Readonly<Record<string, unknown>>, alg: string): boolean {
  const types = alg.startsWith('RSA') ? ['RSA'] : ['EC', 'OKP'];
  const isOpen = (value: unknown, wanted: string) => value === undefined || value === wanted;
  return types.includes(String(key.kty)) && key.crv !== 'Ed25519' && isOpen(key.use, 'enc') && isOpen(key.alg, alg);
}
