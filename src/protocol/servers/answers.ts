/**
 * The last word on an answer of the OAuth endpoints: JSON in exactly the form that is promised, the challenge of RFC 6749 section 5.2 and
 * RFC 6750 section 3, and the request's writes committed before anything leaves.
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

// JSON as the OAuth endpoints send it, whether oidc-provider has seen the request or not.

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

/** RFC 7235 quoted-string: what could end it early is left out. */
const quoted = (text: unknown): string => `"${String(text ?? '').replace(/["\\\r\n]/g, '')}"`;

interface ErrorBody {
  error?: string;
  error_description?: string;
}

/** An OAuth error as it is sent; anything that is not one is a server_error without details. */
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
 * Commits what the request wrote. An answer that is an error writes no tokens and uses no code, but ends what it found stolen.
 * @throws as ServerState.commit
 */
export async function commitWrites(ctx: KoaContextWithOIDC, server: ServerState): Promise<void> {
  const request = requestStateOf(ctx);
  if (request === undefined) return;
  if (ctx.status >= 400) discardTokens(request);
  // An application joins a session when it receives an authorization response. Refused applications get no logout notice.
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

/** Answers a program with an error that oidc-provider did not answer itself. */
export function answerWithError(ctx: KoaContextWithOIDC, error: unknown): void {
  explainGrantError(ctx, error);
  const { status, body } = errorBody(error);
  setRetryAfter(ctx, status, error);
  ctx.status = status;
  ctx.body = body;
}

/** Brings the answer of a program endpoint into the promised form. */
export function finishProgramAnswer(ctx: KoaContextWithOIDC): void {
  ctx.set('Cache-Control', PROGRAM_HEADERS['Cache-Control']);
  // RFC 6749 section 5.1; HTTP needs it no more.
  if (ctx.path === ROUTES.token) ctx.set('Pragma', 'no-cache');
  // Some refusals oidc-provider has answered itself.
  setRetryAfter(ctx, ctx.status);
  const body = ctx.body;
  if (typeof body !== 'object' || body === null) {
    // No content has no type: libraries take any but JSON for a wrong answer. A signed response keeps that of its JWT.
    if (typeof body !== 'string' || body === '') ctx.remove('Content-Type');
    return;
  }
  const answer = body as ErrorBody & { scope?: string };
  // The description names the scope, if at all.
  if (answer.error !== undefined) delete answer.scope;
  if (ctx.path === ROUTES.token || GRANT_OF[ctx.path] !== undefined) correctGrantTypeError(ctx, answer);
  if (ctx.path === ROUTES.token && ctx.status === 200) answer.scope ??= '';
  if (ctx.path === ROUTES.userinfo) {
    if (ctx.status === 403) ctx.set('Expires', '0');
    if (answer.error !== undefined) {
      ctx.set('WWW-Authenticate', challenge(ctx, answer));
    }
  } else if (answer.error === 'invalid_client' && ctx.status === 401 && !ctx.response.get('WWW-Authenticate')) {
    ctx.set('WWW-Authenticate', `Basic realm=${quoted(ctx.oidc.issuer)}, error="invalid_client"`);
  }
  ctx.set(PROGRAM_HEADERS);
}

/** RFC 6750 section 3; of a token that is bound to a key RFC 9449 section 7.1, by which oidc-provider chose the scheme. */
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

/** oidc-provider says invalid_request where RFC 6749 section 5.2 says unauthorized_client. */
function correctGrantTypeError(ctx: KoaContextWithOIDC, answer: ErrorBody): void {
  // Absent where the request was refused before the library's own route was entered: a body that is too large, or was cut off.
  const oidc: KoaContextWithOIDC['oidc'] | undefined = ctx.oidc;
  const grantType = GRANT_OF[ctx.path] ?? oidc?.params?.grant_type;
  const client = oidc?.client;
  if (answer.error !== 'invalid_request' || client === undefined || typeof grantType !== 'string') return;
  if (GRANT_TYPES.has(grantType) && !client.grantTypeAllowed(grantType)) {
    answer.error = 'unauthorized_client';
    answer.error_description = 'the application may not use this grant type. Add it to its grant_types';
  }
}
