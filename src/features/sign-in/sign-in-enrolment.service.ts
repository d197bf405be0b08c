/** Enrolment of an authenticator app during a sign-in: a code confirms it, then the recovery codes are shown, then the sign-in is completed. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { newTotpFactor } from '../second-factors/factors.service.ts';
import { hasFactor, insertFactor, listFactors } from '../second-factors/factors.store.ts';
import { newRecoveryCodes, openTotpSecret, stepOfCode } from '../second-factors/one-time-codes.service.ts';
import { isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { deleteTrustedBrowsersOf } from '../trusted-browsers/trusted-browsers.store.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { deleteState, updateState } from './sign-in-states.store.ts';
import { finishSteps, type Goal, InvalidStateToken, inStep, inTenMinutes, type SignInStep } from './sign-in-steps.service.ts';

/**
 * Confirms a new factor by its first code; then only the completion of the sign-in remains.
 * @param options.amr of the session that adds it; absent: of the sign-in
 * @returns the recovery codes, shown only this once, none if the user had a factor before; undefined: the code is wrong
 * @throws {InvalidStateToken}
 */
export async function confirmEnrolment(
  services: Services,
  stateToken: string,
  passCode: string,
  place: string,
  request: RequestContext,
  { amr: session }: { readonly amr?: readonly string[] } = {},
): Promise<readonly string[] | undefined> {
  return inStep(services, stateToken, { ...request, place }, 'ENROLL', async (trx, state, user) => {
    // The user has enrolled a factor in another window meanwhile: this sign-in must be started again with that factor.
    const first = session ?? state.amr;
    const enrolled = isMultiFactor(first) ? (await listFactors(trx, user.id)).length > 0 : await hasFactor(trx, user.id, first);
    if (state.sealedSecret === null || enrolled) throw new InvalidStateToken();
    const isFirst = !(await hasFactor(trx, user.id));
    const secret = openTotpSecret(services.keyring, state.sealedSecret, state.id);
    const step = stepOfCode(secret, passCode, present());
    if (step === undefined) return undefined;
    const factor = newTotpFactor(services.keyring, user.id, secret);
    await insertFactor(trx, factor, step);
    await deleteTrustedBrowsersOf(trx, user.id);
    const codes = isFirst ? await newRecoveryCodes(trx, user.id) : [];
    const amr = withSecondFactor(state.amr, ['otp']);
    await updateState(trx, state.id, { next: 'FINISH', amr, sealedSecret: null, expiresAt: inTenMinutes() });
    await recordEvent(trx, {
      eventType: 'user.mfa.factor.activate',
      displayMessage: 'Activate factor for user',
      request: { ...request, actor: userTarget(user) as RequestContext['actor'] },
      targets: [userTarget(user)],
      after: { id: factor.id, type: factor.type, recoveryCodes: codes.length },
    });
    return codes;
  });
}

/** Continues after an enrolment. @throws {InvalidStateToken} */
export const finishEnrolment = (
  services: Services,
  stateToken: string,
  goal: Goal,
  request: RequestContext,
): Promise<SignInStep & { readonly kind: 'done' }> =>
  inStep(services, stateToken, { ...request, place: goal.place }, 'FINISH', async (trx, state, user) => {
    if (!(await deleteState(trx, state.id))) throw new InvalidStateToken();
    return finishSteps(services, trx, user, state.amr, { ...state, purpose: goal }, request);
  });
