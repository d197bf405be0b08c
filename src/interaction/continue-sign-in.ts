/**
 * What follows once somebody has proved who he is, wherever that was: the second factor, the enrolment of one, or the end of the sign-in. A cookie of the
 * place carries the state token, so that a page can be loaded again, or in another language.
 */
import type Koa from 'koa';
import { LIFETIMES } from '../../config/defaults.ts';
import { readForm } from '../http/forms.ts';
import { seeOther } from '../http/see-other.ts';
import { isAdministrator } from '../services/administrators.ts';
import type { Purpose } from '../services/second-factor-demand.ts';
import { readSettings } from '../services/settings.ts';
import {
  abandonStep,
  afterFirstStep,
  confirmEnrolment,
  type FirstStep,
  finishEnrolment,
  type PendingStep,
  readStep,
  type SignInStep,
  StepGone,
  verifyFactor,
} from '../services/sign-in-steps.ts';
import { showEnrolment, showFactor, showRecoveryCodes } from './factor-pages.ts';
import { forgetWayToSecurity, leadsToSecurity, SECURITY_PAGE } from './fresh-sign-in.ts';
import type { InteractionDetails } from './interactions.ts';
import type { House } from './routes.ts';
import { visitor } from './sign-in-form.ts';
import { carryOn } from './way.ts';

/** The sign-in belongs to an authorization request, or stands by itself at `/signin`. */
export type Place = InteractionDetails | 'standalone';

const pathOf = (place: Place): string => (place === 'standalone' ? '/signin' : `/interaction/${place.serverId}/${place.uid}`);

/** What a sign-in there is for. */
export const purposeOf = (place: Place): Purpose =>
  place === 'standalone' ? {} : { applicationId: place.application.id, acrValues: place.acrValues ?? [] };

const demandOf = (place: Place) => ({ place: pathOf(place), enrolls: true, ...purposeOf(place) });

const COOKIE = 'gatehouse-sign-in';

const stateTokenOf = (ctx: Koa.Context): string => ctx.cookies.get(COOKIE, { signed: false }) ?? '';

/** @param stateToken undefined: takes the cookie away */
function keepStateToken(house: House, ctx: Koa.Context, place: Place, stateToken: string | undefined): void {
  const { secure } = house.config;
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  const attributes = { signed: false, httpOnly: true, secure, sameSite: 'lax', path: pathOf(place), overwrite: true } as const;
  ctx.cookies.set(COOKIE, stateToken ?? '', { ...attributes, maxAge: stateToken === undefined ? 0 : LIFETIMES.signInStep * 1000 });
}

/** Where a sign-in by itself leads: to a page of this service, never to an address out of the query (an open redirect, RFC 9700 section 4.11). */
export async function afterwards(house: House, ctx: Koa.Context, userId: string): Promise<string> {
  if (leadsToSecurity(house, ctx)) {
    forgetWayToSecurity(house, ctx);
    return SECURITY_PAGE;
  }
  return (await isAdministrator(house.services, userId)) ? '/admin' : '/';
}

/** Leads on from the first step: to the next page, or to the end of the sign-in. */
export async function continueSignIn(house: House, ctx: Koa.Context, place: Place, first: FirstStep): Promise<void> {
  const step = await afterFirstStep(house.services, first, demandOf(place));
  if (step.kind === 'done') return finishSignIn(house, ctx, place, step);
  keepStateToken(house, ctx, place, step.stateToken);
  seeOther(ctx, carryOn(ctx, pathOf(place)));
}

async function finishSignIn(house: House, ctx: Koa.Context, place: Place, step: SignInStep): Promise<void> {
  if (step.kind !== 'done') throw new Error('the sign-in is not done');
  const { accountId, amr, authenticatedAt, idp } = step;
  if (stateTokenOf(ctx) !== '') keepStateToken(house, ctx, place, undefined);
  if (place === 'standalone') {
    await house.sessions.signIn(ctx.req, ctx.res, accountId, amr, idp);
    return seeOther(ctx, await afterwards(house, ctx, accountId));
  }
  const result = { login: { accountId, amr, ...(authenticatedAt && { authenticatedAt }), ...(idp !== undefined && { idp }) } };
  seeOther(ctx, carryOn(ctx, await house.interactions.finish(ctx.req, ctx.res, place.serverId, place.uid, result)));
}

