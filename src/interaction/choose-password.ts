/**
 * The page behind a one-time link: its user chooses a password (OWASP Forgot Password Cheat Sheet). Looking at it changes nothing, for
 * scanners of mail follow every link; the link is used up by sending the form.
 */
import type { RouterContext } from '@koa/router';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { fullName } from '../policy/claims.ts';
import { MOST_CHARACTERS, type PasswordPolicy, passwordProblem } from '../policy/password.ts';
import { readPasswordLink, usePasswordLink } from '../services/one-time-links.ts';
import { readPasswordPolicy } from '../services/settings.ts';
import { accountLabel } from './interactions.ts';
import type { MessageKey } from './messages.ts';
import { pageLanguage } from './page-language.ts';
import type { House } from './routes.ts';
import { visitor } from './sign-in-form.ts';
import { carryOn } from './way.ts';

/** The link was used, replaced, or has expired, or there never was one; which of these is not told. */
export class LinkGone extends Error {
  override readonly name = 'LinkGone';
}

function problemOf(policy: PasswordPolicy, password: string): MessageKey | undefined {
  if (password === '') return 'choose-password.missing';
  const problem = passwordProblem(policy, password);
  return problem && `choose-password.${problem}`;
}

/** GET /choose-password/:token @throws {LinkGone} */
export const choosePasswordPage = (house: House, ctx: RouterContext): Promise<void> => show(house, ctx);

/** POST /choose-password/:token @throws {LinkGone} */
export async function receiveChosenPassword(house: House, ctx: RouterContext): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const password = form.get('password') ?? '';
  const problem = problemOf(await readPasswordPolicy(house.services), password);
  if (problem !== undefined) return show(house, ctx, problem);
  const user = await usePasswordLink(house.services, { token: tokenIn(ctx), password }, visitor(ctx, house.config));
  if (user === undefined) throw new LinkGone();
  seeOther(ctx, '/signin?password-chosen');
}

async function show(house: House, ctx: RouterContext, problem?: MessageKey): Promise<void> {
  const user = await readPasswordLink(house.services, tokenIn(ctx));
  if (user === undefined) throw new LinkGone();
  const language = pageLanguage(ctx);
  const { text } = language;
  const heading = text('choose-password.title');
  const { minLength } = await readPasswordPolicy(house.services);
  const limits = { least: String(minLength), most: String(MOST_CHARACTERS) };
  const locals = {
    ...language,
    title: problem === undefined ? heading : text('error.title-prefix', { title: heading }),
    heading,
    action: carryOn(ctx, ctx.path),
    account: text('choose-password.account', { name: accountLabel({ login: user.login, name: fullName(user.profile) ?? '' }) }),
    username: user.login,
    hint: text('choose-password.hint', limits),
    problem: problem && text(problem, limits),
    hidden: house.formTokens.field(ctx),
    scripts: ['show-password.js', 'reload-when-stale.js'],
  };
  await house.pages.render(ctx, 'choose-password', locals, { status: problem === undefined ? 200 : 400 });
  // The address holds the token, which then appears in no Referer, not even to this service; forms keep their Origin, other than by `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

const tokenIn = (ctx: RouterContext): string => ctx.params.token ?? '';
