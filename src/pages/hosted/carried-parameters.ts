/**
 * Parameters carried between pages of a sign-in: the application, so that an expired page still links back, and the chosen language. Both are read
 * only as IDs of registered objects, never as addresses.
 */
import type Koa from 'koa';
import { LANGUAGE_PARAMETER } from '../../platform/i18n/page-language.ts';

/** The parameter that names the application by its client_id. */
export const APPLICATION_PARAMETER = 'application';

/** @returns the parameter's value if it occurs once */
export function parameterOf(ctx: Koa.Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @param address without a query @returns the address with the carried parameters of the request */
export function withCarriedParameters(ctx: Koa.Context, address: string): string {
  const carried = new URLSearchParams();
  for (const name of [APPLICATION_PARAMETER, LANGUAGE_PARAMETER]) {
    const value = parameterOf(ctx, name);
    if (value !== undefined) carried.set(name, value);
  }
  return carried.size === 0 ? address : `${address}${address.includes('?') ? '&' : '?'}${carried}`;
}

/** The domain of the user name because of which the user is redirected to an identity provider. */
export const DOMAIN_PARAMETER = 'domain';

/** @param address where a sign-in at an identity provider starts @param domain absent: not because of a domain */
export const beginningAt = (address: string, domain: string | undefined): string =>
  domain === undefined ? address : `${address}?${new URLSearchParams({ [DOMAIN_PARAMETER]: domain })}`;

/** Page for second factors, passkeys and connected accounts. */
export const SECURITY_PAGE = '/account/security';
