/** Sign-in without an application at `/signin`, and the start page `/`. */
import type Koa from 'koa';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { beginSignInByCode } from '../email-codes/email-code.hosted.ts';
import { redirectToHomeProvider } from '../identity-providers/social.hosted.ts';
import { stillChoosing } from '../identity-providers/upstream-problem.hosted.ts';
import { providerLinks } from '../identity-providers/upstream-redirect.hosted.ts';
import { signInForm } from '../passkeys/passkey-ceremonies.hosted.ts';
import { signUpPath } from '../sign-up/sign-up.hosted.ts';
import { continueByPassword, targetAfterSignIn } from './continue-sign-in.hosted.ts';
import { ACCOUNT, pageAfterSignIn, reauthentication } from './fresh-sign-in.hosted.ts';
import { isFreshSignIn } from './fresh-sign-in.service.ts';
import type { SignInDeps } from './interactions.hosted.ts';
import { type StepReceiver, showPendingStep } from './second-step.hosted.ts';
import { type SignInForm, showSignIn, submitSignIn, usernameIn } from './sign-in-form.hosted.ts';
import { methodsHere } from './sign-in-methods.hosted.ts';
import { purposeOf } from './sign-in-place.hosted.ts';

export async function formFor(deps: SignInDeps, ctx: Koa.Context): Promise<SignInForm> {
  const demanded = await reauthentication(deps, ctx);
  return {
    action: stillChoosing(ctx, '/signin'),
    hidden: deps.formTokens.field(ctx),
    notice: demanded !== undefined ? 'sign-in.once-more' : 'signed-out' in ctx.query ? 'sign-in.signed-out' : undefined,
    username: demanded?.login,
    back: demanded?.back,
    ...(await methodsHere(deps, ctx)),
    signUp: await signUpPath(deps, ctx, 'standalone'),
    providers: await providerLinks(deps.services, ctx, 'standalone'),
    passkey: await signInForm(deps, ctx, { place: '/signin', action: '/signin/passkey' }),
  };
}

/** GET /signin; the parameter `signed-out` shows a notice that a session has ended. */
export async function signInPage(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const afresh = pageAfterSignIn(deps, ctx) !== undefined;
  if (await showPendingStep(deps, ctx, 'standalone')) return;
  const session = await deps.sessions.current(ctx.req, ctx.res);
  if (session === undefined || (afresh && !(await isFreshSignIn(deps, session)))) {
    return showSignIn(deps.pages, ctx, await formFor(deps, ctx));
  }
  seeOther(ctx, await targetAfterSignIn(deps, ctx, session.accountId));
}

/** POST /signin */
export async function receiveStandaloneSignIn(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const home = await redirectToHomeProvider(deps, ctx, 'standalone', usernameIn(form));
  if (home === undefined) return;
  if (await beginSignInByCode(deps, ctx, 'standalone', form)) return;
  const shown = { ...(await formFor(deps, ctx)), home };
  const checked = await submitSignIn(deps, ctx, shown, form, purposeOf('standalone'));
  if (checked === undefined) return;
  await continueByPassword(deps, ctx, 'standalone', checked, async () =>
    showSignIn(deps.pages, ctx, { ...(await formFor(deps, ctx)), notice: 'sign-in.begin-again' }),
  );
}

/** POST /signin/…: a step after the password; asks for the password again if it has expired. */
export const standaloneStep = (deps: SignInDeps, ctx: Koa.Context, receive: StepReceiver, notice?: MessageKey): Promise<void> =>
  receive(deps, ctx, 'standalone', async () => showSignIn(deps.pages, ctx, { ...(await formFor(deps, ctx)), notice }));

/** GET /: redirects to the account pages or to the sign-in. */
export async function homePage(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  seeOther(ctx, (await deps.sessions.current(ctx.req, ctx.res)) === undefined ? '/signin' : ACCOUNT);
}
