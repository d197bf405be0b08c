/** Credentials of a request: the Authorization header, and the token in the form or header of introspect, revoke and userinfo. */
import { parse } from 'node:querystring';
import type { Context } from 'koa';
import { requestStateOf } from '../storage/request-state.ts';
import { type AccessTokenFormat, looksLikeJwt } from '../token/access-token-format.ts';
import { readProtocolForm } from './form.ts';

/** @returns the token of `Authorization: Bearer …` (RFC 6750 section 2.1); undefined for anything else */
export const bearerToken = (header = ''): string | undefined => /^Bearer (\S+)$/i.exec(header)?.[1];

/** @returns the token of `Authorization: Bearer …` or `DPoP …` (RFC 9449 section 7.1); undefined for anything else */
const presentedToken = (header = ''): string | undefined => /^(?:Bearer|DPoP) (\S+)$/i.exec(header)?.[1];

/** @returns the decoded text of `Authorization: Basic …` (RFC 7617 section 2); undefined for anything else. Padding may be missing */
export function basicCredentials(header = ''): string | undefined {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header) ?? [];
  const decoded = Buffer.from(encoded, 'base64');
  const canonical = decoded.toString('base64');
  return encoded !== '' && [canonical, canonical.replace(/=+$/, '')].includes(encoded) ? decoded.toString('utf8') : undefined;
}

/** oidc-provider takes a body that was already read from here, and parses it itself. */
export function passRequestBody(ctx: Context, body: string): void {
  (ctx.req as typeof ctx.req & { body?: string }).body = body;
}

/** A public client can send its ID in the query of introspect. */
export const clientInQuery = ({ headers, query }: Context): string | undefined =>
  headers.authorization === undefined && typeof query.client_id === 'string' ? query.client_id : undefined;

/** okta-auth-js signs out with `Basic` and only the client_id, without a colon: a public client. */
export function clientInHeader({ headers }: Context): string | undefined {
  const credentials = basicCredentials(headers.authorization) ?? '';
  return /^[\x21-\x39\x3b-\x7e]+$/.test(credentials) ? credentials : undefined;
}

/**
 * Prepares a form that contains a token (RFC 7009, RFC 7662). oidc-provider finds tokens by their handle and refuses JWTs: a JWT access token is
 * verified and replaced by its handle before the library reads the request.
 * @param clientId of a public client that identifies itself elsewhere; used if the form contains none
 */
export async function prepareTokenForm(ctx: Context, format: AccessTokenFormat, clientId: string | undefined): Promise<void> {
  if (!ctx.is('application/x-www-form-urlencoded')) return;
  const body = await readProtocolForm(ctx);
  const form = parse(body);
  const namesClient = clientId !== undefined && form.client_id === undefined;
  if (namesClient) delete ctx.req.headers.authorization;
  const suffix = namesClient ? `&client_id=${encodeURIComponent(clientId)}` : '';

  const presented = typeof form.token === 'string' ? form.token : '';
  const handle = await format.handleOf(presented);
  if (handle === presented) {
    passRequestBody(ctx, body + suffix);
    return;
  }
  const others = body.split('&').filter((pair) => !/^token=/.test(pair));
  passRequestBody(ctx, `${[...others, `token=${encodeURIComponent(handle)}`].join('&')}${suffix}`);
  const request = requestStateOf(ctx);
  if (request !== undefined && looksLikeJwt(presented)) request.presentedJwt = presented;
}

/**
 * Prepares the access token of a userinfo request (RFC 6750 sections 2.1 and 2.2, RFC 9449 section 7.1). The request is unchanged, because
 * a DPoP proof contains the presented token; the handle is stored for the lookup.
 */
export async function prepareUserinfo(ctx: Context, format: AccessTokenFormat): Promise<void> {
  const { authorization = '' } = ctx.headers;
  // With another scheme, or without a value, the header contains no token (RFC 6750 section 3.1): 401, where oidc-provider returns 400.
  if (!/^(Bearer|DPoP) +\S/i.test(authorization)) delete ctx.req.headers.authorization;
  const tokens = [presentedToken(authorization)];
  if (ctx.method === 'POST' && ctx.is('application/x-www-form-urlencoded')) {
    const body = await readProtocolForm(ctx);
    const { access_token: inForm } = parse(body);
    if (typeof inForm === 'string') tokens.push(inForm);
    passRequestBody(ctx, typeof inForm === 'string' ? `access_token=${encodeURIComponent(inForm)}` : body);
  }
  for (const token of tokens) if (token !== undefined) requestStateOf(ctx)?.handles.set(token, await format.handleOf(token));
}
