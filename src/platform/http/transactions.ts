/**
 * State that an application of this service keeps between authorization request and response (OpenID Connect Core 1.0 section 3.1.2.1: state and
 * nonce; RFC 7636 section 4.1: code verifier; and its own data). The browser stores it sealed, in one cookie per state, so that tabs do not
 * interfere.
 */

import type Koa from 'koa';
import { z } from 'zod';
import { type SealOptions, sealing } from '../crypto/sealed.ts';
import { prefixed } from './cookies.ts';

/** Lifetime of the browser's state of a sign-in, in seconds. */
export const TRANSACTION_SECONDS = 600;

/** Maximum pending sign-ins: more would make the Cookie header grow until Node refuses it. */
const KEPT = 5;
const STATE = /^[A-Za-z0-9_-]{43}$/;

/** Fields of every transaction. */
export const transactionFields = { state: z.string().regex(STATE), nonce: z.string(), codeVerifier: z.string() };

/** The pending sign-ins of one browser. */
export interface Transactions<T> {
  /** Stores a transaction in the browser, and removes the oldest if there are too many. */
  remember(ctx: Koa.Context, content: T): Promise<void>;
  /** Returns and removes the transaction of a state. */
  take(ctx: Koa.Context, state: string | null): Promise<T | undefined>;
  /** The newest transaction, without removing it. */
  latest(ctx: Koa.Context): Promise<T | undefined>;
}

export interface TransactionOptions<T> extends Omit<SealOptions<T>, 'seconds'> {
  /** Start of the cookies' names, before the state: letters, digits, hyphen, underscore. */
  readonly prefix: string;
  /** Path of the application. */
  readonly path: string;
  /** Is the service accessed by https? */
  readonly secure: boolean;
}

export function transactionCookies<T extends { readonly state: string }>(options: TransactionOptions<T>): Transactions<T> {
  const { path, secure } = options;
  const prefix = prefixed(options.prefix, secure, path);
  const sealed = sealing({ ...options, seconds: TRANSACTION_SECONDS });
  const names = new RegExp(`(?<![^;\\s])${prefix}([A-Za-z0-9_-]+)(?==)`, 'g');
  // The value is authenticated; a signature cookie would be redundant.
  const attributes = { path, httpOnly: true, sameSite: 'lax', secure, signed: false, overwrite: true } as const;
  const write = (ctx: Koa.Context, name: string, value: string | null): void => {
    ctx.cookies.secure = secure;
    ctx.cookies.set(name, value, value === null ? attributes : { ...attributes, maxAge: TRANSACTION_SECONDS * 1000 });
  };
  /** Browsers send the oldest first (RFC 6265 section 5.4). */
  const kept = (ctx: Koa.Context): string[] => [...ctx.get('cookie').matchAll(names)].map(([, state = '']) => state);
  const read = async (ctx: Koa.Context, state: string | null | undefined): Promise<T | undefined> => {
    const value = typeof state === 'string' && STATE.test(state) ? ctx.cookies.get(prefix + state, { signed: false }) : undefined;
    const content = value === undefined ? undefined : await sealed.open(value);
    return content?.state === state ? content : undefined;
  };

  return {
    async remember(ctx, content) {
      for (const state of kept(ctx).slice(0, -(KEPT - 1))) write(ctx, prefix + state, null);
      write(ctx, prefix + content.state, await sealed.seal(content));
    },
    async take(ctx, state) {
      const content = await read(ctx, state);
      if (content !== undefined) write(ctx, prefix + content.state, null);
      return content;
    },
    latest: (ctx) => read(ctx, kept(ctx).at(-1)),
  };
}
