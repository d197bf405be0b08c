/**
 * Prepares an authorization request for oidc-provider: adds defaults that the library lacks, and keeps the parameters that it filters out
 * before our checks. Works on plain parameters, at the authorize endpoint and for pushed requests (RFC 9126).
 */
import { parse } from 'node:querystring';
import { decodeJwt } from 'jose';

import type { Context } from 'koa';
import { defaultScopes, spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { passRequestBody } from '../servers/credentials.ts';
import { ROUTES } from '../servers/endpoints.ts';
import { readProtocolForm } from '../servers/form.ts';
import { requestedAudiences } from '../token/audience.ts';
import { deliversToken, describable, isReturnable, PARAMETERS, repeated, withoutOpenid } from './parameters.ts';
import type { Merged, RequestParameters } from './request-object.ts';

export interface AsRequested {
  readonly scope: string | undefined;
  readonly nonce: string | undefined;
  readonly state: string | undefined;
  /** Problem with the request object. Our first check reports it, after the redirect URI has been validated. */
  readonly refusal: errors.OIDCProviderError | undefined;
  readonly isSigned: boolean;
  /** Marks the request object as used. Called if nothing else is wrong. @throws {errors.InvalidRequestObject} it was used before */
  use(): Promise<void>;
}

const REQUESTED = 'gatehouseAsRequested';
const single = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

const unused = async (): Promise<void> => {};
const NOTHING: AsRequested = { scope: undefined, nonce: undefined, state: undefined, refusal: undefined, isSigned: false, use: unused };

/** Parameters of the request before the library filtered them. A pushed request was validated when it was pushed, and uses the stored ones. */
export function asRequested(ctx: Context): AsRequested {
  const { PushedAuthorizationRequest: pushed } = (ctx as KoaContextWithOIDC).oidc.entities;
  if (pushed === undefined || isPush(ctx)) return ctx.state[REQUESTED] ?? NOTHING;
  const { scope, nonce, state } = decodeJwt(String((pushed as unknown as { request: unknown }).request)) as RequestParameters;
  return { ...NOTHING, scope: single(scope), nonce: single(nonce), state: single(state) };
}

const PUSHES: ReadonlySet<string> = new Set([
  ROUTES.pushed_authorization_request,
  ROUTES.device_authorization,
  ROUTES.backchannel_authentication,
]);

export const isPush = ({ path }: Context): boolean => PUSHES.has(path);

/** The parameters with the service's defaults. */
function withDefaults(parameters: RequestParameters, scopes: readonly Scope[]): RequestParameters {
  // RFC 6749 section 3.1: a parameter without a value counts as omitted.
  const prepared: RequestParameters = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
  // RFC 7636 section 4.3 would default to `plain`, which RFC 9700 section 2.1.1 forbids.
  if (prepared.code_challenge !== undefined && prepared.code_challenge_method === undefined) prepared.code_challenge_method = 'S256';
  if (prepared.scope === undefined) prepared.scope = defaultScopes(scopes).join(' ') || undefined;
  // oidc-provider answers an unregistered mode with unsupported_response_mode in the fragment; nothing secret reaches the query.
  if (prepared.response_mode === 'query' && deliversToken(prepared.response_type)) prepared.response_mode = 'query-not-allowed';
  // Outside OpenID Connect a nonce has no meaning; oidc-provider refuses what we only ignore.
  const isOpenid = spaceSeparated(single(prepared.scope)).includes('openid');
  if (!isOpenid && !spaceSeparated(single(prepared.response_type)).includes('id_token')) prepared.nonce = undefined;
  Object.assign(prepared, withoutOpenid(prepared, isOpenid));
  // One parameter with one value, under a name that the library ignores: it would use `resource` for its own resource indicators.
  prepared.audience = requestedAudiences(prepared).join(' ') || undefined;
  prepared.resource = undefined;
  // An invalid state is never returned, whatever error is reported.
  if (typeof prepared.state === 'string' && !isReturnable(prepared.state)) prepared.state = undefined;
  return prepared;
}

/** POST is equivalent to GET (OpenID Connect Core section 3.1.2.1). */
async function takeParametersFromForm(ctx: Context): Promise<void> {
  if (!ctx.is('application/x-www-form-urlencoded')) throw new errors.InvalidRequest('the body must be application/x-www-form-urlencoded');
  ctx.querystring = await readProtocolForm(ctx);
  ctx.method = 'GET';
}

/** No parameter of OAuth or OpenID Connect contains control characters (RFC 6749 appendix A), and PostgreSQL cannot store U+0000. */
function takeUnprintable(parameters: RequestParameters): errors.OIDCProviderError | undefined {
  const isBad = (name: string, value: RequestParameters[string]): boolean => {
    // JSON can contain them as escape sequences.
    const isEscaped = (name === 'claims' || name === 'authorization_details') && typeof value === 'string' && /\\u00[01]/i.test(value);
    return isEscaped || ![name, ...[value ?? []].flat()].every(isPrintable);
  };
  const bad = Object.entries(parameters).filter(([name, value]) => isBad(name, value));
  if (bad.length === 0) return undefined;
  const refusal = new errors.InvalidRequest('a parameter contains control characters');
  // Without valid values of these two, the error cannot be sent to the application.
  if (bad.some(([name]) => name === 'client_id' || name === 'redirect_uri' || !isPrintable(name))) throw refusal;
  for (const [name] of bad) parameters[name] = undefined;
  return refusal;
}

/** Maximum lengths in characters. Requests are stored during the sign-in, so one client must not use up the space of others. */
const LONGEST: Readonly<Record<string, number>> = { login_hint: 320, state: 2048, nonce: 2048 };
/** Maximum bytes of all parameters, without the JWTs, which are not stored. */
const LARGEST = 8192;
const NOT_STORED = new Set(['request', 'id_token_hint']);
/** Needed to return the error. Their length is limited by the registered values, or above. */
const KEPT = new Set(['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'nonce', 'scope']);

function takeTooLong(parameters: RequestParameters): errors.OIDCProviderError | undefined {
  const long = Object.entries(LONGEST).find(([name, most]) => [parameters[name] ?? ''].flat().some(({ length }) => length > most));
  const bytes = Object.entries(parameters)
    .filter(([name]) => !NOT_STORED.has(name))
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength([value ?? ''].flat().join('')), 0);
  if (long === undefined && bytes <= LARGEST) return undefined;
  for (const name of Object.keys(parameters)) {
    const isLong = String(parameters[name] ?? '').length > (LONGEST[name] ?? LARGEST);
    // Truncated, not removed: where a nonce is required, the library would report it as missing before our error.
    if (isLong && name === 'nonce') parameters[name] = String(parameters[name]).slice(0, LONGEST.nonce);
    else if (isLong || !KEPT.has(name)) parameters[name] = undefined;
  }
  return new errors.InvalidRequest(
    long === undefined
      ? `the parameters together are longer than ${LARGEST} bytes`
      : `the parameter ${long[0]} is longer than ${long[1]} characters`,
  );
}

/**
 * Features that OpenID Connect Core (sections 6.2 and 7.2) makes optional and that are not supported. oidc-provider also refuses them, but
 * without a description.
 */
function takeNotOffered(parameters: RequestParameters): errors.OIDCProviderError | undefined {
  const { request_uri: byReference, registration } = parameters;
  if (typeof byReference === 'string') {
    parameters.request_uri = undefined;
    return new errors.RequestUriNotSupported('the parameter request_uri is not supported');
  }
  if (typeof registration !== 'string') return undefined;
  parameters.registration = undefined;
  return new errors.RegistrationNotSupported('the parameter registration is not supported. Register the application instead');
}

const DISPLAYS: readonly unknown[] = [undefined, '', 'page', 'popup', 'touch', 'wap'];

/** Invalid parameters that the library accepts: unlisted values, and repeated unknown parameters. It refuses repeated known ones itself. */
function takeInvalid(parameters: RequestParameters): errors.OIDCProviderError | undefined {
  const twice = repeated(Object.fromEntries(Object.entries(parameters).filter(([name]) => !PARAMETERS.has(name))));
  if (twice !== undefined) return new errors.InvalidRequest(`the parameter ${describable(twice)} must not appear twice`);
  const { display } = parameters;
  if (!Array.isArray(display) && !DISPLAYS.includes(display)) {
    parameters.display = undefined;
    return new errors.InvalidRequest('display must be page, popup, touch or wap');
  }
  const { dpop_jkt: thumbprint } = parameters;
  if (thumbprint !== undefined && !/^[\w-]{43}$/.test(String(thumbprint))) {
    parameters.dpop_jkt = undefined;
    return new errors.InvalidRequest('dpop_jkt must be the SHA-256 thumbprint of a key in base64url, 43 characters');
  }
  const types = spaceSeparated(single(parameters.response_type));
  if (new Set(types).size === types.length) return undefined;
  parameters.response_type = [...new Set(types)].join(' ');
  return new errors.InvalidRequest('response_type must not contain a value twice');
}

type Merge = (query: RequestParameters) => Promise<Merged>;

/**
 * Prepares a request to the authorize endpoint.
 * @param merge merges a signed request's parameters over those of the query
 * @throws {errors.InvalidRequest} an invalid or too large form body; control characters where the refusal cannot be redirected
 */
export async function prepareAuthorization(ctx: Context, scopes: readonly Scope[], merge: Merge): Promise<void> {
  if (ctx.method === 'POST') await takeParametersFromForm(ctx);
  const query: RequestParameters = { ...ctx.query };
  ctx.query = (isByPush(query) ? byPush(query) : await prepare(ctx, query, scopes, merge)) as typeof ctx.query;
}

const PUSHED = 'urn:ietf:params:oauth:request_uri:';

const isByPush = ({ request_uri: uri }: RequestParameters): boolean => typeof uri === 'string' && uri.startsWith(PUSHED);

/**
 * RFC 9101 section 6.3: parameters beside a pushed request are ignored.
 * @throws {errors.InvalidRequest}
 * @throws {errors.InvalidRequestUri} it was never issued
 */
function byPush({ client_id, request_uri, request, ui_locales }: RequestParameters): RequestParameters {
  if (request !== undefined) throw new errors.InvalidRequest('request and request_uri cannot be used together');
  if (!/^[0-9a-f]{7}[\w-]{43}$/.test(String(request_uri).slice(PUSHED.length)))
    throw new errors.InvalidRequestUri('the request_uri was not issued by this server');
  return Object.fromEntries(Object.entries({ client_id, request_uri, ui_locales }).filter(([, value]) => value !== undefined));
}

/** Client authentication parameters are not part of the request. */
const AUTHENTICATION = new Set(['client_secret', 'client_assertion', 'client_assertion_type']);

/**
 * Prepares a request that the client sends directly: pushed (RFC 9126 section 2.1), or from a device (RFC 8628 section 3.1). Problems are reported
 * after client authentication.
 */
export async function preparePush(ctx: Context, scopes: readonly Scope[], merge: Merge): Promise<void> {
  if (!ctx.is('application/x-www-form-urlencoded')) return;
  const form = Object.entries(parse(await readProtocolForm(ctx)));
  const query: RequestParameters = Object.fromEntries(form.filter(([name]) => !AUTHENTICATION.has(name)));
  // A client that authenticates by a header may name itself only in the request object.
  query.client_id ??= clientOf(single(query.request));
  const parameters = Object.entries(
    await prepare(ctx, query, scopes, ctx.path === ROUTES.backchannel_authentication ? withoutObject : merge),
  );
  const fields = [...form.filter(([name]) => AUTHENTICATION.has(name)), ...parameters];
  const pairs = fields.flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, each]));
  passRequestBody(ctx, new URLSearchParams(pairs).toString());
}

