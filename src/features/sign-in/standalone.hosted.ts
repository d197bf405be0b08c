/** Signing in without an application, at `/signin`; and the way in, at `/`. */
import type Koa from 'koa';
import { readForm } from '../../platform/http/forms.ts';
import { seeOther } from '../../platform/http/see-other.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { providerLinks } from '../identity-providers/upstream-links.hosted.ts';
import { signInForm } from '../passkeys/passkey-ceremonies.hosted.ts';
import { forgottenPath } from '../passwords/forgotten-password.hosted.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { afterwards, continueByPassword, purposeOf, type StepReceiver, showPendingStep } from './continue-sign-in.hosted.ts';
import { ACCOUNT, askedAnew, pageAfterSignIn } from './fresh-sign-in.hosted.ts';
import { isFresh } from './fresh-sign-in.service.ts';
import type { House } from './interactions.hosted.ts';
import { PASSWORD_CHOSEN } from './left-sign-in.hosted.ts';
import { type SignInForm, showSignIn, submitSignIn } from './sign-in-form.hosted.ts';

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
