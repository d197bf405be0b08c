/**
 * What the playground must remember between the authorization request and its response (OpenID Connect Core 1.0 section 3.1.2.1:
 * state and nonce; RFC 7636 section 4.1: the code verifier; what was chosen). The browser keeps it, sealed, in one cookie per state, so that
 * two tabs do not disturb each other.
 */
import type Koa from 'koa';
import { z } from 'zod';
import { choices } from './choices.ts';
import { LIFETIME_SECONDS, type Seal, sealing } from './sealed.ts';

/** Sign-ins begun and never finished: more than these would only make the Cookie header grow until Node refuses it. */
const KEPT = 5;
const COOKIE = 'gatehouse_playground_';
const COOKIES = /gatehouse_playground_([A-Za-z0-9_-]+)(?==)/g;
const STATE = /^[A-Za-z0-9_-]{43}$/;

const transaction = z.object({ choices, state: z.string().regex(STATE), nonce: z.string(), codeVerifier: z.string() });
export type Transaction = z.infer<typeof transaction>;

/** @param key 32 bytes */
export const transactionSeal = (key: Uint8Array): Seal<Transaction> => sealing('playground-transaction', transaction, key);

/** The sign-ins under way in one browser. */
export interface Transactions {
  /** Gives the browser a transaction to keep, and takes the oldest away when it keeps too many. */
  remember(ctx: Koa.Context, content: Transaction): Promise<void>;
  /** Takes back the transaction of a state; it is not there a second time. */
  take(ctx: Koa.Context, state: string | null): Promise<Transaction | undefined>;
  /** The sign-in begun last, left where it is. */
  latest(ctx: Koa.Context): Promise<Transaction | undefined>;
}

/** @param options.key 32 bytes @param options.secure is the service reached by https? */
export function transactionCookies({ key, secure }: { key: Uint8Array; secure: boolean }): Transactions {
  const sealed = transactionSeal(key);
  // The value authenticates itself; a signature cookie beside it would say nothing more.
  const attributes = { path: '/playground', httpOnly: true, sameSite: 'lax', secure, signed: false, overwrite: true } as const;
  const write = (ctx: Koa.Context, name: string, value: string | null): void => {
    ctx.cookies.secure = secure;
    ctx.cookies.set(name, value, value === null ? attributes : { ...attributes, maxAge: LIFETIME_SECONDS * 1000 });
  };
  /** Browsers send the oldest first (RFC 6265 section 5.4). */
  const kept = (ctx: Koa.Context): string[] => [...ctx.get('cookie').matchAll(COOKIES)].map(([, state = '']) => state);
  const read = async (ctx: Koa.Context, state: string | null | undefined): Promise<Transaction | undefined> => {
    const value = typeof state === 'string' && STATE.test(state) ? ctx.cookies.get(COOKIE + state, { signed: false }) : undefined;
    const content = value === undefined ? undefined : await sealed.open(value);
    return content?.state === state ? content : undefined;
  };

  return {
    async remember(ctx, content) {
      for (const state of kept(ctx).slice(0, -(KEPT - 1))) write(ctx, COOKIE + state, null);
      write(ctx, COOKIE + content.state, await sealed.seal(content));
    },
    async take(ctx, state) {
      const content = await read(ctx, state);
      if (content !== undefined) write(ctx, COOKIE + content.state, null);
      return content;
    },
    latest: (ctx) => read(ctx, kept(ctx).at(-1)),
  };
}
