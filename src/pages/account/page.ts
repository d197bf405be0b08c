/** An account page: access, and the shared frame with the menu and the links to the console and to the application that the user came from. */

import type Koa from 'koa';
import { isAdministrator } from '../../features/administrators/administrators.service.ts';
import { fullName } from '../../features/claims/claims.policy.ts';
import { ACCOUNT, type AccountPage, addressOfPage, type SignedInSession, signInFor } from '../../features/sign-in/fresh-sign-in.hosted.ts';
import type { User } from '../../features/users/users.resource.ts';
import { findUser } from '../../features/users/users.service.ts';
import { zoneOfProfile } from '../../platform/clock/time-zones.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { isMessageKey, type MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage, rememberRequestedLanguage } from '../../platform/i18n/page-language.ts';
import { timesIn } from '../../platform/i18n/times.ts';
import { APPLICATION_PARAMETER, parameterOf } from '../hosted/carried-parameters.ts';
import { accountLabel, type DrawInFrame, type FormProblem, webAddress } from '../hosted/page-models.ts';
import type { AccountDeps } from './account-deps.ts';

/** In the order of the menu. */
const MENU: readonly (readonly [AccountPage, MessageKey])[] = [
  ['', 'account.applications'],
  ['profile', 'account.profile'],
  ['password', 'account.password'],
  ['security', 'account.security'],
  ['sessions', 'account.sessions'],
  ['permissions', 'account.permissions'],
  ['requests', 'account.requests'],
  ['activity', 'account.activity'],
  ['data', 'account.data'],
];

const TITLES = Object.fromEntries(MENU) as Readonly<Record<AccountPage, MessageKey>>;

/** Request for an account page. */
export interface AccountRequest {
  readonly session: SignedInSession;
  readonly user: User;
}

export type Show = (deps: AccountDeps, ctx: Koa.Context, visit: AccountRequest) => Promise<void>;

/** Middleware of account pages: requires a sign-in and returns to the page. */
export const ownPage =
  (page: AccountPage, show: Show) =>
  async (deps: AccountDeps, ctx: Koa.Context): Promise<void> => {
    await noteOrigin(deps, ctx);
    const session = await deps.sessions.current(ctx.req, ctx.res);
    const user = session && (await findUser(deps.services.database, session.accountId));
    if (session === undefined || user === undefined) {
      rememberRequestedLanguage(ctx);
      return seeOther(ctx, signInFor(page, ctx.querystring));
    }
    await show(deps, ctx, { session, user });
  };

/** A change was refused, so its page is shown again. */
export async function showAgain(
  deps: AccountDeps,
  ctx: Koa.Context,
  page: AccountPage,
  session: SignedInSession,
  show: Show,
): Promise<void> {
  const user = await findUser(deps.services.database, session.accountId);
  if (user === undefined) return seeOther(ctx, signInFor(page));
  await show(deps, ctx, { session, user });
}

/** Redirects to the page after a change. @param done selects its message `account.done.<done>` */
export const redirectAfterChange = (ctx: Koa.Context, page: AccountPage, done?: string): void =>
  seeOther(ctx, done === undefined ? addressOfPage(page) : `${addressOfPage(page)}?done=${done}`);

export type { FormProblem };

/** For results of a change, e.g. recovery codes: in the frame of the page that follows. */
export const framedOn =
  (deps: AccountDeps, ctx: Koa.Context, page: AccountPage, session: SignedInSession): DrawInFrame =>
  (view, framing, locals) =>
    showAgain(deps, ctx, page, session, (_deps, _ctx, visit) => draw(deps, ctx, visit, view, { page, ...framing }, locals));

export interface Drawing {
  readonly page: AccountPage;
  /** Absent: the page's own name. */
  readonly heading?: string;
  readonly problems?: readonly FormProblem[] | undefined;
  /** HTTP status; absent: derived from the problems. */
  readonly status?: number | undefined;
  /** Origins of pictures. */
  readonly images?: readonly string[];
  readonly scripts?: readonly string[];
}

/** Answers with a page in the frame. @param locals of its view */
export async function draw(
  deps: AccountDeps,
  ctx: Koa.Context,
  { user }: AccountRequest,
  view: string,
  { page, heading, problems = [], status = problems.length > 0 ? 400 : 200, images = [], scripts = [] }: Drawing,
  locals: Record<string, unknown>,
): Promise<void> {
  const language = pageLanguage(ctx);
  const { text } = language;
  const title = heading ?? text(TITLES[page]);
  // Without one, pages show UTC, and with script the zone of the browser.
  const zone = zoneOfProfile(user.profile);
  const done = parameterOf(ctx, 'done');
  const key = `account.done.${done}`;
  const all = {
    ...language,
    title: status >= 400 ? text('error.title-prefix', { title }) : title,
    heading: title,
    menu: MENU.map(([each, label]) => ({ href: addressOfPage(each), label: text(label), current: each === page })),
    who: accountLabel({ login: user.login, name: fullName(user.profile) ?? '' }),
    console: await isAdministrator(deps.services, user.id),
    playground: deps.playgroundPresent(ctx.req),
    origin: await originOf(deps, ctx),
    notice: status === 200 && isMessageKey(key) ? text(key) : undefined,
    problems,
    hidden: deps.formTokens.field(ctx, user.id),
    stylesheets: ['frame.css', 'account.css'],
    time: timesIn(language.lang, zone).element,
    zone,
    scripts: ['reload-when-stale.js', ...(zone === undefined ? ['local-time.js'] : []), ...scripts],
    ...locals,
  };
  await deps.pages.render(ctx, view, all, { status, frame: 'account/frame', images });
}

const COOKIE = 'gatehouse-came-from';

/** Stores for this browser session which application the user came from. */
async function noteOrigin(deps: AccountDeps, ctx: Koa.Context): Promise<void> {
  const id = parameterOf(ctx, APPLICATION_PARAMETER);
  if (id === undefined || (await clientLinkOf(deps, id)) === undefined) return;
  writeCookie(ctx, deps.config.secure, { name: COOKIE, value: encodeURIComponent(id), path: ACCOUNT });
}

interface Origin {
  readonly label: string;
  readonly href: string;
}

/** @returns the application with its registered URL, never one from the query. On failure, the page is shown without the link back. */
async function clientLinkOf(deps: AccountDeps, id: string): Promise<Origin | undefined> {
  const found = id === '' ? undefined : await deps.wayBack(id).catch(() => undefined);
  const href = webAddress(found?.clientUri);
  return found === undefined || href === undefined ? undefined : { label: found.label, href };
}

/** @returns the application that the user came from */
const originOf = async (deps: AccountDeps, ctx: Koa.Context): Promise<Origin | undefined> =>
  (await clientLinkOf(deps, parameterOf(ctx, APPLICATION_PARAMETER) ?? '')) ??
  (await clientLinkOf(deps, decoded(cookieIn(ctx, COOKIE, deps.config.secure, ACCOUNT) ?? '')));

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}
