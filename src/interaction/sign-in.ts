/**
 * The sign-in step of an authorization request (OpenID Connect Core 1.0 section 3.1.2.3): asks for user name and password on the
 * application's behalf, and reports who signed in, or that nobody did.
 */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import type { InteractionDetails } from './interactions.ts';
import type { House } from './routes.ts';
import { type SignInForm, showSignIn, submitSignIn } from './sign-in-form.ts';
import { carryOn } from './way.ts';

/** The value of `amr` for a password (RFC 8176 section 2). */
export const PASSWORD_AMR: readonly string[] = ['pwd'];

const formFor = (
  ctx: Koa.Context,
  { serverId, uid, application, loginHint, redirectOrigins, uiLocales }: InteractionDetails,
): SignInForm => ({
  action: carryOn(ctx, `/interaction/${serverId}/${uid}/login`),
  cancel: carryOn(ctx, `/interaction/${serverId}/${uid}/cancel`),
  application,
  redirectOrigins,
  username: loginHint,
  uiLocales,
});

export const askToSignIn = (house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> =>
  showSignIn(house.pages, ctx, formFor(ctx, details));

/** Checks what was typed; asks again when it is wrong. */
export async function receiveSignIn(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  const account = await submitSignIn(house, ctx, formFor(ctx, details), await readForm(ctx));
  if (account === undefined) return;
  const result = { login: { accountId: account.id, amr: PASSWORD_AMR } };
  seeOther(ctx, carryOn(ctx, await house.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}

/** The user returns to the application without signing in. */
export async function cancelSignIn(house: House, ctx: Koa.Context, details: InteractionDetails): Promise<void> {
  // Not a text of the page: it goes to the application, in the ASCII that RFC 6749 section 4.1.2.1 allows.
  const result = { error: 'access_denied', error_description: 'The user did not sign in' } as const;
  seeOther(ctx, carryOn(ctx, await house.interactions.finish(ctx.req, ctx.res, details.serverId, details.uid, result)));
}
