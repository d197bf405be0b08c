/**
 * Security headers of every response that a browser may show: OWASP Secure Headers Project, Content Security Policy level 3, RFC 6797
 * (HSTS). OAuth endpoints set their own.
 */

import type Koa from 'koa';
import helmet from 'koa-helmet';
import { LRUCache } from 'lru-cache';
import { atMost } from '../cache/cache.ts';
import type { Config } from '../config/config.ts';

/** Sources that one page needs in addition to the shared strict policy; CSP level 3, section 2.3.1. */
export interface PageSources {
  /**
   * Allowed targets of the page's form besides the service itself. Chromium applies `form-action` to all redirects after a post, so pages of a
   * sign-in list the origin of the application's validated redirect URI (`https://app.example`), or the scheme of a native application
   * (`com.example.app:`).
   */
  readonly formAction?: readonly string[];
  /** Origins of images, e.g. of an application's logo. */
  readonly images?: readonly string[];
  /** Can its scripts call this service? */
  readonly connects?: boolean;
}

/** No page needs these features; `publickey-credentials-get` stays allowed for passkeys. */
const PERMISSIONS_POLICY = 'camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()';

/**
 * Paths of the steps of an authorization request. An application may have opened it in a popup, and the popup keeps its opener only if
 * every page and redirect on the way has the application's own policy, usually none (HTML section 7.1.3). The last two are relative to an
 * authorization server's base.
 */
const AUTHORIZATION_STEP = /^\/(interaction|authorize|logout)(\/|$)/;

/** These middlewares have no successor. */
const noNext = async (): Promise<void> => undefined;

/** The headers of all responses, without the content security policy. */
function commonHeaders(config: Config): Koa.Middleware {
  const apply = helmet({
    contentSecurityPolicy: false,
    crossOriginOpenerPolicy: false,
    // `no-referrer` would make browsers post forms with `Origin: null`, and csrf.ts would refuse them.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: config.secure && { maxAge: 31_536_000, includeSubDomains: false },
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: { action: 'deny' },
    xPermittedCrossDomainPolicies: false,
  });
  return async (ctx, next) => {
    ctx.set('Permissions-Policy', PERMISSIONS_POLICY);
    ctx.set('Cross-Origin-Opener-Policy', AUTHORIZATION_STEP.test(ctx.path) ? 'unsafe-none' : 'same-origin-allow-popups');
    await apply(ctx, next);
  };
}

/** A host that the policy's grammar does not allow, e.g. with a semicolon, is omitted; the page is still shown. */
const isHostSource = (origin: string): boolean => /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin);

/** CSP level 3 (section 2.3.1, host-source) does not allow IPv6 addresses, and browsers ignore them: the scheme is used instead. */
const formTarget = (origin: string): string => (origin.includes('//[') ? new URL(origin).protocol : origin);

const isFormTarget = (source: string): boolean => isHostSource(source) || /^[a-z][a-z0-9+.-]*:$/i.test(source);

const policyFor = ({ formAction = [], images = [], connects = false }: PageSources): Koa.Middleware =>
  helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'style-src': ["'self'"],
      'script-src': ["'self'"],
      'img-src': ["'self'", 'data:', ...images.filter(isHostSource)],
      'font-src': ["'none'"],
      ...(connects && { 'connect-src': ["'self'"] }),
      'form-action': ["'self'", ...formAction.map(formTarget).filter(isFormTarget)],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  });

/** Cached for each set of sources: most pages of an application have the same ones. */
const policies = new LRUCache<string, Koa.Middleware>(atMost(200));

function contentSecurityPolicy(sources: PageSources): Koa.Middleware {
  const { formAction, images, connects } = sources;
  const key = JSON.stringify([formAction, images, connects]);
  const built = policies.get(key) ?? policyFor(sources);
  policies.set(key, built);
  return built;
}

/**
 * The policy of the documentation pages. VitePress adds small scripts and styles to them and fetches the search index.
 * @param scripts hashes of the page's inline scripts, base64 of SHA-256 (CSP level 3, section 2.3.1)
 */
export const documentationPolicy = (scripts: readonly string[]): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${scripts.map((hash) => `'sha256-${hash}'`).join(' ')}`.trim(),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** For all responses except those of OAuth endpoints; a page replaces the content security policy. */
export function securityHeaders(config: Config): Koa.Middleware {
  const common = commonHeaders(config);
  const policy = contentSecurityPolicy({});
  return (ctx, next) => common(ctx, () => policy(ctx, next));
}

/**
 * For one page.
 * @returns a function that sets all security headers of a page
 * @throws if a source cannot be part of a policy, e.g. contains a semicolon
 */
export function pageHeaders(config: Config): (ctx: Koa.Context, sources: PageSources) => Promise<void> {
  const common = commonHeaders(config);
  return async (ctx, sources) => {
    await common(ctx, noNext);
    await contentSecurityPolicy(sources)(ctx, noNext);
  };
}
