/**
 * What follows once somebody has proved who he is, wherever that was: the second factor, the enrolment of one, or the end of the sign-in. A cookie of the
 * place carries the state token, so that a page can be loaded again, or in another language.
 */
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import { carryOn } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/visitor.ts';
import { cookieIn, prefixed } from '../../platform/http/cookie-names.ts';
import { browserDevice, deviceOf, keepDevice } from '../../platform/http/device-cookie.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { isAdministrator } from '../administrators/administrators.service.ts';
import { creationForm, factorForm, readRegistration } from '../passkeys/passkey-ceremonies.hosted.ts';
import { enrolPasskey } from '../passkeys/passkey-enrolment.service.ts';
import { CREDENTIAL, readAnswer } from '../passkeys/passkey-forms.hosted.ts';
import { provePasskey } from '../passkeys/passkey-proofs.service.ts';
import { replaceExpiredPassword } from '../passwords/expired-passwords.service.ts';
import { type PasswordForm, showPasswordForm } from '../passwords/password-form.hosted.ts';
import { showEnrolment, showFactor, showRecoveryCodes, type Wrong } from '../second-factors/factor-pages.hosted.ts';
import type { Proof } from '../second-factors/factor-proofs.service.ts';
import type { Purpose } from '../second-factors/second-factor-demand.service.ts';
import { readPasswordPolicy, readSettings } from '../settings/settings.service.ts';
import { adoptLanguage } from '../users/own-language.hosted.ts';
import { addressOfPage, forgetPageAfterSignIn, pageAfterSignIn } from './fresh-sign-in.hosted.ts';
import type { InteractionDetails, SignInDeps } from './interactions.hosted.ts';
import type { FirstStep, PasswordCheck } from './sign-in.service.ts';
import {
  abandonStep,
  afterFirstStep,
  byPassword,
  confirmEnrolment,
  finishEnrolment,
  keepFirstStep,
  type PendingStep,
  readStep,
  type SignInStep,
  StepGone,
  takeFirstStep,
  verifyFactor,
} from './sign-in-steps.service.ts';

/** The sign-in belongs to an authorization request, or stands by itself at `/signin`. */
export type SignInPlace = InteractionDetails | 'standalone';

const pathOf = (place: SignInPlace): string => (place === 'standalone' ? '/signin' : `/interaction/${place.serverId}/${place.uid}`);

/** What somebody signs in for there. */
export const purposeOf = (place: SignInPlace): Purpose =>
  place === 'standalone'
    ? {}
    : {
        applicationId: place.application.id,
        applicationDemands: place.applicationDemands,
        acrValues: place.acrValues ?? [],
      };

const demandOf = (place: SignInPlace) => ({ place: pathOf(place), enrolls: true, ...purposeOf(place) });

const COOKIE = 'gatehouse-sign-in';

const stateTokenOf = ({ config }: SignInDeps, ctx: Koa.Context): string => cookieIn(ctx, COOKIE, config.secure, '/signin') ?? '';

/** @param path of the place @param stateToken undefined: takes the cookie away */
function keepStateToken(deps: SignInDeps, ctx: Koa.Context, path: string, stateToken: string | undefined): void {
  const { secure } = deps.config;
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  const attributes = { signed: false, httpOnly: true, secure, sameSite: 'lax', path, overwrite: true } as const;
  ctx.cookies.set(prefixed(COOKIE, secure, path), stateToken ?? '', {
    ...attributes,
    maxAge: stateToken === undefined ? 0 : LIFETIMES.signInStep * 1000,
  });
}

/** Where a sign-in by itself leads: to a page of this service, never to an address out of the query (an open redirect, RFC 9700 section 4.11). */
export async function afterwards(deps: SignInDeps, ctx: Koa.Context, userId: string): Promise<string> {
  const page = pageAfterSignIn(deps, ctx);
  if (page === undefined) return (await isAdministrator(deps.services, userId)) ? '/admin' : addressOfPage('');
  forgetPageAfterSignIn(deps, ctx);
  return addressOfPage(page);
}

/** Leads on from the first step: to the next page, or to the end of the sign-in. */
export async function continueSignIn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, first: FirstStep): Promise<void> {
  await goOn(deps, ctx, place, await afterFirstStep(deps.services, first, demandOf(place), visitor(ctx, deps.config)));
}

