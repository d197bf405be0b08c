/** What is asked before somebody changes how he signs in: a sign-in not older than 15 minutes, with his second factor where he has one; and the way back from it. */
import type Koa from 'koa';
import { epochSeconds } from '../clock.ts';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { isMultiFactor } from '../policy/second-factor.ts';
import { isEnrolled } from '../services/factors.ts';
import type { BrowserSessions, InteractionDetails } from './interactions.ts';
import type { House } from './routes.ts';

export const SECURITY_PAGE = '/account/security';
/** Where a fresh sign-in is asked for; it leads back to the page. */
export const SIGN_IN_AFRESH = '/signin?security';

/** Seconds. */
const FRESH = 900;
const COOKIE = 'gatehouse-return';

export type Session = NonNullable<Awaited<ReturnType<BrowserSessions['current']>>>;

/** @param at epoch seconds, of the change @returns whether the session's user may change how he signs in */
export async function isFresh({ services }: House, { accountId, amr, signedInAt }: Session, at = epochSeconds()): Promise<boolean> {
  if (at - signedInAt > FRESH) return false;
  return isMultiFactor(amr) || !(await isEnrolled(services, accountId));
}

/** May a session that is to become stronger do so by a factor alone? Who has none would set one up, which a session of any age must not do. */
export const mayStepUp = async (
  { services }: House,
  { user, authenticatedAt }: NonNullable<InteractionDetails['stepUp']>,
): Promise<boolean> => epochSeconds() - authenticatedAt.getTime() / 1000 <= FRESH || isEnrolled(services, user.id);

/** Who changes how he signs in, and from where. */
type Change = (house: House, ctx: Koa.Context, session: Session, form: URLSearchParams) => Promise<void>;

/** Before each change: the form is this browser's, and its user signed in just now; else he is asked to. */
export const change =
  (run: Change) =>
  async (house: House, ctx: Koa.Context): Promise<void> => {
    const form = await readForm(ctx);
    house.formTokens.verify(ctx, form);
    const session = await house.sessions.current(ctx.req, ctx.res);
    if (session === undefined || !(await isFresh(house, session))) return seeOther(ctx, SIGN_IN_AFRESH);
    await run(house, ctx, session, form);
  };

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