/** What the pages of the second step are made of. */
const frameOf = (house: House, ctx: Koa.Context, place: Place) => {
  const path = pathOf(place);
  const action = (step: string) => carryOn(ctx, `${path}/${step}`);
  const common = { action, hidden: house.formTokens.field(ctx) };
  if (place === 'standalone') return common;
  const { application, redirectOrigins, uiLocales } = place;
  return { ...common, application, redirectOrigins, uiLocales, cancel: action('cancel') };
};

/** Shows the page of the second step. @returns false when this browser waits for none here */
export async function showPendingStep(house: House, ctx: Koa.Context, place: Place): Promise<boolean> {
  const stateToken = stateTokenOf(ctx);
  const step = stateToken === '' ? undefined : await readStep(house.services, stateToken, pathOf(place));
  if (step === undefined) return false;
  await show(house, ctx, place, step);
  return true;
}

async function show(house: House, ctx: Koa.Context, place: Place, step: PendingStep, wrong = false): Promise<void> {
  const frame = frameOf(house, ctx, place);
  if (step.next === 'FACTOR') return showFactor(house.pages, ctx, frame, step, wrong);
  if (step.next === 'ENROLL') {
    const { name: issuer } = await readSettings(house.services, 'branding');
    return showEnrolment(house.pages, ctx, frame, { ...step, issuer }, wrong);
  }
  return showRecoveryCodes(house.pages, ctx, frame, []);
}

/** A page of the second step was sent. @param gone shows the first step again, when the state token is worth nothing any more */
export type StepReceiver = (house: House, ctx: Koa.Context, place: Place, gone: () => Promise<void>) => Promise<void>;

const receiver =
  (run: (house: House, ctx: Koa.Context, place: Place, form: URLSearchParams) => Promise<void>): StepReceiver =>
  async (house, ctx, place, gone) => {
    const form = await readForm(ctx);
    house.formTokens.verify(ctx, form);
    try {
      await run(house, ctx, place, form);
    } catch (error) {
      if (!(error instanceof StepGone)) throw error;
      keepStateToken(house, ctx, place, undefined);
      await gone();
    }
  };

/** The second factor. @throws {TooManyFailures} */
export const receiveFactor: StepReceiver = receiver(async (house, ctx, place, form) => {
  const stateToken = stateTokenOf(ctx);
  const recovery = form.get('recoveryCode') ?? '';
  const proof =
    recovery === ''
      ? ({ kind: 'code', passCode: form.get('passCode') ?? '' } as const)
      : ({ kind: 'recovery', passCode: recovery.slice(0, 100) } as const);
  const done = await verifyFactor(house.services, stateToken, proof, pathOf(place), visitor(ctx, house.config));
  if (done !== undefined) return finishSignIn(house, ctx, place, done);
  const step = await readStep(house.services, stateToken, pathOf(place));
  if (step === undefined) throw new StepGone();
  await show(house, ctx, place, step, true);
});

/** The first code of the factor that is being enrolled; then the recovery codes are shown. */
export const receiveEnrolment: StepReceiver = receiver(async (house, ctx, place, form) => {
  const stateToken = stateTokenOf(ctx);
  const step = await readStep(house.services, stateToken, pathOf(place));
  if (step === undefined) throw new StepGone();
  // Sent again by loading the page with the recovery codes again.
  if (step.next !== 'ENROLL') return show(house, ctx, place, step);
  const codes = await confirmEnrolment(house.services, stateToken, form.get('passCode') ?? '', pathOf(place), visitor(ctx, house.config));
  if (codes === undefined) return show(house, ctx, place, step, true);
  keepStateToken(house, ctx, place, stateToken);
  await showRecoveryCodes(house.pages, ctx, frameOf(house, ctx, place), codes);
});

/** On from the recovery codes. */
export const receiveEnrolled: StepReceiver = receiver(async (house, ctx, place) =>
  finishSignIn(house, ctx, place, await finishEnrolment(house.services, stateTokenOf(ctx), pathOf(place))),
);

/** Somebody else is to sign in, or the same one in another way. @param again shows the first step */
export const receiveRestart: StepReceiver = async (house, ctx, place, again) => {
  house.formTokens.verify(ctx, await readForm(ctx));
  await abandonStep(house.services, stateTokenOf(ctx));
  keepStateToken(house, ctx, place, undefined);
  await again();
};