/** Leads on from a right password. @param again shows the first step, when the password was changed meanwhile */
export async function continueByPassword(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  checked: PasswordCheck,
  again: () => Promise<void>,
): Promise<void> {
  try {
    await continueSignIn(deps, ctx, place, byPassword(checked));
  } catch (error) {
    if (!(error instanceof StepGone)) throw error;
    await again();
  }
}

async function goOn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, step: SignInStep): Promise<void> {
  if (step.kind === 'done') return finishSignIn(deps, ctx, place, step);
  // It goes on in this browser alone.
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, pathOf(place), step.stateToken);
  seeOther(ctx, carryOn(ctx, pathOf(place)));
}

async function finishSignIn(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  step: SignInStep & { readonly kind: 'done' },
): Promise<void> {
  const { accountId, amr, authenticatedAt, idp, profile } = step;
  await adoptLanguage(deps, ctx, accountId, profile);
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  if (stateTokenOf(deps, ctx) !== '') keepStateToken(deps, ctx, pathOf(place), undefined);
  if (place === 'standalone') {
    await deps.sessions.signIn(ctx.req, ctx.res, accountId, amr, idp);
    return seeOther(ctx, await afterwards(deps, ctx, accountId));
  }
  const result = { login: { accountId, amr, ...(authenticatedAt && { authenticatedAt }), ...(idp !== undefined && { idp }) } };
  seeOther(ctx, carryOn(ctx, await deps.interactions.finish(ctx.req, ctx.res, place.serverId, place.uid, result)));
}

/** Leads to the place where a sign-in goes on whose first step was made on this page. @param address a path of this service, with its query */
export async function continueElsewhere(deps: SignInDeps, ctx: Koa.Context, address: string, first: FirstStep): Promise<void> {
  const [path = ''] = address.split('?');
  const stateToken = await keepFirstStep(deps.services, first, path, visitor(ctx, deps.config));
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, path, stateToken);
  seeOther(ctx, address);
}

/** What the pages of the second step are made of. */
const frameOf = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace) => {
  const path = pathOf(place);
  const action = (step: string) => carryOn(ctx, `${path}/${step}`);
  const common = { action, hidden: deps.formTokens.field(ctx) };
  if (place === 'standalone') return common;
  const { application, redirectOrigins, uiLocales } = place;
  return { ...common, application, redirectOrigins, uiLocales, cancel: action('cancel') };
};

const pendingStep = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<PendingStep | undefined> =>
  readStep(deps.services, stateToken, pathOf(place), deviceOf(ctx, deps.config));

/** Shows the page of the second step. @returns false when this browser waits for none here */
export async function showPendingStep(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<boolean> {
  const stateToken = stateTokenOf(deps, ctx);
  const step = stateToken === '' ? undefined : await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) return false;
  if (step.next === 'GO_ON') return goOnFromElsewhere(deps, ctx, place, stateToken);
  await show(deps, ctx, place, step);
  return true;
}

/** @returns false when another window went on with it */
async function goOnFromElsewhere(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<boolean> {
  try {
    await goOn(deps, ctx, place, await takeFirstStep(deps.services, stateToken, demandOf(place), visitor(ctx, deps.config)));
    return true;
  } catch (error) {
    if (!(error instanceof StepGone)) throw error;
    return false;
  }
}

async function show(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, step: PendingStep, wrong: Wrong = false): Promise<void> {
  const frame = frameOf(deps, ctx, place);
  if (step.next === 'PASSWORD') return showNewPassword(deps, ctx, place, step);
  if (step.next === 'FACTOR') {
    const passkey = await factorForm(deps, ctx, { place: pathOf(place), action: frame.action('factor') }, step);
    return showFactor(deps.pages, ctx, frame, { ...step, passkey }, wrong);
  }
  if (step.next === 'ENROLL') {
    const { name: issuer } = await readSettings(deps.services, 'branding');
    const passkey = await creationForm(deps, ctx, { place: pathOf(place), action: frame.action('enroll-passkey') }, step.user);
    return showEnrolment(deps.pages, ctx, frame, { ...step, issuer, passkey }, wrong);
  }
  return showRecoveryCodes(deps.pages, ctx, frame, []);
}

async function showNewPassword(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  { user }: PendingStep,
  problem?: PasswordForm['problem'],
): Promise<void> {
  const { action, hidden, ...rest } = frameOf(deps, ctx, place);
  const policy = await readPasswordPolicy(deps.services.database.knex);
  const addresses = { action: action('password'), restart: action('restart') };
  await showPasswordForm(deps.pages, ctx, {
    ...rest,
    ...addresses,
    hidden: [hidden],
    user,
    policy,
    notice: 'choose-password.expired',
    problem,
  });
}

/** A page of the second step was sent. @param gone shows the first step again, when the state token is worth nothing any more */
export type StepReceiver = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, gone: () => Promise<void>) => Promise<void>;

