/**
 * Pages of an e-mail code: entering it, and opening its link. In the requesting browser the link continues immediately; elsewhere it only shows the
 * code, because e-mail scanners follow every link.
 */

import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { logoOf } from '../../pages/hosted/page-models.ts';
import { browserDevice, deviceOf, keepDevice } from '../../platform/http/cookies.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { mailRoute } from '../mail/mail-route.service.ts';
import { continueElsewhere, continueSignIn } from '../sign-in/continue-sign-in.hosted.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { keepStateToken, pathOfPlace, type SignInPlace, signInFrame, stateTokenOf } from '../sign-in/sign-in-place.hosted.ts';
import { completeSignUp, requestSignUpAgain, type SignUpOutcome } from '../sign-up/sign-up.service.ts';
import { type CodePlace, checkCode, type OpenCode, openLink, readCode } from './email-codes.service.ts';
import { isEmailMethod, requestSignInCode, signInByCode } from './email-sign-in.service.ts';

/** Where a sign-in continues after an e-mail code. */
export const codePlaceOf = (ctx: Koa.Context, place: SignInPlace): CodePlace => {
  const path = pathOfPlace(place);
  return { path, query: withCarriedParameters(ctx, path).slice(path.length) };
};

/** Redirects to the page on which the user enters the code. @param stateToken of the code */
export async function waitForCode(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<void> {
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  seeOther(ctx, withCarriedParameters(ctx, pathOfPlace(place)));
}

/** The link was used or replaced, has expired, or never existed; the page does not reveal which. */
export class InvalidCode extends Error {
  override readonly name = 'InvalidCode';
}

/** Page of an account that an administrator must activate. */
const WAITING = '/signup/waiting';

/** Does the sign-in page offer a code by e-mail? */
export const offersCode = ({ services, config }: SignInDeps, ctx: Koa.Context): Promise<boolean> =>
  isEmailMethod(services, visitor(ctx, config));

/** Handles a request for a code on the sign-in page. @returns false if the form requests something else @throws {TooManyFailures} */
export async function beginSignInByCode(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, form: URLSearchParams): Promise<boolean> {
  const username = form.get('username')?.trim() ?? '';
  if (form.get('method') !== 'email' || username === '' || !(await offersCode(deps, ctx))) return false;
  const request = visitor(ctx, deps.config);
  await waitForCode(
    deps,
    ctx,
    place,
    await requestSignInCode(deps.services, codePlaceOf(ctx, place), username, request, stateTokenOf(deps, ctx)),
  );
  return true;
}

/** Shows the page for entering the code. @returns false if this browser has no pending code here */
export async function showPendingCode(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<boolean> {
  const stateToken = stateTokenOf(deps, ctx);
  const code = stateToken === '' ? undefined : await readCode(deps.services, stateToken, pathOfPlace(place), deviceOf(ctx, deps.config));
  if (code === undefined) return false;
  await showCode(deps, ctx, place, code);
  return true;
}

async function showCode(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, code: OpenCode, problem?: MessageKey): Promise<void> {
  const { application, redirectOrigins, uiLocales, action, ...frame } = signInFrame(deps, ctx, place);
  const language = pageLanguage(ctx, uiLocales);
  const { text } = language;
  const heading = text('code.title');
  const { logo, images } = logoOf(application);
  const locals = {
    ...language,
    ...frame,
    title: problem === undefined ? heading : text('error.title-prefix', { title: heading }),
    heading,
    logo,
    application: application?.label,
    explain: text(code.row.purpose === 'SIGN_UP' ? 'sign-up.check' : 'code.explain', { name: code.content.name }),
    action: action('code'),
    again: action('code-again'),
    restart: action('restart'),
    inbox: (await mailRoute(deps.services)).kind === 'inbox' ? '/dev/inbox' : undefined,
    problem: problem && { field: 'code', message: text(problem) },
  };
  await deps.pages.render(ctx, 'email-code', locals, {
    status: problem === undefined ? 200 : 400,
    images,
    formAction: redirectOrigins ?? [],
  });
}

type Receiver = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, gone: () => Promise<void>) => Promise<void>;

/** POST …/code @param gone shows the first step again if the code can no longer be used @throws {TooManyFailures} */
export const receiveCode: Receiver = async (deps, ctx, place, gone) => {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const [stateToken, path, request] = [stateTokenOf(deps, ctx), pathOfPlace(place), visitor(ctx, deps.config)];
  const checked = await checkCode(deps.services, { stateToken, path }, form.get('code') ?? '', request);
  if (checked === 'wrong') {
    const code = await readCode(deps.services, stateToken, path, deviceOf(ctx, deps.config));
    if (code !== undefined) return showCode(deps, ctx, place, code, 'code.wrong');
  }
  const first = typeof checked === 'string' ? undefined : await complete(deps, checked, request);
  if (first !== undefined && first !== 'waiting') return continueSignIn(deps, ctx, place, first);
  keepStateToken(deps, ctx, path, undefined);
  if (first === 'waiting') return seeOther(ctx, withCarriedParameters(ctx, WAITING));
  await gone();
};

/** POST …/code-again: sends another code, which replaces the previous one. @throws {TooManyFailures} */
export const receiveCodeAgain: Receiver = async (deps, ctx, place, gone) => {
  deps.formTokens.verify(ctx, await readForm(ctx));
  const stateToken = stateTokenOf(deps, ctx);
  const code = await readCode(deps.services, stateToken, pathOfPlace(place), deviceOf(ctx, deps.config));
  if (code === undefined) return gone();
  const [request, at] = [visitor(ctx, deps.config), codePlaceOf(ctx, place)];
  if (code.row.purpose === 'SIGN_UP')
    return waitForCode(deps, ctx, place, await requestSignUpAgain(deps.services, at, code, request, stateToken));
  if (!(await offersCode(deps, ctx))) return gone();
  await waitForCode(deps, ctx, place, await requestSignInCode(deps.services, at, code.content.name, request, stateToken));
};

/** Completes the flow after a correct code. @returns undefined if the code can no longer be used */
const complete = ({ services }: SignInDeps, code: OpenCode, request: RequestContext): Promise<SignUpOutcome> =>
  code.row.purpose === 'SIGN_UP' ? completeSignUp(services, code, request) : signInByCode(services, code, request);

/** GET /code/:token @throws {InvalidCode} */
export async function followCodeLink(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const found = await openLink(deps.services, ctx.params.token ?? '', deviceOf(ctx, deps.config));
  // The URL contains the token, which must not be in any Referer.
  ctx.set('Referrer-Policy', 'strict-origin');
  if (found === undefined) throw new InvalidCode();
  if (!found.here) return showElsewhere(deps, ctx, found);
  const first = await complete(deps, found, visitor(ctx, deps.config));
  if (first === undefined) throw new InvalidCode();
  if (first === 'waiting') return seeOther(ctx, WAITING);
  await continueElsewhere(deps, ctx, await addressOf(deps, found), first);
}

/** Address to continue at; the user's own pages if the authorization request has ended. */
async function addressOf({ interactions }: SignInDeps, { content: { path, query } }: OpenCode): Promise<string> {
  const [, serverId, uid] = /^\/interaction\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (serverId === undefined || uid === undefined) return `${path}${query}`;
  return (await interactions.waiting(serverId, uid)) === undefined ? '/signin' : `${path}${query}`;
}

async function showElsewhere(deps: SignInDeps, ctx: Koa.Context, { content: { code } }: OpenCode): Promise<void> {
  const language = pageLanguage(ctx);
  const title = language.text('code.elsewhere-title');
  await deps.pages.render(ctx, 'email-code-elsewhere', { ...language, title, heading: title, code: code.replace(/^\d{4}/, '$& ') });
}
