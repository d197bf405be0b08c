/**
 * The cookie of a browser that users trust: a random token for each of them, the newest first. A token replaces a second factor for its user alone, and is
 * new each time, so that the user of a shared browser knows no token that another user gets later.
 */
import type Koa from 'koa';
import type { Config } from '../config/config.ts';
import { prefixed } from './cookie-names.ts';

const NAME = 'gatehouse-trusted';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Users of one browser. */
const MOST_TOKENS = 5;
const DAY_MS = 86_400_000;

/** @returns the browser's tokens, at most five */
export function trustTokensOf(ctx: Koa.Context, { secure }: Pick<Config, 'secure'>): readonly string[] {
  const value = ctx.cookies.get(prefixed(NAME, secure, '/'), { signed: false }) ?? '';
  return value
    .split('.')
    .filter((token) => TOKEN.test(token))
    .slice(0, MOST_TOKENS);
}

/** Adds a token to those of the browser. @param days that the browser keeps it */
export function keepTrustToken(ctx: Koa.Context, config: Pick<Config, 'secure'>, token: string, days: number): void {
  const { secure } = config;
  const tokens = [token, ...trustTokensOf(ctx, config)].slice(0, MOST_TOKENS);
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  const attributes = { signed: false, httpOnly: true, secure, sameSite: 'lax', path: '/', overwrite: true } as const;
  ctx.cookies.set(prefixed(NAME, secure, '/'), tokens.join('.'), { ...attributes, maxAge: days * DAY_MS });
}
