/**
 * The page of a link that verifies an e-mail address. Opening it changes nothing, because mail scanners follow every link; submitting its
 * form verifies the address. The user need not be signed in: the mailbox is what is verified.
 */
import type { RouterContext } from '@koa/router';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { confirmEmail, readVerification } from './email-verification.service.ts';

/** The link was used, replaced, has expired or never existed; the page does not reveal which. */
export class InvalidVerification extends Error {
  override readonly name = 'InvalidVerification';
}

const tokenIn = (ctx: RouterContext): string => ctx.params.token ?? '';

/** GET /verify-email/:token @throws {InvalidVerification} */
export async function verifyEmailPage(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const found = await readVerification(deps.services, tokenIn(ctx));
  if (found === undefined) throw new InvalidVerification();
  const language = pageLanguage(ctx);
  const title = language.text('verify.title');
  await deps.pages.render(ctx, 'verify-email', {
    ...language,
    title,
    heading: title,
    account: language.text('verify.account', { name: found.user.login }),
    question: language.text('verify.question', { address: found.email }),
    action: withCarriedParameters(ctx, ctx.path),
    hidden: deps.formTokens.field(ctx),
  });
  // The URL contains the token. It must not be in any Referer, even to this service; forms keep their Origin, unlike with `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

/** POST /verify-email/:token @throws {InvalidVerification} */
export async function receiveVerifiedEmail(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  deps.formTokens.verify(ctx, await readForm(ctx));
  if ((await confirmEmail(deps.services, tokenIn(ctx), visitor(ctx, deps.config))) === undefined) throw new InvalidVerification();
  seeOther(ctx, withCarriedParameters(ctx, '/verified-email'));
}

/** GET /verified-email: shows a confirmation only. */
export async function verifiedEmailPage(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const language = pageLanguage(ctx);
  const title = language.text('verify.done-title');
  const links = [{ id: 'home', href: '/', label: language.text('verify.home'), main: true }];
  await deps.pages.render(ctx, 'message', { ...language, title, heading: title, explanation: language.text('verify.done'), links });
}
