/**
 * The sign-in step of an authorization request (OpenID Connect Core 1.0 section 3.1.2.3): asks for user name and password, and reports who
 * signed in, or that nobody did.
 */
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { beginSignInByCode } from '../email-codes/email-code.hosted.ts';
import { redirectToHomeProvider, redirectToNamedProvider } from '../identity-providers/social.hosted.ts';
import { stillChoosing } from '../identity-providers/upstream-problem.hosted.ts';
import { providerLinks } from '../identity-providers/upstream-redirect.hosted.ts';
import { signInForm } from '../passkeys/passkey-ceremonies.hosted.ts';
import { receiveSignUp, showSignUp, signUpPath } from '../sign-up/sign-up.hosted.ts';
import { continueByPassword, continueSignIn } from './continue-sign-in.hosted.ts';
import { mayStepUp } from './fresh-sign-in.hosted.ts';
import type { InteractionDetails, SignInDeps } from './interactions.hosted.ts';
import { type StepReceiver, showPendingStep } from './second-step.hosted.ts';
import { type SignInForm, type SignInProblem, showSignIn, submitSignIn, usernameIn } from './sign-in-form.hosted.ts';
import { methodsHere } from './sign-in-methods.hosted.ts';
import { purposeOf } from './sign-in-place.hosted.ts';
import { rememberSignIn } from './suspended-sign-in.hosted.ts';

const formFor = async (deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<SignInForm> => {
  const { serverId, uid, application, loginHint, stepUp, redirectOrigins, uiLocales } = details;
  return {
    action: stillChoosing(ctx, withCarriedParameters(ctx, `/interaction/${serverId}/${uid}/login`)),
    cancel: withCarriedParameters(ctx, `/interaction/${serverId}/${uid}/cancel`),
    application,
    redirectOrigins,
    username: loginHint ?? stepUp?.user.login,
    uiLocales,
    ...(await methodsHere(deps, ctx)),
    signUp: await signUpPath(deps, ctx, details),
    providers: await providerLinks(deps.services, ctx, details),
    passkey: await signInForm(deps, ctx, {
      place: `/interaction/${serverId}/${uid}`,
      action: withCarriedParameters(ctx, `/interaction/${serverId}/${uid}/passkey`),
    }),
  };
};

export async function askToSignIn(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  if (await showPendingStep(deps, ctx, details)) return;
  const { stepUp } = details;
  if (stepUp !== undefined && (await mayStepUp(deps, stepUp))) return continueSignIn(deps, ctx, details, { ...stepUp, stepsUp: true });
  if (details.creates && (await showSignUp(deps, ctx, details))) return;
  if (await redirectToNamedProvider(deps, ctx, details)) return;
  await showSignInForm(deps, ctx, details);
}

/** The page that creates an account for the application; if that is not allowed, the sign-in page. */
export async function askToSignUp(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  if (!(await showSignUp(deps, ctx, details))) await showSignInForm(deps, ctx, details);
}

/** POST …/signup @throws {TooManyFailures} */
export async function receiveAccount(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  if (!(await receiveSignUp(deps, ctx, details))) await showSignInForm(deps, ctx, details);
}

/** Shows the sign-in form, regardless of an existing session. */
export const showSignInForm = async (
  deps: SignInDeps,
  ctx: Koa.Context,
  details: InteractionDetails,
  notice?: MessageKey,
  problems: readonly SignInProblem[] = [],
): Promise<void> => {
  const form = await formFor(deps, ctx, details);
  if (form.forgotten !== undefined) rememberSignIn(deps, ctx, details);
  await showSignIn(deps.pages, ctx, { ...form, notice }, problems);
};

/** A step after the password: handles its form, and asks for the password again if it has expired. */
export const nextStep =
  (receive: StepReceiver, notice?: MessageKey) =>
  (deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> =>
    receive(deps, ctx, details, () => showSignInForm(deps, ctx, details, notice));

/** Checks the submitted form and shows it again if the credentials are wrong. */
export async function receiveSignIn(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const posted = await readForm(ctx);
  const home = await redirectToHomeProvider(deps, ctx, details, usernameIn(posted));
  if (home === undefined) return;
  if (await beginSignInByCode(deps, ctx, details, posted)) return;
  const form = { ...(await formFor(deps, ctx, details)), home };
  const checked = await submitSignIn(deps, ctx, form, posted, purposeOf(details));
  if (checked === undefined) return;
  await continueByPassword(deps, ctx, details, checked, () => showSignInForm(deps, ctx, details, 'sign-in.begin-again'));
}

/** The user returns to the application without signing in. */
export async function cancelSignIn(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  // Not a text of a page: it is sent to the application, in the ASCII that RFC 6749 section 4.1.2.1 allows.
  const result = { error: 'access_denied', error_description: 'The user did not sign in' } as const;
  seeOther(ctx, withCarriedParameters(ctx, await deps.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}
