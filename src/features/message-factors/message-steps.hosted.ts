/** The forms of sent codes at a sign-in: second factor and enrolment. */
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { showRecoveryCodes } from '../second-factors/factor-pages.hosted.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { pendingStep, receiver, type StepReceiver, showStep, waitingAt } from '../sign-in/second-step.hosted.ts';
import { keepStateToken, pathOfPlace, type SignInPlace, signInFrame, stateTokenOf } from '../sign-in/sign-in-place.hosted.ts';
import { InvalidStateToken } from '../sign-in/sign-in-steps.service.ts';
import type { NotSent } from './factor-messages.service.ts';
import { beginMessageEnrolment, confirmMessageEnrolment, forgetCodeSentAt, requestFactorCode } from './message-enrolment.service.ts';

/** Redirects to the page for entering the code, or shows why none was sent. */
async function afterSending(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  problem: NotSent | 'NOT_A_NUMBER' | undefined,
): Promise<void> {
  if (problem === undefined) return seeOther(ctx, withCarriedParameters(ctx, pathOfPlace(place)));
  const step = await pendingStep(deps, ctx, place, stateTokenOf(deps, ctx));
  if (step === undefined) throw new InvalidStateToken();
  await showStep(deps, ctx, place, step, problem);
}

/** POST …/factor-send: sends a code for the second factor. @throws {TooManyFailures} */
export const receiveFactorSend: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const request = visitor(ctx, deps.config);
  await afterSending(
    deps,
    ctx,
    place,
    await requestFactorCode(deps.services, waitingAt(deps, ctx, place), form.get('factorId') ?? '', request),
  );
});

/** Parses the form for a new factor. */
export const readMessageFactorForm = (form: URLSearchParams) => ({
  type: form.get('factorId') ?? '',
  number: form.get('phoneNumber')?.slice(0, 40),
});

/** POST …/enrol-message: sends the first code of a new factor. @throws {TooManyFailures} */
export const receiveMessageEnrolment: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const step = await pendingStep(deps, ctx, place, stateTokenOf(deps, ctx));
  if (step === undefined) throw new InvalidStateToken();
  const at = waitingAt(deps, ctx, place);
  const request = visitor(ctx, deps.config);
  await afterSending(deps, ctx, place, await beginMessageEnrolment(deps.services, at, readMessageFactorForm(form), step.amr, request));
});

/** POST …/enrol-code: receives the first code. @throws {TooManyFailures} */
export const receiveFirstCode: StepReceiver = receiver(async (deps, ctx, place, form) => {
  const at = waitingAt(deps, ctx, place);
  const step = await pendingStep(deps, ctx, place, at.stateToken);
  if (step === undefined) throw new InvalidStateToken();
  if (step.next !== 'ENROLL') return showStep(deps, ctx, place, step);
  const added = await confirmMessageEnrolment(deps.services, at, (form.get('passCode') ?? '').slice(0, 100), visitor(ctx, deps.config));
  if (added === undefined) return showStep(deps, ctx, place, step, 'message');
  keepStateToken(deps, ctx, at.place, at.stateToken);
  await showRecoveryCodes(deps.pages, ctx, signInFrame(deps, ctx, place), added.recoveryCodes);
});

/** POST …/enrol-other: returns to the choice of a factor. */
export const receiveOtherWay: StepReceiver = receiver(async (deps, ctx, place) => {
  await forgetCodeSentAt(deps.services, waitingAt(deps, ctx, place), visitor(ctx, deps.config));
  seeOther(ctx, withCarriedParameters(ctx, pathOfPlace(place)));
});
