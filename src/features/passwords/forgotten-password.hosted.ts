/**
 * Pages for a forgotten password (OWASP Forgot Password Cheat Sheet). Available only with e-mail; the response is always the same, and the request is
 * processed in the background (features/passwords/forgotten-password.service.ts).
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { isForwarded } from '../../platform/http/requests.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { askingForProof, proofIn, proofLocals } from '../bots/bots.hosted.ts';
import { isMailPossible, mailRoute } from '../mail/mail-route.service.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { requestReset } from './forgotten-password.service.ts';
import { arePasswordsUsed } from './password-sign-in.service.ts';

const PATH = '/forgot-password';
/** The URL parameter of the page after the request. */
const SENT = 'sent';

const isThere = async ({ services }: SignInDeps, ctx: Koa.Context): Promise<boolean> =>
  (await arePasswordsUsed(services)) && isMailPossible(services, { isForwarded: isForwarded(ctx.headers) });

/** @returns the page's path, for the sign-in page; undefined if e-mail cannot be sent */
export const forgottenPath = async (deps: SignInDeps, ctx: Koa.Context): Promise<string | undefined> =>
  (await isThere(deps, ctx)) ? withCarriedParameters(ctx, PATH) : undefined;

/** GET /forgot-password */
export async function forgottenPasswordPage(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  if (!(await isThere(deps, ctx))) return next();
  if (SENT in ctx.query) return showSent(deps, ctx);
  await showForm(deps, ctx);
}

/** POST /forgot-password @throws {TooManyFailures} */
export async function receiveForgottenPassword(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  if (!(await isThere(deps, ctx))) return next();
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const username = form.get('username')?.trim() ?? '';
  if (username === '') return showForm(deps, ctx, 'sign-in.username-missing');
  const request = async () => {
    await requestReset(deps.services, username, visitor(ctx, deps.config), proofIn(form));
    const address = new URL(withCarriedParameters(ctx, PATH), deps.config.baseUrl);
    address.searchParams.set(SENT, '');
    seeOther(ctx, `${address.pathname}${address.search}`);
  };
  await askingForProof(ctx, request, () => showForm(deps, ctx, 'bots.again', username));
}

async function showForm(deps: SignInDeps, ctx: Koa.Context, problem?: MessageKey, username = ''): Promise<void> {
  const language = pageLanguage(ctx);
  const { text } = language;
  const heading = text('forgot.title');
  const proof = await proofLocals(deps, ctx, 'passwordReset');
  const locals = {
    ...language,
    title: problem !== undefined ? text('error.title-prefix', { title: heading }) : heading,
    heading,
    action: withCarriedParameters(ctx, PATH),
    hidden: deps.formTokens.field(ctx),
    problem: problem && text(problem),
    username,
    ...proof,
    scripts: proof.proofScripts,
    back: withCarriedParameters(ctx, '/signin'),
  };
  await deps.pages.render(ctx, 'forgot-password', locals, { status: problem !== undefined ? 400 : 200 });
}

async function showSent(deps: SignInDeps, ctx: Koa.Context): Promise<void> {
  const language = pageLanguage(ctx);
  const { text } = language;
  const title = text('forgot.sent-title');
  const links = [
    ...((await mailRoute(deps.services)).kind === 'inbox'
      ? [{ id: 'dev-inbox', href: '/dev/inbox', label: text('forgot.inbox'), main: true }]
      : []),
    { id: 'back', href: withCarriedParameters(ctx, '/signin'), label: text('forgot.back'), main: false },
  ];
  await deps.pages.render(ctx, 'message', { ...language, title, heading: title, explanation: text('forgot.sent'), links });
}
