/**
 * Completes responses of the OAuth endpoints: the promised JSON form, the challenge of RFC 6749 section 5.2 and RFC 6750 section 3, and the
 * commit of the request's writes before anything is sent.
 */
import type { ServerResponse } from 'node:http';
import { CIBA_GRANT, DEVICE_GRANT } from '../../features/policies/access-policy.policy.ts';
import { errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { type RequestState, requestStateOf } from '../storage/request-state.ts';
import type { ServerState } from '../storage/server-state.ts';
import { explainGrantError } from '../token/grant-errors.ts';
import { PROOF_ALGS } from '../token/proof-of-possession.ts';
import { GRANT_TYPES, ROUTES } from './endpoints.ts';
import { setRetryAfter } from './errors.ts';

// JSON responses of the OAuth endpoints, with or without oidc-provider.

/** RFC 6749 section 5.1: tokens and data about them must not be cached. */
const PROGRAM_HEADERS = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json;charset=UTF-8' } as const;

export function sendJson(res: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  for (const [name, value] of Object.entries(PROGRAM_HEADERS)) res.setHeader(name, value);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

/** RFC 7235 quoted-string: characters that could end it early are removed. */
const quoted = (text: unknown): string => `"${String(text ?? '').replace(/["\\\r\n]/g, '')}"`;

interface ErrorBody {
  error?: string;
  error_description?: string;
}

/** The body of an OAuth error; other errors become server_error without details. */
function errorBody(error: unknown): { status: number; body: ErrorBody } {
  if (error instanceof errors.OIDCProviderError && error.expose) {
    return {
      status: error.statusCode,
      body: { error: error.error, ...(error.error_description ? { error_description: error.error_description } : {}) },
    };
  }
  return {
    status: 500,
    body: { error: 'server_error', error_description: 'an unexpected error occurred. Search the log of the service for the request ID' },
  };
}

/**
 * Commits the request's writes. An error response issues no tokens and uses no code, but revokes stolen tokens that were detected.
 * @throws as ServerState.commit
 */
export async function commitWrites(ctx: KoaContextWithOIDC, server: ServerState): Promise<void> {
  const request = requestStateOf(ctx);
  if (request === undefined) return;
  if (ctx.status >= 400) discardTokens(request);
  // An application joins a session when it receives an authorization response. Refused applications get no logout notification.
  if (!request.writes.bySession) request.writes.sessionClients = [];
  await server.commit(request);
}

function discardTokens({ writes }: RequestState): void {
  writes.inserts = writes.inserts.filter(({ model }) => model === 'Session' || model === 'Interaction');
  writes.uses = [];
  writes.extensions = [];
  writes.notes = [];
  writes.events = [];
  writes.answers = writes.answers.filter(({ payload }) => payload.error !== undefined);
}

/** Answers a program with an error that oidc-provider has not reported itself. */
export function respondWithError(ctx: KoaContextWithOIDC, error: unknown): void {
  explainGrantError(ctx, error);
  const { status, body } = errorBody(error);
  setRetryAfter(ctx, status, error);
  ctx.status = status;
  ctx.body = body;
}

/** Brings the response of a program endpoint into the promised form. */
export function finishProgramResponse(ctx: KoaContextWithOIDC): void {
  ctx.set('Cache-Control', PROGRAM_HEADERS['Cache-Control']);
  // RFC 6749 section 5.1 requires it, although HTTP no longer needs it.
  if (ctx.path === ROUTES.token) ctx.set('Pragma', 'no-cache');
  // oidc-provider has answered some refusals itself.
  setRetryAfter(ctx, ctx.status);
  const body = ctx.body;
  if (typeof body !== 'object' || body === null) {
    // Empty responses have no type: client libraries reject any but JSON. A signed response keeps the type of its JWT.
    if (typeof body !== 'string' || body === '') ctx.remove('Content-Type');
    return;
  }
  const response = body as ErrorBody & { scope?: string };
  // Only the description names the scope.
  if (response.error !== undefined) delete response.scope;
  if (ctx.path === ROUTES.token || GRANT_OF[ctx.path] !== undefined) correctGrantTypeError(ctx, response);
  if (ctx.path === ROUTES.token && ctx.status === 200) response.scope ??= '';
  if (ctx.path === ROUTES.userinfo) {
    if (ctx.status === 403) ctx.set('Expires', '0');
    if (response.error !== undefined) {
      ctx.set('WWW-Authenticate', challenge(ctx, response));
    }
  } else if (response.error === 'invalid_client' && ctx.status === 401 && !ctx.response.get('WWW-Authenticate')) {
    ctx.set('WWW-Authenticate', `Basic realm=${quoted(ctx.oidc.issuer)}, error="invalid_client"`);
  }
  ctx.set(PROGRAM_HEADERS);
}

/** RFC 6750 section 3; for bound tokens RFC 9449 section 7.1: oidc-provider has chosen the scheme. */
function challenge(ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorBody): string {
  const isBound = String(ctx.response.get('WWW-Authenticate')).startsWith('DPoP ');
  const words = `error=${quoted(error)}, error_description=${quoted(description)}`;
  return isBound ? `DPoP ${words}, algs=${quoted(PROOF_ALGS.join(' '))}` : `Bearer ${words}`;
}

/** Grant that a request to these endpoints starts. */
const GRANT_OF: Readonly<Record<string, string>> = {
  [ROUTES.device_authorization]: DEVICE_GRANT,
  [ROUTES.backchannel_authentication]: CIBA_GRANT,
};

/** oidc-provider returns invalid_request where RFC 6749 section 5.2 requires unauthorized_client. */
function correctGrantTypeError(ctx: KoaContextWithOIDC, response: ErrorBody): void {
  // Missing if the request was refused before the library's route: a body that is too large or incomplete.
  const oidc: KoaContextWithOIDC['oidc'] | undefined = ctx.oidc;
  const grantType = GRANT_OF[ctx.path] ?? oidc?.params?.grant_type;
  const client = oidc?.client;
  if (response.error !== 'invalid_request' || client === undefined || typeof grantType !== 'string') return;
  if (GRANT_TYPES.has(grantType) && !client.grantTypeAllowed(grantType)) {
    response.error = 'unauthorized_client';
    response.error_description = 'the application may not use this grant type. Add it to its grant_types';
  }
}
