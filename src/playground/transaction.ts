/**
 * What the playground must remember between the authorization request and its response (OpenID Connect Core 1.0 section 3.1.2.1:
 * state and nonce; RFC 7636 section 4.1: the code verifier). The browser keeps it, sealed: a JWE (RFC 7516, `dir`, A256GCM) in one
 * cookie per state, so that two tabs do not disturb each other. Nothing of it is stored in the service.
 */
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type Koa from 'koa';
import { z } from 'zod';
import { epochSeconds, present } from '../clock.ts';

const LIFETIME_SECONDS = 600;
/** Sign-ins begun and never finished: more than these would only make the Cookie header grow until Node refuses it. */
const KEPT = 5;
const COOKIE = 'gatehouse_playground_';
const STATE = /^[A-Za-z0-9_-]{43}$/;

/** The authorization servers one can sign in at. */
export const serverId = z.enum(['built-in', 'default']);
export type ServerId = z.infer<typeof serverId>;

const transaction = z.object({ server: serverId, state: z.string().regex(STATE), nonce: z.string(), codeVerifier: z.string() });
export type Transaction = z.infer<typeof transaction>;

/** @param key 32 bytes @returns a compact JWE that opens for ten minutes */
export function sealTransaction(content: Transaction, key: Uint8Array): Promise<string> {
  return new EncryptJWT({ ...content })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setExpirationTime(epochSeconds() + LIFETIME_SECONDS)
    .encrypt(key);
}

/** @returns undefined when the value is expired, altered, or sealed under another key */
export async function openTransaction(sealed: string, key: Uint8Array): Promise<Transaction | undefined> {
  try {
    const { payload } = await jwtDecrypt(sealed, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      requiredClaims: ['exp'],
      currentDate: present(),
    });
    return transaction.parse(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** The sign-ins under way in one browser. */
export interface Transactions {
  /** Gives the browser a transaction to keep, and takes the oldest away when it keeps too many. */
  remember(ctx: Koa.Context, content: Transaction): Promise<void>;
  /** Takes back the transaction of a state; it is not there a second time. */
  take(ctx: Koa.Context, state: unknown): Promise<Transaction | undefined>;
}

/** @param options.key 32 bytes @param options.secure is the service reached by https? */
export function transactionCookies({ key, secure }: { key: Uint8Array; secure: boolean }): Transactions {
  // The value authenticates itself; a signature cookie beside it would say nothing more.
  const attributes = { path: '/playground', httpOnly: true, sameSite: 'lax', secure, signed: false, overwrite: true } as const;
  const write = (ctx: Koa.Context, name: string, value: string | null): void => {
    ctx.cookies.secure = secure;
    ctx.cookies.set(name, value, value === null ? attributes : { ...attributes, maxAge: LIFETIME_SECONDS * 1000 });
  };

  return {
    async remember(ctx, content) {
      // Browsers send the oldest first (RFC 6265 section 5.4).
      const kept = [...ctx.get('cookie').matchAll(/gatehouse_playground_[A-Za-z0-9_-]+(?==)/g)].map(([name]) => name);
      for (const name of kept.slice(0, -(KEPT - 1))) write(ctx, name, null);
      write(ctx, COOKIE + content.state, await sealTransaction(content, key));
    },
    async take(ctx, state) {
      if (typeof state !== 'string' || !STATE.test(state)) return undefined;
      const sealed = ctx.cookies.get(COOKIE + state, { signed: false });
      if (sealed === undefined) return undefined;
      write(ctx, COOKIE + state, null);
      const content = await openTransaction(sealed, key);
      return content?.state === state ? content : undefined;
    },
  };
}
