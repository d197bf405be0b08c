/**
 * Requires a session and a sign-in within the last 15 minutes, with the second factor of users who have one, before users see their own
 * pages or change how they sign in. Also defines the target after the sign-in.
 */

import type Koa from 'koa';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import type { BrowserSessions } from '../../pages/hosted/sessions.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { isEnrolled } from '../second-factors/factors.service.ts';
import { findUser } from '../users/users.service.ts';
import { FRESH, isFreshSignIn } from './fresh-sign-in.service.ts';
import type { FirstStep } from './sign-in.service.ts';

export const ACCOUNT = '/account';

/** The account pages that a sign-in can return to; '' is the first. */
const ACCOUNT_PAGES = [
  '',
  'profile',
  'password',
  'security',
  'sessions',
  'permissions',
  'requests',
  'activity',
  'data',
  'invitation',
] as const;
export type AccountPage = (typeof ACCOUNT_PAGES)[number];

/** A page to return to after a sign-in: an account page, or a sign-in request of an application. */
type ReturnPage = AccountPage | `requests?code=${string}`;
const SIGN_IN_REQUEST = /^requests\?code=[A-Z0-9]{26}$/;
const isReturnPage = (page: string | undefined): page is ReturnPage =>
  page !== undefined && (ACCOUNT_PAGES.some((each) => each === page) || SIGN_IN_REQUEST.test(page));

export const addressOfPage = (page: ReturnPage): string => (page === '' ? ACCOUNT : `${ACCOUNT}/${page}`);

/** URL of a sign-in that returns to the page. @param query of the page; kept if it contains a sign-in request */
export function signInFor(page: AccountPage, query = ''): string {
  const withQuery = `${page}?${query}`;
  return `/signin?${PARAMETER}=${encodeURIComponent(isReturnPage(withQuery) ? withQuery : page)}`;
}

const COOKIE = 'gatehouse-return';
const PARAMETER = 'account';
/** Cookie value of the first page. */
const FIRST = 'applications';

export type SignedInSession = NonNullable<Awaited<ReturnType<BrowserSessions['current']>>>;

/** Is a factor enough to strengthen this session? A user without one would have to enrol one, which needs a recent sign-in. */
export const mayStepUp = async (
  { services }: HostedDeps,
  { user, amr, authenticatedAt }: Pick<FirstStep, 'amr' | 'authenticatedAt'> & { readonly user: { readonly id: string } },
): Promise<boolean> => epochSeconds() - authenticatedAt.getTime() / 1000 <= FRESH || isEnrolled(services, user.id, amr);

/** A change by a signed-in user. */
type Change<H extends HostedDeps> = (deps: H, ctx: Koa.Context, session: SignedInSession, form: URLSearchParams) => Promise<void>;

const receiving =
  <H extends HostedDeps>(isGoodEnough: (deps: H, session: SignedInSession) => Promise<boolean>, run: Change<H>, page: AccountPage) =>
  async (deps: H, ctx: Koa.Context): Promise<void> => {
    const form = await readForm(ctx);
    const session = await deps.sessions.current(ctx.req, ctx.res);
    if (session === undefined) return seeOther(ctx, signInFor(page));
    deps.formTokens.verify(ctx, form, session.accountId);
    if (!(await isGoodEnough(deps, session))) return seeOther(ctx, signInFor(page));
    await run(deps, ctx, session, form);
  };

/**
 * Guards changes of a user's sign-in methods: the form belongs to this browser and user, and they have just signed in; otherwise they must sign in
 * again.
 * @param page to return to
 */
export const change = <H extends HostedDeps>(run: Change<H>, page: AccountPage = 'security') => receiving<H>(isFreshSignIn, run, page);

/** Guards other changes of a user's own data: the form belongs to this browser and user, and they are signed in. */
export const ownChange = <H extends HostedDeps>(run: Change<H>, page: AccountPage) => receiving<H>(async () => true, run, page);

/** @returns the account page after a sign-in at `/signin`. Stored if the URL contains it, for the following steps. */
export function pageAfterSignIn({ config }: HostedDeps, ctx: Koa.Context): ReturnPage | undefined {
  const { [PARAMETER]: named } = ctx.query;
  const wanted = typeof named === 'string' ? named : cookieIn(ctx, COOKIE, config.secure, '/signin')?.replace(FIRST, '');
  if (!isReturnPage(wanted)) return undefined;
  if (typeof named === 'string') keep(ctx, config.secure, wanted === '' ? FIRST : wanted, FRESH);
  return wanted;
}

/** @returns the signed-in user who must sign in again for a change; undefined: an ordinary sign-in */
export async function reauthentication(
  deps: HostedDeps,
  ctx: Koa.Context,
): Promise<{ readonly login: string; readonly back: string } | undefined> {
  const page = pageAfterSignIn(deps, ctx);
  const session = page === undefined ? undefined : await deps.sessions.current(ctx.req, ctx.res);
  if (page === undefined || session === undefined || (await isFreshSignIn(deps, session))) return undefined;
  const user = await findUser(deps.services.database, session.accountId);
  return user && { login: user.login, back: addressOfPage(page) };
}

/** Removes the stored page after the redirect to it. */
export const forgetPageAfterSignIn = ({ config }: HostedDeps, ctx: Koa.Context): void => keep(ctx, config.secure, '', 0);

/** @param seconds 0: deletes the cookie */
const keep = (ctx: Koa.Context, secure: boolean, value: string, seconds: number): void =>
  writeCookie(ctx, secure, { name: COOKIE, value, path: '/signin', seconds });
