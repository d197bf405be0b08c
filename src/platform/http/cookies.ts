/** Cookies of a browser: their names, the cookie of trusted browsers and the device cookie. */

import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import type { Config } from '../config/config.ts';
import { randomToken } from '../crypto/secrets.ts';

// Names of cookies that pages of a sibling domain cannot set (RFC 6265bis section 4.1.3).

/** @param path of the cookie: `__Host-` requires `/` */
export const prefixed = (name: string, secure: boolean, path: string): string =>
  secure ? `${path === '/' ? '__Host-' : '__Secure-'}${name}` : name;

interface WrittenCookie {
  /** Without its prefix. */
  readonly name: string;
  /** null or empty: deletes the cookie. */
  readonly value: string | null;
  readonly path: string;
  /** Absent: the cookie ends with the browser's session. */
  readonly seconds?: number;
}

/** Sets a cookie with HttpOnly and SameSite=Lax (RFC 6265bis section 4.1.2). @param secure is the service accessed by https? */
export function writeCookie(ctx: Koa.Context, secure: boolean, { name, value, path, seconds }: WrittenCookie): void {
  // The library refuses Secure cookies on a plain connection, as from a proxy that terminates TLS.
  ctx.cookies.secure = secure;
  const attributes = { signed: false, httpOnly: true, secure, sameSite: 'lax', path, overwrite: true } as const;
  const lifetime = seconds === undefined ? {} : { maxAge: seconds * 1000 };
  ctx.cookies.set(prefixed(name, secure, path), value, { ...attributes, ...lifetime });
}

/** @returns the value of the cookie of this name */
export const cookieIn = (ctx: Koa.Context, name: string, secure: boolean, path: string): string | undefined =>
  ctx.cookies.get(prefixed(name, secure, path), { signed: false });

// The cookie of a trusted browser: one random token per user, newest first. A token replaces the second factor of its user only, and is
// renewed on each use, so that a user of a shared browser never has another user's later token.

const TRUST_COOKIE = 'gatehouse-trusted';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Maximum users of one browser. */
const MOST_TOKENS = 5;
const DAY_SECONDS = 86_400;

/** @returns the browser's tokens, at most five */
export function trustTokensOf(ctx: Koa.Context, { secure }: Pick<Config, 'secure'>): readonly string[] {
  return (cookieIn(ctx, TRUST_COOKIE, secure, '/') ?? '')
    .split('.')
    .filter((token) => TOKEN.test(token))
    .slice(0, MOST_TOKENS);
}

/** Adds a token to those of the browser. @param days lifetime of the cookie */
export function keepTrustToken(ctx: Koa.Context, config: Pick<Config, 'secure'>, token: string, days: number): void {
  const tokens = [token, ...trustTokensOf(ctx, config)].slice(0, MOST_TOKENS);
  writeCookie(ctx, config.secure, { name: TRUST_COOKIE, value: tokens.join('.'), path: '/', seconds: days * DAY_SECONDS });
}

// The device cookie identifies a browser after a sign-in: random, for one year. It does not sign anyone in; wrong passwords from the
// browser are counted separately. Stored as a digest (OWASP Blocking Brute Force Attacks, "Device Cookies").

const DEVICE_COOKIE = 'gatehouse-device';

/** @returns the browser's value; undefined: it has none */
export function deviceOf(ctx: Koa.Context, config: Config): string | undefined {
  const value = cookieIn(ctx, DEVICE_COOKIE, config.secure, '/');
  return value !== undefined && TOKEN.test(value) ? value : undefined;
}

/** A value for a new browser. */
export const newDevice = (): string => randomToken();

const given = new WeakMap<IncomingMessage, string>();

/** @returns the browser's value, or for a new browser the value that it will get: the same for the whole request */
export function browserDevice(ctx: Koa.Context, config: Config): string {
  const device = deviceOf(ctx, config) ?? given.get(ctx.req) ?? newDevice();
  given.set(ctx.req, device);
  return device;
}

/** Sets the cookie for another year. */
export const keepDevice = (ctx: Koa.Context, config: Config, value: string): void =>
  writeCookie(ctx, config.secure, { name: DEVICE_COOKIE, value, path: '/', seconds: LIFETIMES.device });
