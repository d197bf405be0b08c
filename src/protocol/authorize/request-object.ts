/**
 * The `request` parameter: an authorization request as a signed JWT (OpenID Connect Core section 6, RFC 9101). It is verified before
 * oidc-provider, which would ignore the query parameters: values of the JWT take precedence, others come from the query. Encrypted and
 * unsigned objects are refused. A client's own `request_uri` is not supported.
 */

import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  errors as joseErrors,
} from 'jose';
import { FAPI2_ALGS } from '../../features/applications/fapi2.policy.ts';
import { REQUEST_OBJECT_ALGS, signsBySecret } from '../../features/applications/settings/algorithms.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { epochSeconds, present } from '../../platform/clock/clock.ts';
import { type IssuerKeys, verifyByAny } from '../client-authentication/foreign-jwt.ts';
import { type AdapterPayload, errors } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { CLOCK_OFFSET, isFromFuture } from '../token/clock-offset.ts';
import { MANY, PARAMETERS } from './parameters.ts';

export type RequestParameters = Record<string, string | string[] | undefined>;

/** RFC 9101 section 10.8: JWTs for other purposes have another type. Media types are case-insensitive (RFC 7515 section 4.1.9). */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'oauth-authz-req+jwt', 'application/oauth-authz-req+jwt'];
/** Maximum seconds until expiry, and how long a `jti` is remembered. */
const LONGEST_LIFE = 86_400;

export interface RequestObjectRules {
  readonly issuer: string;
  /** Marks a `jti` as used until the given time (epoch seconds), immediately. @returns false if it was used before */
  claim(clientId: string, jti: string, until: number): Promise<boolean>;
  /** Does the profile FAPI 2.0 apply to the application? Then only parameters of the JWT count (RFC 9101 section 6.3). */
  isFapi2(client: AdapterPayload): boolean;
  readonly issuerKeys: IssuerKeys;
}

/**
 * Looks up the application and counts wrong secrets for the current request. The last two methods throw if the application is blocked at
 * this address.
 */
export interface SecretGuard {
  /** @returns undefined if the application does not exist */
  findClient(id: string): Promise<AdapterPayload | undefined>;
  before(clientId: string): void;
  failed(clientId: string): Promise<void>;
}

export interface Merged {
  readonly parameters: RequestParameters;
  /** Reason to refuse the request; reported once the redirect URI is known. */
  readonly refusal: errors.OIDCProviderError | undefined;
  /** Did the request contain a valid request object? */
  readonly isSigned?: boolean;
  /** Marks the request object as used. @throws {errors.InvalidRequestObject} it was used before */
  use(): Promise<void>;
}

const unused = async (): Promise<void> => {};

const refuse = (description: string, cause?: unknown) => new errors.InvalidRequestObject(description, { cause });

