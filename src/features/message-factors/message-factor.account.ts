/** `/account/security`: a signed-in user sets up codes that are sent to them. Requires a recent sign-in, as for every change of how they sign in. */
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { redirectAfterChange } from '../../pages/account/page.ts';
import { SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { showFirstCode, showRecoveryCodes, type Wrong } from '../second-factors/factor-pages.hosted.ts';
import { beginEnrolment } from '../second-factors/own-factors.service.ts';
import { isByEmailAlone, isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { enrolmentPlaceOf, frameOf } from '../second-factors/security-page.account.ts';
import { change, type SignedInSession } from '../sign-in/fresh-sign-in.hosted.ts';
import { abandonStep, InvalidStateToken, readStep } from '../sign-in/sign-in-steps.service.ts';
import { beginMessageEnrolment, codeSentAt, confirmMessageEnrolment, type WaitingStep } from './message-enrolment.service.ts';
import { readMessageFactorForm } from './message-steps.hosted.ts';

async function show(deps: AccountDeps, ctx: Koa.Context, session: SignedInSession, at: WaitingStep, wrong: Wrong): Promise<void> {
  const request = visitor(ctx, deps.config);
  const step = await readStep(deps.services, at.stateToken, at.place, request.device);
  const sent = await codeSentAt(deps.services, at, request);
  if (step === undefined || sent === undefined) return seeOther(ctx, SECURITY_PAGE);
  await showFirstCode(deps.pages, ctx, frameOf(deps, ctx, session, at.stateToken), { ...step, sent }, wrong);
}

/** Last parts of the message keys `account.done.…`. */
const MESSAGES: Readonly<Record<string, string>> = {
  TOO_MANY_REQUESTS: 'code-too-many',
  NOT_A_NUMBER: 'code-no-number',
  NUMBER_NOT_ALLOWED: 'code-not-allowed',
};

/** POST /account/security/enrol-message: sends the first code, or another one. @throws {TooManyFailures} */
export const addMessages = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId, amr } = session;
  const place = enrolmentPlaceOf(accountId);
  const typed = form.get('stateToken') ?? '';
  try {
    const stateToken = typed === '' ? await beginEnrolment(deps.services, accountId, place) : typed;
    const at = { stateToken, place };
    const problem = await beginMessageEnrolment(deps.services, at, readMessageFactorForm(form), amr, visitor(ctx, deps.config));
    if (problem === undefined || typed !== '') return await show(deps, ctx, session, at, problem ?? false);
    redirectAfterChange(ctx, 'security', MESSAGES[problem] ?? 'code-not-sent');
  } catch (error) {
    if (!(error instanceof InvalidStateToken)) throw error;
    seeOther(ctx, SECURITY_PAGE);
  }
});

/**
 * POST /account/security/enrol-code: confirms the factor by its first code. With the user's first factor, recovery codes are shown.
 * @throws {TooManyFailures}
 */
export const confirmMessages = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId, amr } = session;
  const at = { stateToken: form.get('stateToken') ?? '', place: enrolmentPlaceOf(accountId) };
  try {
    const passCode = (form.get('passCode') ?? '').slice(0, 100);
    const added = await confirmMessageEnrolment(deps.services, at, passCode, visitor(ctx, deps.config), { amr });
    if (added === undefined) return await show(deps, ctx, session, at, 'message');
    await abandonStep(deps.services, at.stateToken);
    // The factor was just verified, so the session must not ask for it again. After a sign-in by e-mail, an e-mail code is not a second factor.
    const isNew = !(isByEmailAlone(amr) && added.methods.includes('otp'));
    if (!isMultiFactor(amr) && isNew) await deps.sessions.strengthen(ctx.req, ctx.res, withSecondFactor(amr, added.methods));
    if (added.recoveryCodes.length === 0) return redirectAfterChange(ctx, 'security', 'factor-added');
    await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, session), added.recoveryCodes);
  } catch (error) {
    if (!(error instanceof InvalidStateToken)) throw error;
    seeOther(ctx, SECURITY_PAGE);
  }
});
