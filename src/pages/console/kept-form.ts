/**
 * A posted form whose sender must sign in first: sealed in a cookie until they return to its page, where it is shown again with its values. It is
 * bound to the console's user and to one page. Secrets are dropped, as everywhere (form.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type Koa from 'koa';
import { z } from 'zod';
import { sealing } from '../../platform/crypto/sealed.ts';
import type { Keys } from '../../platform/crypto/secrets.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';

/** Same as the time limit of a sign-in. */
const SECONDS = 900;
const COOKIE = 'gatehouse-console-form';
const PATH = '/admin';
/** Browsers keep cookies of 4,096 octets, name included. */
const LONGEST = 3900;
/** Forms are never longer (platform/http/forms.ts), so a cookie does not decompress to more. */
const MOST_OCTETS = 65_536;

const kept = z.object({ userId: z.string(), path: z.string(), packed: z.string() });

export interface StoredForms {
  /** @returns was it short enough to be stored? */
  keep(ctx: Koa.Context, userId: string, form: URLSearchParams): Promise<boolean>;
  /** @returns the stored form of this page, and removes it */
  take(ctx: Koa.Context, userId: string): Promise<URLSearchParams | undefined>;
}

/** @param options.secure is the service reached by https? */
export function keptForms({ keys, secure }: { readonly keys: Keys; readonly secure: boolean }): StoredForms {
  const sealed = sealing({ kind: 'console-form', schema: kept, keys, seconds: SECONDS });
  const write = (ctx: Koa.Context, value: string | null): void => writeCookie(ctx, secure, { name: COOKIE, value, path: PATH });
  return {
    async keep(ctx, userId, form) {
      const packed = deflateRawSync(form.toString()).toString('base64url');
      if (packed.length > LONGEST) return false;
      const value = await sealed.seal({ userId, path: ctx.path, packed });
      if (value.length > LONGEST) return false;
      write(ctx, value);
      return true;
    },
    async take(ctx, userId) {
      const value = cookieIn(ctx, COOKIE, secure, PATH);
      const found = value === undefined ? undefined : await sealed.open(value);
      if (found === undefined || found.path !== ctx.path) return undefined;
      write(ctx, null);
      if (found.userId !== userId) return undefined;
      return new URLSearchParams(inflateRawSync(Buffer.from(found.packed, 'base64url'), { maxOutputLength: MOST_OCTETS }).toString());
    },
  };
}
