/** Signing in without an application, at `/signin`, and the page that a signed-in user lands on, at `/`. */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { fullName } from '../policy/claims.ts';
import { getUser } from '../services/users.ts';
import { accountLabel } from './interactions.ts';
import { pageLanguage } from './page-language.ts';
import type { House } from './routes.ts';
import { PASSWORD_AMR } from './sign-in.ts';
import { type SignInForm, showSignIn, submitSignIn } from './sign-in-form.ts';

/** Where sign-in leads: always the same page, never an address out of the query (an open redirect, RFC 9700 section 4.11). */
const AFTERWARDS = '/';

const formFor = (house: House, ctx: Koa.Context): SignInForm => ({
  action: '/signin',
  hidden: house.formTokens.field(ctx),
  notice: 'signed-out' in ctx.query ? 'sign-in.signed-out' : undefined,
});

/** GET /signin; the parameter `signed-out` says that a logout has just ended here. */
export async function signInPage(house: House, ctx: Koa.Context): Promise<void> {
  if ((await house.sessions.current(ctx.req, ctx.res)) === undefined) return showSignIn(house.pages, ctx, formFor(house, ctx));
  seeOther(ctx, AFTERWARDS);
}

/** POST /signin */
export async function receiveStandaloneSignIn(house: House, ctx: Koa.Context): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const account = await submitSignIn(house, ctx, formFor(house, ctx), form);
  if (account === undefined) return;
  await house.sessions.signIn(ctx.req, ctx.res, account.id, PASSWORD_AMR);
  seeOther(ctx, AFTERWARDS);
}

/** GET / */
export async function homePage(house: House, ctx: Koa.Context): Promise<void> {
  const session = await house.sessions.current(ctx.req, ctx.res);
  if (session === undefined) return seeOther(ctx, '/signin');
  const user = await getUser(house.services, session.accountId);
  const language = pageLanguage(ctx);
  const title = language.text('home.title');
  const account = accountLabel({ login: user.login, name: fullName(user.profile) ?? '' });
  const locals = {
    ...language,
    title,
    heading: title,
    account,
    playground: house.playgroundPresent(ctx.req),
    scripts: ['reload-when-stale.js'],
  };
  await house.pages.render(ctx, 'signed-in', locals);
}