const receiver =
  (run: (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, form: URLSearchParams) => Promise<void>): StepReceiver =>
  async (deps, ctx, place, gone) => {
    const form = await readForm(ctx);
    deps.formTokens.verify(ctx, form);
    try {
      await run(deps, ctx, place, form);
    } catch (error) {
      if (!(error instanceof StepGone)) throw error;
      const step = await pendingStep(deps, ctx, place, stateTokenOf(deps, ctx));
      // A form of another step: sent twice, or from another window. An enrolment alone is over, when another window has made one.
      if (step !== undefined && step.next !== 'ENROLL') return show(deps, ctx, place, step);
      keepStateToken(deps, ctx, pathOf(place), undefined);
      await gone();
    }
  };

/** The second factor. @throws {TooManyFailures} */
export const receiveFactor: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const proof = await proofIn(deps, ctx, place, form);
  const done = await verifyFactor(deps.services, stateToken, proof, demandOf(place), visitor(ctx, deps.config));
  if (done !== undefined) return goOn(deps, ctx, place, done);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new StepGone();
  await show(deps, ctx, place, step, proof.kind === 'passkey' ? 'passkey' : true);
});

async function proofIn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, form: URLSearchParams): Promise<Proof> {
  if (form.has(CREDENTIAL)) {
    const answer = await readAnswer(deps, ctx, form, { kind: 'factor', place: pathOf(place) });
    return { kind: 'passkey', proof: await provePasskey(deps.services, answer, { userVerified: false }) };
  }
  const recovery = form.get('recoveryCode') ?? '';
  if (recovery === '') return { kind: 'code', passCode: form.get('passCode') ?? '' };
  return { kind: 'recovery', passCode: recovery.slice(0, 100) };
}

/** The first code of the factor that is being enrolled; then the recovery codes are shown. */
export const receiveEnrolment: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new StepGone();
  // Sent again by loading the page with the recovery codes again.
  if (step.next !== 'ENROLL') return show(deps, ctx, place, step);
  const codes = await confirmEnrolment(deps.services, stateToken, form.get('passCode') ?? '', pathOf(place), visitor(ctx, deps.config));
  if (codes === undefined) return show(deps, ctx, place, step, true);
  keepStateToken(deps, ctx, pathOf(place), stateToken);
  await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, place), codes);
});

/** A passkey in place of the app. */
export const receivePasskeyEnrolment: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new StepGone();
  if (step.next !== 'ENROLL') return show(deps, ctx, place, step);
  const registration = await readRegistration(deps, ctx, form, { place: pathOf(place), userId: step.user.id });
  const codes = await enrolPasskey(deps.services, stateToken, registration, pathOf(place), visitor(ctx, deps.config));
  if (codes === undefined) return show(deps, ctx, place, step, 'passkey');
  keepStateToken(deps, ctx, pathOf(place), stateToken);
  await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, place), codes);
});

/** Another password in place of an expired one. */
export const receiveNewPassword: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const password = form.get('password') ?? '';
  const request = visitor(ctx, deps.config);
  const outcome =
    password === ''
      ? ({ problem: 'missing' } as const)
      : await replaceExpiredPassword(deps.services, { stateToken, password }, demandOf(place), request);
  if (!('problem' in outcome)) return goOn(deps, ctx, place, outcome);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step?.next !== 'PASSWORD') throw new StepGone();
  await showNewPassword(deps, ctx, place, step, outcome.problem);
});

/** On from the recovery codes. */
export const receiveEnrolled: StepReceiver = receiver(async (deps, ctx, place) =>
  goOn(deps, ctx, place, await finishEnrolment(deps.services, stateTokenOf(deps, ctx), demandOf(place), visitor(ctx, deps.config))),
);

/** Somebody else is to sign in, or the same one in another way. @param again shows the first step */
export const receiveRestart: StepReceiver = async (deps, ctx, place, again) => {
  deps.formTokens.verify(ctx, await readForm(ctx));
  await abandonStep(deps.services, stateTokenOf(deps, ctx));
  keepStateToken(deps, ctx, pathOf(place), undefined);
  await again();
};