/** Signed authentication requests (CIBA section 7.1.1) are not supported: their rules differ from those of request objects. */
const withoutObject: Merge = async ({ request, ...parameters }) => ({
  parameters,
  refusal: request === undefined || request === '' ? undefined : new errors.InvalidRequest('the parameter request is not supported'),
  use: async () => {},
});

function clientOf(request: string | undefined): string | undefined {
  try {
    return request === undefined ? undefined : single(decodeJwt(request).client_id as string | undefined);
  } catch {
    return undefined;
  }
}

/** Records further facts about the request. @returns the parameters for the library */
async function prepare(ctx: Context, query: RequestParameters, scopes: readonly Scope[], merge: Merge): Promise<RequestParameters> {
  const unprintable = takeUnprintable(query);
  const { parameters, refusal: refused, isSigned = false, use } = await merge(query);
  // All are evaluated, because each also removes parameters that the library must not see. The first problem is reported.
  const refusals = [
    unprintable,
    refused,
    takeUnprintable(parameters),
    takeTooLong(parameters),
    takeNotOffered(parameters),
    takeInvalid(parameters),
  ];
  const refusal = refusals.find((found) => found !== undefined);
  // At these endpoints, the library has no prompt for a new sign-in. A user who answers later than `max_age` signs in again.
  if (ctx.path !== ROUTES.pushed_authorization_request && isPush(ctx) && Number(parameters.max_age) === 0) parameters.max_age &&= '1';
  const prepared = withDefaults(parameters, scopes);
  const { nonce, state } = parameters;
  ctx.state[REQUESTED] = {
    scope: single(prepared.scope),
    nonce: single(nonce),
    state: single(state),
    refusal,
    isSigned,
    use,
  } satisfies AsRequested;
  return Object.fromEntries(Object.entries(prepared).filter(([, value]) => value !== undefined));
}

/** Reason why a prepared push cannot be stored, regardless of the library's own checks. */
export const refusalOfPush = (ctx: Context): errors.OIDCProviderError | undefined =>
  (ctx.state[REQUESTED] as AsRequested | undefined)?.refusal;

/** @throws {errors.InvalidRequest} the application must sign its requests (RFC 9101 section 10.5), and this one is not signed */
export function checkSigned(ctx: KoaContextWithOIDC): void {
  const { client, entities } = ctx.oidc;
  const mustSign = client !== undefined && clientSettings(client).signedRequestRequired;
  if (mustSign && entities.PushedAuthorizationRequest === undefined && !asRequested(ctx).isSigned)
    throw new errors.InvalidRequest(
      'the application must send a signed request object in the parameter request (require_signed_request_object)',
    );
}
