/**
 * Authenticates callers by `Authorization: SSWS <API token>` (the scheme of Okta's API) and finds their roles. Every other scheme is refused,
 * including OAuth access tokens (`Bearer`, RFC 6750): those represent a user at a resource server, not an administrator.
 */
import type { Context, Middleware } from 'koa';
import { type Access, mayCall, type Role } from '../features/administrators/administration.policy.ts';
import { authenticateApiToken } from '../features/api-tokens/api-tokens.service.ts';
import { NOBODY, type RequestContext } from '../features/audit/audit-event.policy.ts';
import { networkOf } from '../features/sign-in/failure-limits.service.ts';
import type { Services } from '../platform/database/dependencies.ts';
import { forbidden, invalidToken } from '../platform/errors/errors.ts';
import { clientAddress, isForwarded } from '../platform/http/requests.ts';

/** Set as `ctx.state.caller`. */
export interface Caller {
  /** The key for rate limits: the API token, or without one the caller's address. */
  readonly countedAs: string;
  readonly request: RequestContext & { readonly roles: readonly Role[] };
}

/** Okta's SDK for Python sends no space. */
const SSWS = /^SSWS ?([\x21-\x7e]+)$/i;

/** @throws {ApiError} invalid token */
export function authenticateCaller(services: Services): Middleware {
  return async (ctx, next) => {
    const token = SSWS.exec(ctx.get('Authorization'))?.[1];
    const bearer = token === undefined ? undefined : await authenticateApiToken(services, token);
    if (bearer === undefined) throw invalidToken();
    const request: Caller['request'] = {
      actor: { id: bearer.userId, type: 'User', displayName: bearer.login },
      roles: bearer.roles,
      ...callOrigin(ctx, services),
    };
    ctx.state.caller = { countedAs: bearer.tokenId, request } satisfies Caller;
    await next();
  };
}

/** For operations that need no token. */
export const asVisitor =
  (services: Services): Middleware =>
  async (ctx, next) => {
    const request: Caller['request'] = { actor: NOBODY, roles: [], ...callOrigin(ctx, services) };
    ctx.state.caller = { countedAs: networkOfCaller(ctx, services), request } satisfies Caller;
    await next();
  };

/**
 * Okta's SDKs except the one for Node.js have closed lists of values. The SDK for Python has the user agent of every generated client, but
 * is the only one that sends no space after SSWS.
 */
const knowsOktaValuesOnly = (ctx: Context): boolean =>
  /^okta-sdk-(?!nodejs)/.test(ctx.get('User-Agent')) || /^SSWS\S/i.test(ctx.get('Authorization'));

export const callOrigin = (ctx: Context, { config }: Services) => ({
  ipAddress: clientAddress(ctx.req, config.trustProxy),
  userAgent: ctx.get('User-Agent'),
  knowsOktaValuesOnly: knowsOktaValuesOnly(ctx),
  requestId: ctx.state.requestId as string,
  isForwarded: isForwarded(ctx.headers),
});

/** The key for counting calls without a token: a network, because one subscriber has many IPv6 addresses. */
export const networkOfCaller = (ctx: Context, { config }: Services): string => networkOf(clientAddress(ctx.req, config.trustProxy));

/** @throws {ApiError} forbidden */
export function authorizeCaller({ method, access }: { readonly method: string; readonly access: Access | 'anyone' }): Middleware {
  return async (ctx, next) => {
    const { request }: Caller = ctx.state.caller;
    if (access !== 'anyone' && !mayCall(request.roles, access, method === 'GET' ? 'read' : 'write')) throw forbidden();
    await next();
  };
}
