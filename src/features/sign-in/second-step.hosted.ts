/**
 * The pages of the second step and their forms: the second factor, its enrolment, recovery codes, and the replacement of an expired
 * password. The state token is in a cookie, so that a page can be reloaded, also in another language.
 */
import type Koa from 'koa';
import { visitor } from '../../pages/hosted/deps.ts';
import { deviceOf } from '../../platform/http/cookies.ts';
import { readForm } from '../../platform/http/forms.ts';
import { showPendingCode } from '../email-codes/email-code.hosted.ts';
import { abandonCode } from '../email-codes/email-codes.service.ts';
import { codeSentAt, typesToEnrol, type WaitingStep } from '../message-factors/message-enrolment.service.ts';
import { creationForm, factorForm, readRegistration } from '../passkeys/passkey-ceremonies.hosted.ts';
import { enrolPasskey } from '../passkeys/passkey-enrolment.service.ts';
import { CREDENTIAL, readCredential } from '../passkeys/passkey-forms.hosted.ts';
import { refuseOffer } from '../passkeys/passkey-offer.service.ts';
import { provePasskey } from '../passkeys/passkey-proofs.service.ts';
import { replaceExpiredPassword } from '../passwords/expired-passwords.service.ts';
import { type PasswordForm, showPasswordForm } from '../passwords/password-form.hosted.ts';
import {
  showEnrolment,
  showFactor,
  showFirstCode,
  showOffer,
  showRecoveryCodes,
  TRUST_FIELD,
  type Wrong,
} from '../second-factors/factor-pages.hosted.ts';
import type { Proof } from '../second-factors/factor-proofs.service.ts';
import { readPasswordPolicy, readSettings } from '../settings/settings.service.ts';
import { daysOfTrust } from '../trusted-browsers/trusted-browsers.service.ts';
import { endHostedSignIn, orRedirectToProvider, showNextStep } from './continue-sign-in.hosted.ts';
import type { SignInDeps } from './interactions.hosted.ts';
import { confirmEnrolment, finishEnrolment } from './sign-in-enrolment.service.ts';
import { goalOf, keepStateToken, pathOfPlace, type SignInPlace, signInFrame, stateTokenOf } from './sign-in-place.hosted.ts';
import { abandonStep, InvalidStateToken, type PendingStep, readStep, useFirstStep, verifyFactor } from './sign-in-steps.service.ts';

/** The step that is pending at the place in this browser. */
export const pendingStep = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<PendingStep | undefined> =>
  readStep(deps.services, stateToken, pathOfPlace(place), deviceOf(ctx, deps.config));

/** Binding of codes that are sent for this sign-in. */
export const waitingAt = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): WaitingStep => ({
  stateToken: stateTokenOf(deps, ctx),
  place: pathOfPlace(place),
});

/** Shows the page of the second step. @returns false if none is pending here */
export async function showPendingStep(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<boolean> {
  const stateToken = stateTokenOf(deps, ctx);
  const step = stateToken === '' ? undefined : await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) return showPendingCode(deps, ctx, place);
  if (step.next === 'GO_ON') return goOnFromElsewhere(deps, ctx, place, stateToken);
  await showStep(deps, ctx, place, step);
  return true;
}

/** @returns false if another window has continued it */
async function goOnFromElsewhere(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<boolean> {
  try {
    await orRedirectToProvider(ctx, place, async () =>
      showNextStep(deps, ctx, place, await useFirstStep(deps.services, stateToken, goalOf(place), visitor(ctx, deps.config))),
    );
    return true;
  } catch (error) {
    if (!(error instanceof InvalidStateToken)) throw error;
    return false;
  }
}

/** Shows the page of a step. */
export async function showStep(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  step: PendingStep,
  wrong: Wrong = false,
): Promise<void> {
  const frame = signInFrame(deps, ctx, place);
  if (step.next === 'PASSWORD') return showNewPassword(deps, ctx, place, step);
  if (step.next === 'FACTOR') {
    const passkey = await factorForm(deps, ctx, { place: pathOfPlace(place), action: frame.action('factor') }, step);
    const trustDays = await daysOfTrust(deps.services, step.user.id);
    const sent = await codeSentAt(deps.services, waitingAt(deps, ctx, place), visitor(ctx, deps.config));
    return showFactor(deps.pages, ctx, frame, { ...step, passkey, trustDays, sent }, wrong);
  }
  if (step.next === 'OFFER') {
    const passkey = await creationForm(deps, ctx, { place: pathOfPlace(place), action: frame.action('passkey-offer') }, step.user);
    return showOffer(deps.pages, ctx, frame, { ...step, passkey: passkey && { ...passkey, upgrade: true } }, wrong);
  }
  if (step.next === 'ENROLL') {
    const request = visitor(ctx, deps.config);
    const sent = await codeSentAt(deps.services, waitingAt(deps, ctx, place), request);
    if (sent !== undefined) return showFirstCode(deps.pages, ctx, frame, { ...step, sent }, wrong);
    const types = await typesToEnrol(deps.services, step.user, step.amr, request);
    const { name: issuer } = await readSettings(deps.services, 'branding');
    const passkey = await creationForm(deps, ctx, { place: pathOfPlace(place), action: frame.action('enroll-passkey') }, step.user);
    return showEnrolment(deps.pages, ctx, frame, { ...step, issuer, passkey, types }, wrong);
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
  const { action, hidden, ...rest } = signInFrame(deps, ctx, place);
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

/** Handles a second-step form. @param gone shows the first step again if the state token is no longer valid */
export type StepReceiver = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, gone: () => Promise<void>) => Promise<void>;

/** Runs a step with its form; if it has ended, redirects to the current step. */
export const receiver =
  (run: (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, form: URLSearchParams) => Promise<void>): StepReceiver =>
  async (deps, ctx, place, gone) => {
    const form = await readForm(ctx);
    deps.formTokens.verify(ctx, form);
    try {
      await run(deps, ctx, place, form);
    } catch (error) {
      if (!(error instanceof InvalidStateToken)) throw error;
      const step = await pendingStep(deps, ctx, place, stateTokenOf(deps, ctx));
      // The form is of another step: sent twice, or from another window. A pending enrolment has ended if another window has completed one.
      if (step !== undefined && step.next !== 'ENROLL' && step.next !== 'OFFER') return showStep(deps, ctx, place, step);
      keepStateToken(deps, ctx, pathOfPlace(place), undefined);
      await gone();
    }
  };

/** The second factor. @throws {TooManyFailures} */
export const receiveFactor: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const proof = await proofIn(deps, ctx, place, form);
  const trusts = form.has(TRUST_FIELD);
  const done = await verifyFactor(deps.services, stateToken, proof, goalOf(place), visitor(ctx, deps.config), { trusts });
  if (done !== undefined) return showNextStep(deps, ctx, place, done);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new InvalidStateToken();
  await showStep(deps, ctx, place, step, proof.kind === 'passkey' ? 'passkey' : form.has('factorId') ? 'message' : true);
});

