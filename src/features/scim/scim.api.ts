/**
 * SCIM 2.0 (RFC 7644) at `/scim/v2`: authentication, request bodies, and the only place that writes its errors. Its Schemas endpoint describes it.
 */
import { bodyParser } from '@koa/bodyparser';
import type { Context, Middleware } from 'koa';
import { CALLS_PER_MINUTE } from '../../../config/defaults.ts';
import { callOrigin, networkOfCaller } from '../../api/authentication.ts';
import { rateLimit } from '../../api/rate-limit.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError, internal, unavailable } from '../../platform/errors/errors.ts';
import { authenticateScimToken } from '../api-tokens/api-tokens.service.ts';
import { countElsewhere } from '../users/names-elsewhere.service.ts';
import { executeBulk } from './scim-bulk.service.ts';
import type { ScimCaller } from './scim-caller.policy.ts';
import { LARGEST_BODY } from './scim-discovery.service.ts';
import { asScimError, badRequest, errorBody, ScimError } from './scim-errors.policy.ts';
import { namesOfFields } from './scim-names.policy.ts';
import { handleScim, notAllowed, type ScimRequest } from './scim-requests.service.ts';
import { SCIM_BASE } from './scim-resources.service.ts';
import { currentUserType } from './scim-users.service.ts';

/** RFC 6750; any printable token. */
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** Paths that accept a body; for others the method is refused without reading it. */
const TAKES_BODY = new RegExp(`^${SCIM_BASE}/(Users|Groups|Me|Bulk)(/|$)`);

/** The library also accepts `application/scim+json` as JSON. */
const readJson = bodyParser({
  enableTypes: ['json'],
  jsonLimit: LARGEST_BODY,
  onError: (error) => {
    const isTooLarge = 'type' in error && error.type === 'entity.too.large';
    throw isTooLarge
      ? new ScimError(413, undefined, `A body has at most ${LARGEST_BODY} bytes`)
      : badRequest('invalidSyntax', 'The body is not a JSON object');
  },
});

/** @returns a middleware that answers everything under /scim/v2 and leaves the rest to the next */
export function scimServer(services: Services): Middleware {
  const limit = rateLimit(services, CALLS_PER_MINUTE);
  return async (ctx, next) => {
    if (ctx.path !== SCIM_BASE && !ctx.path.startsWith(`${SCIM_BASE}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    try {
      const caller = await authenticate(ctx, services);
      await limit.count(ctx, caller?.tokenId ?? networkOfCaller(ctx, services));
      if (caller === undefined) throw unauthorized(ctx);
      if (WRITES.has(ctx.method) && TAKES_BODY.test(ctx.path)) await readBody(ctx);
      await route(ctx, services, caller);
    } catch (error) {
      respondWithScimError(ctx, await toScimError(services, ctx, error));
    }
  };
}

async function authenticate(ctx: Context, services: Services): Promise<ScimCaller | undefined> {
  const token = BEARER.exec(ctx.get('Authorization'))?.[1];
  const bearer = token === undefined ? undefined : await authenticateScimToken(services, token);
  if (bearer === undefined) return undefined;
  const { tokenId, orgId, userId, login, roles } = bearer;
  return { tokenId, orgId, request: { actor: { id: userId, type: 'User', displayName: login }, roles, ...callOrigin(ctx, services) } };
}

/** RFC 6750 section 3: the response to a request without a token has no error code. */
function unauthorized(ctx: Context): ScimError {
  const challenge = ctx.get('Authorization') === '' ? 'Bearer' : 'Bearer error="invalid_token"';
  return new ScimError(
    401,
    undefined,
    'The token is missing, unknown, expired or of another type. Make one of type SCIM in the console under API, Token',
    {
      'WWW-Authenticate': challenge,
    },
  );
}

async function readBody(ctx: Context): Promise<void> {
  if (!ctx.is('application/json', 'application/scim+json'))
    throw new ScimError(415, undefined, 'The Content-Type must be application/scim+json');
  await readJson(ctx, async () => {});
  // U+FFFD replaces bytes that are not valid UTF-8 (RFC 8259 section 8.1).
  if (ctx.request.rawBody?.includes('\ufffd')) throw badRequest('invalidSyntax', 'The body is not in UTF-8');
}

async function route(ctx: Context, services: Services, caller: ScimCaller): Promise<void> {
  const path = ctx.path.slice(SCIM_BASE.length);
  if (path === '/Bulk') {
    if (ctx.method !== 'POST') throw notAllowed('POST');
    return send(ctx, 200, await executeBulk(services, caller, ctx.request.body, (error) => toScimError(services, ctx, error)));
  }
  const request: ScimRequest = {
    method: ctx.method,
    path,
    query: ctx.query,
    body: ctx.request.body,
    ifMatch: ctx.get('If-Match') || undefined,
    ifNoneMatch: ctx.get('If-None-Match') || undefined,
  };
  const { status, body, headers = {} } = await handleScim(services, caller, request);
  ctx.set(headers);
  send(ctx, status, body);
}

function send(ctx: Context, status: number, body: unknown): void {
  ctx.status = status;
  if (body === undefined) return;
  ctx.body = JSON.stringify(body);
  ctx.type = 'application/scim+json; charset=utf-8';
}

async function toScimError(services: Services, ctx: Context, error: unknown): Promise<ScimError> {
  if (error instanceof ScimError) return error;
  await countElsewhere(services, error);
  const names = error instanceof ApiError ? namesOfFields(await currentUserType(services)) : new Map<string, string>();
  if (error instanceof ApiError) return asScimError(error, names);
  services.log.error({ err: error, requestId: ctx.state.requestId }, 'a SCIM request failed');
  return asScimError(isUnavailable(error) ? unavailable() : internal(), names);
}

function respondWithScimError(ctx: Context, error: ScimError): void {
  ctx.set(error.headers);
  send(ctx, error.status, errorBody(error));
}