/** @returns the functions that verify and merge request objects of one authorization server */
export function requestObjects(rules: RequestObjectRules) {
  function keysOf(client: AdapterPayload, alg: string): JWTVerifyGetKey {
    if (signsBySecret(alg)) {
      const usesSecret = client.token_endpoint_auth_method?.startsWith('client_secret_');
      if (!usesSecret || client.client_secret === undefined)
        throw refuse('the application may not sign requests with a client secret. Use a key of its jwks');
      const secret = new TextEncoder().encode(client.client_secret);
      return async () => secret;
    }
    if (client.jwks !== undefined) return createLocalJWKSet(client.jwks as JSONWebKeySet);
    if (client.jwks_uri === undefined) throw refuse('the application has no keys. Set its jwks or jwks_uri');
    return rules.issuerKeys.at(client.jwks_uri);
  }

  async function verify(jwt: string, client: AdapterPayload, guard: SecretGuard): Promise<JWTPayload> {
    const { alg = '', typ } = headerOf(jwt);
    if (!(REQUEST_OBJECT_ALGS as readonly string[]).includes(alg))
      throw refuse('the request object must be signed with a supported algorithm: see request_object_signing_alg_values_supported');
    if (!TYPES.includes(typ?.toLowerCase())) throw refuse('the typ of the request object must be JWT or oauth-authz-req+jwt');
    if (rules.isFapi2(client) && !FAPI2_ALGS.includes(alg))
      throw refuse(`the request object must be signed with ${FAPI2_ALGS.join(', ')} (profile fapi2)`);
    const wanted = clientSettings(client).requestObjectAlg ?? alg;
    if (alg !== wanted) throw refuse(`the request object must be signed with ${wanted}, the request_object_signing_alg of the application`);
    const keys = keysOf(client, alg);
    const bySecret = signsBySecret(alg);
    if (bySecret) guard.before(client.client_id ?? '');
    const options = {
      algorithms: [alg],
      issuer: client.client_id ?? '',
      audience: rules.issuer,
      // FAPI 2.0 Message Signing requires `nbf` instead.
      requiredClaims: rules.isFapi2(client) ? ['iss', 'aud', 'exp'] : ['iss', 'aud', 'iat', 'exp'],
      currentDate: present(),
      // Tolerance for `nbf`; expiry has none (read).
      clockTolerance: CLOCK_OFFSET,
    };
    try {
      return (await verifyByAny(jwt, keys, options)).payload;
    } catch (cause) {
      if (bySecret && cause instanceof joseErrors.JWSSignatureVerificationFailed) await guard.failed(client.client_id ?? '');
      throw refuse('the request object has expired or is invalid', cause);
    }
  }

  /** @throws {errors.InvalidRequestObject} */
  async function read(
    jwt: string,
    query: RequestParameters,
    guard: SecretGuard,
  ): Promise<Pick<Merged, 'parameters' | 'use'> & { readonly isAlone: boolean }> {
    const client = typeof query.client_id === 'string' ? await guard.findClient(query.client_id) : undefined;
    if (client?.client_id === undefined) throw refuse('the request object needs a client_id');
    const payload = await verify(jwt, client, guard);
    if ((payload.exp ?? 0) <= epochSeconds()) throw refuse('the request object has expired or is invalid');
    if ((payload.exp ?? 0) > epochSeconds() + LONGEST_LIFE) throw refuse('the request object is valid for too long. Use an earlier exp');
    if (isFromFuture(payload.iat, epochSeconds()))
      throw refuse('the iat of the request object is in the future. Check the clock of the application');
    if (rules.isFapi2(client)) checkFapi2Times(payload);
    const parameters = parametersOf(payload);
    requireSame('client_id', query.client_id, parameters.client_id);
    requireSame('response_type', query.response_type, parameters.response_type);
    const { jti, exp = 0 } = payload;
    const clientId = client.client_id;
    const use = async (): Promise<void> => {
      if (!(await rules.claim(clientId, String(jti), exp)))
        throw refuse('the request object was already used. Sign a new one for each request');
    };
    return { parameters, isAlone: rules.isFapi2(client), use: jti === undefined ? unused : use };
  }

  /** Merges the parameters of the request object over those of the query. Without a request object, the query is unchanged. */
  return async ({ request, ...query }: RequestParameters, guard: SecretGuard): Promise<Merged> => {
    if (request === undefined || request === '') return { parameters: query, refusal: undefined, use: unused };
    if (Array.isArray(request))
      return { parameters: query, refusal: new errors.InvalidRequest('the parameter request must not appear twice'), use: unused };
    // OpenID Connect Core section 6, RFC 9126 section 2.1.
    if (query.request_uri !== undefined && query.request_uri !== '')
      return { parameters: query, refusal: new errors.InvalidRequest('request and request_uri cannot be used together'), use: unused };
    try {
      const { parameters, use, isAlone } = await read(request, query, guard);
      const beside = isAlone ? { client_id: query.client_id } : query;
      return { parameters: { ...beside, ...parameters }, refusal: undefined, isSigned: true, use };
    } catch (error) {
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      // Unverified parameters are used only to report the refusal; the redirect URI must still be registered.
      return { parameters: { ...unverified(request), ...query }, refusal: error, use: unused };
    }
  };
}

/** FAPI 2.0 Message Signing section 5.3.1: `nbf` is required and at most an hour old, and `exp` is at most an hour later. */
function checkFapi2Times({ nbf, exp = 0 }: JWTPayload): void {
  const HOUR = 3600;
  if (nbf === undefined || nbf < epochSeconds() - HOUR || exp > nbf + HOUR)
    throw refuse('the request object needs nbf within the last hour, and exp at most an hour after nbf (profile fapi2)');
}

function headerOf(jwt: string): { alg?: string; typ?: string } {
  try {
    return decodeProtectedHeader(jwt);
  } catch (cause) {
    throw refuse('the request object must be a signed JWT', cause);
  }
}

/** @throws {errors.InvalidRequestObject} a value that a parameter cannot have */
function parametersOf(payload: JWTPayload): RequestParameters {
  // Claims that are not parameters are ignored (RFC 9101 section 4).
  const entries = Object.entries(payload).filter(([name]) => PARAMETERS.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'request' || name === 'request_uri') throw refuse('the request object must not contain request or request_uri');
      if (typeof value === 'string') return [name, value];
      if (MANY.has(name) && Array.isArray(value) && value.every((one) => typeof one === 'string')) return [name, value];
      if (typeof value === 'number' || typeof value === 'boolean') return [name, String(value)];
      if ((name === 'claims' || name === 'authorization_details') && typeof value === 'object') return [name, JSON.stringify(value)];
      throw refuse(`the request object's ${name} is not a text`);
    }),
  );
}

/** OpenID Connect Core section 6.1. */
function requireSame(name: string, inQuery: string | string[] | undefined, inObject: string | string[] | undefined): void {
  if (inQuery === undefined || inObject === undefined) return;
  if (spaceSeparated(inQuery).sort().join(' ') !== spaceSeparated(inObject).sort().join(' '))
    throw refuse(`the request object's ${name} differs from the query's`);
}

const WAY_BACK = ['response_type', 'response_mode', 'redirect_uri', 'state', 'scope'];

function unverified(jwt: string): RequestParameters {
  try {
    const payload = decodeJwt(jwt);
    return Object.fromEntries(WAY_BACK.flatMap((name) => (typeof payload[name] === 'string' ? [[name, payload[name]]] : [])));
  } catch {
    return {};
  }
}
