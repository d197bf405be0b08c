/**
 * The page of a one-time link, on which a user chooses a password (OWASP Forgot Password Cheat Sheet). Opening it changes nothing, because mail
 * scanners follow every link; submitting the form uses the link.
 */
import type { RouterContext } from '@koa/router';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { present } from '../../platform/clock/clock.ts';
import { readForm } from '../../platform/http/forms.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import { continueElsewhere } from '../sign-in/continue-sign-in.hosted.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { readPasswordLink, usePasswordLink } from '../sign-in/one-time-links.service.ts';
import { PASSWORD_AMR } from '../sign-in/sign-in.service.ts';
import { forgetSignIn, leftSignIn } from '../sign-in/suspended-sign-in.hosted.ts';
import type { User } from '../users/users.resource.ts';
import { type PasswordForm, showPasswordForm } from './password-form.hosted.ts';
import { findProblemOfChoice } from './password-policy.service.ts';

/** The link was used, replaced, has expired or never existed; the page does not reveal which. */
export class InvalidLink extends Error {
  override readonly name = 'InvalidLink';
}

/** GET /choose-password/:token @throws {InvalidLink} */
export const choosePasswordPage = async (deps: SignInDeps, ctx: RouterContext): Promise<void> => show(deps, ctx, await userOf(deps, ctx));

/** POST /choose-password/:token @throws {InvalidLink} */
export async function receiveChosenPassword(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const password = form.get('password') ?? '';
  const user = await userOf(deps, ctx);
  const problem = password === '' ? 'missing' : (await findProblemOfChoice(deps.services, password, user))?.problem;
  if (problem !== undefined) return show(deps, ctx, user, problem);
  const chosen = await usePasswordLink(deps.services, { token: tokenIn(ctx), password }, visitor(ctx, deps.config));
  if (chosen === undefined) throw new InvalidLink();
  const first = { user: chosen, amr: PASSWORD_AMR, authenticatedAt: present() };
  const left = await leftSignIn(deps, ctx);
  forgetSignIn(deps, ctx);
  await continueElsewhere(deps, ctx, left?.address ?? '/signin', first);
}

async function userOf(deps: SignInDeps, ctx: RouterContext): Promise<User> {
  const user = await readPasswordLink(deps.services, tokenIn(ctx));
  if (user === undefined) throw new InvalidLink();
  return user;
}

async function show(deps: SignInDeps, ctx: RouterContext, user: User, problem?: PasswordForm['problem']): Promise<void> {
  const policy = await readPasswordPolicy(deps.services.database.knex);
  const hidden = [deps.formTokens.field(ctx)];
  await showPasswordForm(deps.pages, ctx, {
    ...{ action: withCarriedParameters(ctx, ctx.path), hidden, user, policy, problem },
    // Saving the password may continue to the application.
    redirectOrigins: (await leftSignIn(deps, ctx))?.redirectOrigins,
  });
  // The URL contains the token. It must not be in any Referer, even to this service; forms keep their Origin, unlike with `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

const tokenIn = (ctx: RouterContext): string => ctx.params.token ?? '';