async function proofIn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, form: URLSearchParams): Promise<Proof> {
  if (form.has(CREDENTIAL)) {
    const credential = await readCredential(deps, ctx, form, { kind: 'factor', place: pathOfPlace(place) });
    return { kind: 'passkey', proof: await provePasskey(deps.services, credential, { userVerified: false }) };
  }
  const recovery = form.get('recoveryCode') ?? '';
  if (recovery === '')
    return { kind: 'code', passCode: (form.get('passCode') ?? '').slice(0, 100), factorId: form.get('factorId') ?? undefined };
  return { kind: 'recovery', passCode: recovery.slice(0, 100) };
}

/** The first code of a new factor; then the recovery codes are shown. */
export const receiveEnrolment: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new InvalidStateToken();
  // The page with the recovery codes was reloaded.
  if (step.next !== 'ENROLL') return showStep(deps, ctx, place, step);
  const codes = await confirmEnrolment(
    deps.services,
    stateToken,
    form.get('passCode') ?? '',
    pathOfPlace(place),
    visitor(ctx, deps.config),
  );
  if (codes === undefined) return showStep(deps, ctx, place, step, true);
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  await showRecoveryCodes(deps.pages, ctx, signInFrame(deps, ctx, place), codes);
});

/** A passkey instead of an authenticator app. */
export const receivePasskeyEnrolment: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step === undefined) throw new InvalidStateToken();
  if (step.next !== 'ENROLL') return showStep(deps, ctx, place, step);
  const registration = await readRegistration(deps, ctx, form, { place: pathOfPlace(place), userId: step.user.id });
  const codes = await enrolPasskey(deps.services, stateToken, registration, pathOfPlace(place), visitor(ctx, deps.config));
  if (codes === undefined) return showStep(deps, ctx, place, step, 'passkey');
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  await showRecoveryCodes(deps.pages, ctx, signInFrame(deps, ctx, place), codes);
});

/** An offered passkey was created or declined. */
export const receiveOffer: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step?.next !== 'OFFER') throw new InvalidStateToken();
  const request = visitor(ctx, deps.config);
  if (!form.has(CREDENTIAL)) {
    const forGood = form.get('answer') !== 'unable';
    return endHostedSignIn(deps, ctx, place, await refuseOffer(deps.services, stateToken, goalOf(place), { forGood }, request));
  }
  const registration = await readRegistration(deps, ctx, form, { place: pathOfPlace(place), userId: step.user.id });
  const codes = await enrolPasskey(deps.services, stateToken, registration, pathOfPlace(place), request, 'OFFER');
  if (codes === undefined) return showStep(deps, ctx, place, step, 'passkey');
  if (codes.length === 0)
    return endHostedSignIn(deps, ctx, place, await finishEnrolment(deps.services, stateToken, goalOf(place), request));
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  await showRecoveryCodes(deps.pages, ctx, signInFrame(deps, ctx, place), codes);
});

/** A new password that replaces an expired one. */
export const receiveNewPassword: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const stateToken = stateTokenOf(deps, ctx);
  const password = form.get('password') ?? '';
  const request = visitor(ctx, deps.config);
  const outcome =
    password === ''
      ? ({ problem: 'missing' } as const)
      : await replaceExpiredPassword(deps.services, { stateToken, password }, goalOf(place), request);
  if (!('problem' in outcome)) return showNextStep(deps, ctx, place, outcome);
  const step = await pendingStep(deps, ctx, place, stateToken);
  if (step?.next !== 'PASSWORD') throw new InvalidStateToken();
  await showNewPassword(deps, ctx, place, step, outcome.problem);
});

/** Continues after the recovery codes. */
export const receiveEnrolled: StepReceiver = receiver(async (deps, ctx, place) =>
  endHostedSignIn(
    deps,
    ctx,
    place,
    await finishEnrolment(deps.services, stateTokenOf(deps, ctx), goalOf(place), visitor(ctx, deps.config)),
  ),
);

/** Starts over with another user or method. @param again shows the first step */
export const receiveRestart: StepReceiver = async (deps, ctx, place, again) => {
  deps.formTokens.verify(ctx, await readForm(ctx));
  await abandonStep(deps.services, stateTokenOf(deps, ctx));
  await abandonCode(deps.services, stateTokenOf(deps, ctx));
  keepStateToken(deps, ctx, pathOfPlace(place), undefined);
  await again();
};
