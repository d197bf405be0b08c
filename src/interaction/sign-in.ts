/**
 * The sign-in step of an authorization request (OpenID Connect Core 1.0 section 3.1.2.3): asks for user name and password on the
 * application's behalf, and reports who signed in, or that nobody did.
 */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { readSettings } from '../services/settings.ts';
import { continueSignIn, purposeOf, type StepReceiver, showPendingStep } from './continue-sign-in.ts';
import type { InteractionDetails } from './interactions.ts';
import type { MessageKey } from './messages.ts';
import { submitNewPassword, submitPassword } from './password-step.ts';
import type { House } from './routes.ts';
import { type SignInForm, showSignIn } from './sign-in-form.ts';
import { goStraight } from './social.ts';
import { providerLinks } from './upstream-links.ts';
import { carryOn } from './way.ts';

/** The value of `amr` for a password (RFC 8176 section 2). */
export const PASSWORD_AMR: readonly string[] = ['pwd'];

const formFor = async ({ services }: House, ctx: Koa.Context, details: InteractionDetails): Promise<SignInForm> => {
  const { serverId, uid, application, loginHint, redirectOrigins, uiLocales } = details;
  return {
    action: carryOn(ctx, `/interaction/${serverId}/${uid}/login`),
    newPassword: carryOn(ctx, `/interaction/${serverId}/${uid}/password`),
    cancel: carryOn(ctx, `/interaction/${serverId}/${uid}/cancel`),
    application,
    purpose: purposeOf(details),
    redirectOrigins,
    username: loginHint,
    identifierFirst: (await readSettings(services, 'sign-in')).identifierFirst,
    uiLocales,
    providers: await providerLinks(services, ctx, details),
  };
};

export async function askToSignIn(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  if (await showPendingStep(house, ctx, details)) return;
  if (details.stepUp !== undefined) return continueSignIn(house, ctx, details, { ...details.stepUp, stepsUp: true });
  if (await goStraight(house, ctx, details)) return;
  await askAnew(house, ctx, details);
}

/** Asks for user name and password, whoever is signed in. */
export const askAnew = async (house: House, ctx: Koa.Context, details: InteractionDetails, notice?: MessageKey): Promise<void> =>
  showSignIn(house.pages, ctx, { ...(await formFor(house, ctx, details)), notice });

/** A step that the sign-in has after the password: what was sent is received, and when it came too late the password is asked for again. */
export const nextStep =
  (receive: StepReceiver, notice?: MessageKey) =>
  (house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> =>
    receive(house, ctx, details, () => askAnew(house, ctx, details, notice));

const receiver =
  (submit: typeof submitPassword) =>
  async (house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> => {
    const account = await submit(house, ctx, await formFor(house, ctx, details), await readForm(ctx));
    if (account === undefined) return;
    await continueSignIn(house, ctx, details, { user: account, amr: PASSWORD_AMR, authenticatedAt: account.authenticatedAt });
  };

/** Checks what was typed; asks again when it is wrong. */
export const receiveSignIn = receiver(submitPassword);

/** Takes another password in place of an expired one. */
export const receiveNewPassword = receiver(submitNewPassword);

/** The user returns to the application without signing in. */
export async function cancelSignIn(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  // Not a text of the page: it goes to the application, in the ASCII that RFC 6749 section 4.1.2.1 allows.
  const result = { error: 'access_denied', error_description: 'The user did not sign in' } as const;
  seeOther(ctx, carryOn(ctx, await house.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}
