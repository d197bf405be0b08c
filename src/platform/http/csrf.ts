/**
 * Refuses forms that another site posts in the user's name: by Origin and Fetch Metadata for all hosted pages, and by a token bound to the
 * browser for forms without an interaction or session (sign-in and logout; login CSRF, OAuth 2.0 Security BCP RFC 9700 section 4.7 and
 * OpenID Connect RP-Initiated Logout 1.0 section 6).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { Config } from '../config/config.ts';
import { type Keyring, randomToken } from '../crypto/secrets.ts';
import { cookieIn, writeCookie } from './cookies.ts';

/** The form does not come from a page that this service showed in this browser. */
export class ForgedForm extends Error {
  override readonly name = 'ForgedForm';
  /** `cross-site`: another site's page posted it. `token`: its token is missing or of another browser. */
  constructor(readonly reason: 'cross-site' | 'token') {
    super(`a form was refused: ${reason}`);
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Did a page of `origin` send the request, according to the browser? Browsers have sent Origin with every post since 2020. Without it,
 * Fetch Metadata decides. Without both, the caller is not a current browser and has no user's cookies.
 */
export function fromOwnPage(origin: string, sent: { readonly origin: string; readonly secFetchSite: string }): boolean {
  if (sent.origin !== '') return sent.origin === origin;
  return ['', 'same-origin', 'none'].includes(sent.secFetchSite);
}

/** Refuses changing requests from another site's pages. @throws {ForgedForm} */
export function refuseCrossSite(config: Config): Koa.Middleware {
  return (ctx, next) => {
    const sent = { origin: ctx.get('Origin'), secFetchSite: ctx.get('Sec-Fetch-Site') };
    if (!SAFE_METHODS.has(ctx.method) && !fromOwnPage(config.baseUrl, sent)) throw new ForgedForm('cross-site');
    return next();
  };
}

/** A hidden field of a form. */
export interface HiddenField {
  readonly name: string;
  readonly value: string;
}

/** Tokens that bind a form to its browser: a random cookie, and its HMAC in a hidden field. */
export interface FormTokens {
  /**
   * The hidden field for a form of this response; sets the cookie if it is missing.
   * @param owner the signed-in user of the form: other users of the browser cannot post it later
   */
  field(ctx: Koa.Context, owner?: string): HiddenField;
  /** @throws {ForgedForm} the form has no valid token of this browser and owner */
  verify(ctx: Koa.Context, form: URLSearchParams, owner?: string): void;
}

const FIELD = 'csrf';
const COOKIE = 'gatehouse-form';
const RANDOM_TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** @param keyring the same in all processes, because a form may be posted to another one */
export function createFormTokens(config: Config, keyring: Keyring): FormTokens {
  const keys = keyring.keysOf('gatehouse form tokens');
  const tokenOf = (key: Buffer, random: string, owner = ''): Buffer => createHmac('sha256', key).update(`${random}${owner}`).digest();
  /** Cookies set with this response: a page may have several forms. */
  const given = new WeakMap<Koa.Context, string>();
  const browsers = (ctx: Koa.Context): string | undefined => {
    const value = cookieIn(ctx, COOKIE, config.secure, '/');
    return value !== undefined && RANDOM_TOKEN.test(value) ? value : undefined;
  };

  return {
    field(ctx, owner) {
      const random = browsers(ctx) ?? given.get(ctx) ?? randomToken();
      given.set(ctx, random);
      // Lax, not Strict: after a link to the sign-in page, the cookie must remain valid for a form in another tab.
      writeCookie(ctx, config.secure, { name: COOKIE, value: random, path: '/' });
      return { name: FIELD, value: tokenOf(keys[0], random, owner).toString('base64url') };
    },
    verify(ctx, form, owner) {
      const random = browsers(ctx);
      const posted = Buffer.from(form.get(FIELD) ?? '', 'base64url');
      const isOurs = (key: Buffer): boolean => {
        const expected = tokenOf(key, random ?? '', owner);
        return posted.length === expected.length && timingSafeEqual(posted, expected);
      };
      if (random === undefined || !keys.some(isOurs)) throw new ForgedForm('token');
    },
  };
}
