/**
 * The paths below an authorization server's base, the methods that each accepts, and the origins that may read its responses. Paths are exact:
 * oidc-provider's own router ignores case and slashes at the end.
 */

import { APPLICATION_GRANT_TYPES } from '../../features/applications/application-settings.policy.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from './client-settings.ts';

export const ROUTES = {
  authorization: '/authorize',
  token: '/token',
  introspection: '/introspect',
  revocation: '/revoke',
  userinfo: '/userinfo',
  end_session: '/logout',
  jwks: '/keys',
  pushed_authorization_request: '/par',
  device_authorization: '/device_authorization',
  code_verification: '/device',
  backchannel_authentication: '/backchannel-authentication',
} as const;

/** RFC 7591. */
export const REGISTRATION = '/register';
const REGISTERED = /^\/register\/([A-Za-z0-9._~-]{1,100})$/;

/** @returns the client ID in the address of a client configuration endpoint (RFC 7592), undefined for any other path */
export const registeredClientIn = (path: string): string | undefined => REGISTERED.exec(path)?.[1];

export const OPENID_CONFIGURATION = '/.well-known/openid-configuration';
export const OAUTH_METADATA = '/.well-known/oauth-authorization-server';

const DOCUMENT = ['GET', 'HEAD', 'OPTIONS'];
const METHODS: Readonly<Record<string, readonly string[]>> = {
  // Not HEAD: it would issue a code that nobody receives.
  [ROUTES.authorization]: ['GET', 'POST'],
  [ROUTES.token]: ['POST', 'OPTIONS'],
  [ROUTES.introspection]: ['POST', 'OPTIONS'],
  [ROUTES.revocation]: ['POST', 'OPTIONS'],
  [ROUTES.userinfo]: ['GET', 'POST', 'OPTIONS'],
  [ROUTES.end_session]: ['GET', 'POST'],
  [ROUTES.pushed_authorization_request]: ['POST', 'OPTIONS'],
  [ROUTES.device_authorization]: ['POST', 'OPTIONS'],
  [ROUTES.code_verification]: ['GET', 'POST'],
  [ROUTES.backchannel_authentication]: ['POST', 'OPTIONS'],
  [ROUTES.jwks]: DOCUMENT,
  [REGISTRATION]: ['POST', 'OPTIONS'],
  [OPENID_CONFIGURATION]: DOCUMENT,
  [OAUTH_METADATA]: DOCUMENT,
};
const RESUME = /^\/(?:authorize|device)\/[A-Za-z0-9_-]+$/;

/** @returns the methods of an endpoint, undefined when there is none at this path */
export function methodsOf(path: string): readonly string[] | undefined {
  if (RESUME.test(path)) return ['GET'];
  return registeredClientIn(path) === undefined ? METHODS[path] : ['GET', 'PUT', 'DELETE', 'OPTIONS'];
}

const ENDPOINTS: ReadonlySet<string> = new Set(Object.values(ROUTES));

/**
 * Okta's SDKs do not read discovery. They expect endpoints below `{issuer}/v1`, some below `{issuer}/oauth2/v1` if the issuer has no segment
 * `oauth2`.
 * @returns the endpoint's path, or the unchanged path
 */
export function withoutAlias(path: string): string {
  const own = /^(?:\/oauth2)?\/v1(\/[a-z]+)$/.exec(path)?.[1];
  return own !== undefined && ENDPOINTS.has(own) ? own : path;
}

/** Endpoints called by programs: they return JSON regardless of the Accept header. */
export const isProgramEndpoint = (path: string): boolean => PROGRAM_ENDPOINTS.has(path) || registeredClientIn(path) !== undefined;

const PROGRAM_ENDPOINTS: ReadonlySet<string> = new Set([
  ROUTES.token,
  ROUTES.introspection,
  ROUTES.revocation,
  ROUTES.userinfo,
  ROUTES.pushed_authorization_request,
  ROUTES.device_authorization,
  ROUTES.backchannel_authentication,
  REGISTRATION,
]);

/** Endpoints that a browser visits: their errors are pages. */
export const isVisited = (path: string): boolean => VISITED.has(path) || RESUME.test(path);

const VISITED: ReadonlySet<string> = new Set([ROUTES.authorization, ROUTES.end_session, ROUTES.code_verification]);

/** The grant types that a server offers; others of a client are ignored. */
export const GRANT_TYPES: ReadonlySet<string> = new Set(APPLICATION_GRANT_TYPES);

// Allows pages of other origins to read responses of token, introspect, revoke and userinfo (Fetch standard, section 3.2, CORS
// protocol): the application's `allowed_origins`. These endpoints use no cookies, so credentials are not allowed. Discovery and keys
// are public: oidc-provider allows every origin.

/** Response headers that pages can read: reason of an error, next DPoP nonce, time to retry, and request ID. */
const EXPOSED = 'WWW-Authenticate, DPoP-Nonce, Retry-After, X-Request-Id';
const OF_PREFLIGHTS = ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'];

/**
 * Sets the final CORS headers of a response, including errors; overrides what oidc-provider set before it identified the client.
 * @param isRegistered called without a known client: a preflight names none, and an error can precede it
 */
export async function shareWithOrigin(ctx: KoaContextWithOIDC, isRegistered: (origin: string) => Promise<boolean>): Promise<void> {
  ctx.vary('Origin');
  const origin = ctx.get('Origin');
  if (origin !== '' && (await mayRead(ctx, origin, isRegistered))) {
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method !== 'OPTIONS') ctx.set('Access-Control-Expose-Headers', EXPOSED);
    return;
  }
  for (const header of ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', ...OF_PREFLIGHTS]) ctx.remove(header);
}

async function mayRead(ctx: KoaContextWithOIDC, origin: string, isRegistered: (origin: string) => Promise<boolean>): Promise<boolean> {
  // Missing if the request was refused before the library's route.
  const oidc: KoaContextWithOIDC['oidc'] | undefined = ctx.oidc;
  const client = oidc?.client;
  if (client !== undefined) return clientSettings(client).allowedOrigins.includes(origin);
  // The response is complete. If the database is down, only the page cannot read it. A database that hangs would delay the response again.
  return ctx.status !== 503 && isRegistered(origin).catch(() => false);
}
