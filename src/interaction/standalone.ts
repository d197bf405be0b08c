/** Signing in without an application, at `/signin`, and the page that a signed-in user lands on, at `/`. */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { findPerson, isAdministrator } from '../services/administrators.ts';
import { accountLabel } from './interactions.ts';
import { pageLanguage } from './page-language.ts';
import type { House } from './routes.ts';
import { PASSWORD_AMR } from './sign-in.ts';
import { type SignInForm, showSignIn, submitSignIn } from './sign-in-form.ts';

/** Where sign-in leads: to the console or the start page, never to an address out of the query (an open redirect, RFC 9700 section 4.11). */
const afterwards = async (house: House, userId: string): Promise<string> =>
  (await isAdministrator(house.services, userId)) ? '/admin' : '/';

/** What has just ended here, by the parameter that says so. */
const NOTICES = [
  ['signed-out', 'sign-in.signed-out'],
  ['password-chosen', 'sign-in.password-chosen'],
] as const;

const formFor = (house: House, ctx: Koa.Context): SignInForm => ({
  action: '/signin',
  hidden: house.formTokens.field(ctx),
  notice: NOTICES.find(([parameter]) => parameter in ctx.query)?.[1],
});

/** GET /signin; a parameter may say what has just ended here, see NOTICES. */
export async function signInPage(house: House, ctx: Koa.Context): Promise<void> {
  const session = await house.sessions.current(ctx.req, ctx.res);
  if (session === undefined) return showSignIn(house.pages, ctx, formFor(house, ctx));
  seeOther(ctx, await afterwards(house, session.accountId));
}

/** POST /signin */
export async function receiveStandaloneSignIn(house: House, ctx: Koa.Context): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const account = await submitSignIn(house, ctx, formFor(house, ctx), form);
  if (account === undefined) return;
  await house.sessions.signIn(ctx.req, ctx.res, account.id, PASSWORD_AMR);
  seeOther(ctx, await afterwards(house, account.id));
}

/** GET / */
export async function homePage(house: House, ctx: Koa.Context): Promise<void> {
  const session = await house.sessions.current(ctx.req, ctx.res);
  const person = session && (await findPerson(house.services, session.accountId));
  if (person === undefined) return seeOther(ctx, '/signin');
  const language = pageLanguage(ctx);
  const title = language.text('home.title');
  const locals = {
    ...language,
    title,
    heading: title,
    account: accountLabel(person),
    console: person.roles.length > 0,
    playground: house.playgroundPresent(ctx.req),
    scripts: ['reload-when-stale.js'],
  };
  await house.pages.render(ctx, 'signed-in', locals);
}
