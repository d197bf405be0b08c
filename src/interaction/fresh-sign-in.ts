/** What is asked before somebody changes how he signs in: a sign-in not older than 15 minutes, with his second factor where he has one; and the way back from it. */
import type Koa from 'koa';
import { epochSeconds } from '../clock.ts';
import { isMultiFactor } from '../policy/second-factor.ts';
import { isEnrolled } from '../services/factors.ts';
import type { BrowserSessions } from './interactions.ts';
import type { House } from './routes.ts';

export const SECURITY_PAGE = '/account/security';
/** Where a fresh sign-in is asked for; it leads back to the page. */
export const SIGN_IN_AFRESH = '/signin?security';

/** Seconds. */
const FRESH = 900;
const COOKIE = 'gatehouse-return';

export type Session = NonNullable<Awaited<ReturnType<BrowserSessions['current']>>>;

/** @returns whether the session's user may change how he signs in */
export async function isFresh({ services }: House, { accountId, amr, signedInAt }: Session): Promise<boolean> {
  if (epochSeconds() - signedInAt > FRESH) return false;
  return isMultiFactor(amr) || !(await isEnrolled(services, accountId));
}

/** Does the sign-in at `/signin` lead to the page? Noted when its address says so, for the steps that follow. */
export function leadsToSecurity({ config }: House, ctx: Koa.Context): boolean {
  if (!('security' in ctx.query)) return ctx.cookies.get(COOKIE, { signed: false }) === 'security';
  keep(ctx, config.secure, 'security', FRESH);
  return true;
}

/** The sign-in has led there. */
export const forgetWayToSecurity = ({ config }: House, ctx: Koa.Context): void => keep(ctx, config.secure, '', 0);

/** @param seconds 0: takes the cookie away */
function keep(ctx: Koa.Context, secure: boolean, value: string, seconds: number): void {
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  ctx.cookies.set(COOKIE, value, {
    signed: false,
    httpOnly: true,
    secure,
    sameSite: 'lax',
    path: '/signin',
    maxAge: seconds * 1000,
    overwrite: true,
  });
}
