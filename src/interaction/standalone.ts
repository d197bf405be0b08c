/** Signing in without an application, at `/signin`; and the way in, at `/`. */
import type Koa from 'koa';
import { ACCOUNT, askedAnew, pageAfterSignIn } from '../hosted/fresh-sign-in.ts';
import type { MessageKey } from '../hosted/messages.ts';
import { signInForm } from '../hosted/passkey-ceremonies.ts';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { isFresh } from '../services/fresh-sign-in.ts';
import { currentSettings } from '../services/settings-cache.ts';
import { afterwards, continueByPassword, purposeOf, type StepReceiver, showPendingStep } from './continue-sign-in.ts';
import { forgottenPath } from './forgotten-password.ts';
import { PASSWORD_CHOSEN } from './left-sign-in.ts';
import type { House } from './routes.ts';
import { type SignInForm, showSignIn, submitSignIn } from './sign-in-form.ts';
import { providerLinks } from './upstream-links.ts';

/** What has just ended here, by the parameter that says so. */
const NOTICES = [
  ['signed-out', 'sign-in.signed-out'],
  [PASSWORD_CHOSEN, 'sign-in.password-chosen'],
] as const;

export async function formFor(house: House, ctx: Koa.Context): Promise<SignInForm> {
  const anew = await askedAnew(house, ctx);
  const ended = NOTICES.find(([parameter]) => parameter in ctx.query)?.[1];
  return {
    action: '/signin',
    hidden: house.formTokens.field(ctx),
    notice: anew === undefined ? ended : 'sign-in.once-more',
    username: anew?.login,
    back: anew?.back,
    forgotten: forgottenPath(house, ctx),
    identifierFirst: (await currentSettings(house.services, 'sign-in')).identifierFirst,
    providers: await providerLinks(house.services, ctx, 'standalone'),
    passkey: await signInForm(house, ctx, { place: '/signin', action: '/signin/passkey' }),
  };
}

/** GET /signin; a parameter may say what has just ended here, see NOTICES. */
export async function signInPage(house: House, ctx: Koa.Context): Promise<void> {
  const afresh = pageAfterSignIn(house, ctx) !== undefined;
  if (await showPendingStep(house, ctx, 'standalone')) return;
  const session = await house.sessions.current(ctx.req, ctx.res);
  if (session === undefined || (afresh && !(await isFresh(house, session)))) {
    return showSignIn(house.pages, ctx, await formFor(house, ctx));
  }
  seeOther(ctx, await afterwards(house, ctx, session.accountId));
}

/** POST /signin */
export async function receiveStandaloneSignIn(house: House, ctx: Koa.Context): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const checked = await submitSignIn(house, ctx, await formFor(house, ctx), form, purposeOf('standalone'));
  if (checked === undefined) return;
  await continueByPassword(house, ctx, 'standalone', checked, async () =>
    showSignIn(house.pages, ctx, { ...(await formFor(house, ctx)), notice: 'sign-in.begin-again' }),
  );
}

/** POST /signin/…: a step after the password; when it comes too late the password is asked for again. */
export const standaloneStep = (house: House, ctx: Koa.Context, receive: StepReceiver, notice?: MessageKey): Promise<void> =>
  receive(house, ctx, 'standalone', async () => showSignIn(house.pages, ctx, { ...(await formFor(house, ctx)), notice }));

/** GET /: the user's own pages, or the way there. */
export async function homePage(house: House, ctx: Koa.Context): Promise<void> {
  seeOther(ctx, (await house.sessions.current(ctx.req, ctx.res)) === undefined ? '/signin' : ACCOUNT);
}
