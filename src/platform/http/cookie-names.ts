/** Names of cookies that no page of a sibling domain can write (RFC 6265bis section 4.1.3). */
import type Koa from 'koa';

/** @param path of the cookie: `__Host-` allows `/` alone */
export const prefixed = (name: string, secure: boolean, path: string): string =>
  secure ? `${path === '/' ? '__Host-' : '__Secure-'}${name}` : name;

/** @returns the value of the cookie of this name */
export const cookieIn = (ctx: Koa.Context, name: string, secure: boolean, path: string): string | undefined =>
  ctx.cookies.get(prefixed(name, secure, path), { signed: false });
