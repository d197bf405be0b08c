/**
 * The page behind a one-time link: its user chooses a password (OWASP Forgot Password Cheat Sheet). Looking at it changes nothing, for
 * scanners of mail follow every link; the link is used up by sending the form.
 */
import type { RouterContext } from '@koa/router';
import { visitor } from '../../pages/hosted/visitor.ts';
import { carryOn } from '../../pages/hosted/way.ts';
import { readForm } from '../../platform/http/forms.ts';
import { seeOther } from '../../platform/http/see-other.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import type { House } from '../sign-in/interactions.hosted.ts';
import { PASSWORD_CHOSEN, takeLeftSignIn } from '../sign-in/left-sign-in.hosted.ts';
import { readPasswordLink, usePasswordLink } from '../sign-in/one-time-links.service.ts';
import type { User } from '../users/users.resource.ts';
import { type PasswordForm, showPasswordForm } from './password-form.hosted.ts';
import { findProblemOfChoice } from './password-policy.service.ts';

/** The link was used, replaced, or has expired, or there never was one; which of these is not told. */
export class LinkGone extends Error {
  override readonly name = 'LinkGone';
}

/** GET /choose-password/:token @throws {LinkGone} */
export const choosePasswordPage = async (house: House, ctx: RouterContext): Promise<void> => show(house, ctx, await userOf(house, ctx));

/** POST /choose-password/:token @throws {LinkGone} */
export async function receiveChosenPassword(house: House, ctx: RouterContext): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const password = form.get('password') ?? '';
  const user = await userOf(house, ctx);
  const problem = password === '' ? 'missing' : (await findProblemOfChoice(house.services, password, user))?.problem;
  if (problem !== undefined) return show(house, ctx, user, problem);
  const chosen = await usePasswordLink(house.services, { token: tokenIn(ctx), password }, visitor(ctx, house.config));
  if (chosen === undefined) throw new LinkGone();
  seeOther(ctx, (await takeLeftSignIn(house, ctx)) ?? `/signin?${PASSWORD_CHOSEN}`);
}

async function userOf(house: House, ctx: RouterContext): Promise<User> {
  const user = await readPasswordLink(house.services, tokenIn(ctx));
  if (user === undefined) throw new LinkGone();
  return user;
}

async function show(house: House, ctx: RouterContext, user: User, problem?: PasswordForm['problem']): Promise<void> {
  const policy = await readPasswordPolicy(house.services.database.knex);
  const hidden = [house.formTokens.field(ctx)];
  await showPasswordForm(house.pages, ctx, { action: carryOn(ctx, ctx.path), hidden, user, policy, problem });
  // The address holds the token, which then appears in no Referer, not even to this service; forms keep their Origin, other than by `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

const tokenIn = (ctx: RouterContext): string => ctx.params.token ?? '';
