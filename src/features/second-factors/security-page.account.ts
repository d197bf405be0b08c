/**
 * `/account/security`: a signed-in user sets up an authenticator app, creates new recovery codes, and removes the app (OWASP Multifactor
 * Authentication Cheat Sheet, "Changing MFA Factors"). Every change requires a recent sign-in.
 */
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, framedOn, ownPage, redirectAfterChange } from '../../pages/account/page.ts';
import { SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { dayOf } from '../../platform/i18n/times.ts';
import { accountsOn } from '../identity-providers/connected-accounts.account.ts';
import { typesToEnrol } from '../message-factors/message-enrolment.service.ts';
import { acceptedPasskeys } from '../passkeys/passkey-signals.service.ts';
import { passkeyRelyingParty } from '../passkeys/passkeys.service.ts';
import { readSettings } from '../settings/settings.service.ts';
import { change, type SignedInSession, signInFor } from '../sign-in/fresh-sign-in.hosted.ts';
import { confirmEnrolment } from '../sign-in/sign-in-enrolment.service.ts';
import { abandonStep, InvalidStateToken, readStep } from '../sign-in/sign-in-steps.service.ts';
import { trustedBrowsersOn } from '../trusted-browsers/trusted-browsers.account.ts';
import { type StepFrame, showEnrolment, showRecoveryCodes } from './factor-pages.hosted.ts';
import { beginEnrolment, ownFactors, removeOwnFactor, replaceOwnRecoveryCodes } from './own-factors.service.ts';
import { isMultiFactor, withSecondFactor } from './second-factor.policy.ts';

/** GET /account/security */
export const securityPage = ownPage('security', async (deps, ctx, visit) => {
  const own = await ownFactors(deps.services, visit.user.id, visitor(ctx, deps.config));
  if (own === undefined) return seeOther(ctx, signInFor('security'));
  const language = pageLanguage(ctx);
  const locals = {
    factors: own.factors.map(({ id, type, name, created, lastUsed, ...factor }) => ({
      ...{ id, type, name },
      disabled: 'status' in factor && factor.status === 'DISABLED',
      added: dayOf(created),
      used: lastUsed && dayOf(lastUsed),
      onlyWay: id === own.onlyWay,
    })),
    messageTypes: await typesToEnrol(deps.services, own.user, visit.session.amr, visitor(ctx, deps.config)),
    passkeysPossible: passkeyRelyingParty(deps.config) !== undefined,
    recoveryCodes: own.recoveryCodes,
    signals: await acceptedPasskeys(deps.services, own.user),
    ...(await accountsOn(deps, ctx, own.user)),
    ...(await trustedBrowsersOn(deps, language, visit.user.id)),
    action: (step: string) => `${SECURITY_PAGE}/${step}`,
  };
  const drawing = { page: 'security', heading: language.text('security.title'), scripts: ['passkey-signals.js'] } as const;
  await draw(deps, ctx, visit, 'account/security', drawing, locals);
});

/** For the pages of a factor: in this page's frame, with a link back. */
export const frameOf = (deps: AccountDeps, ctx: Koa.Context, session: SignedInSession, stateToken?: string): StepFrame => ({
  action: (step) => `${SECURITY_PAGE}/${step}`,
  hidden: deps.formTokens.field(ctx, session.accountId),
  stateToken,
  back: SECURITY_PAGE,
  framed: framedOn(deps, ctx, 'security', session),
});

/** State tokens of an enrolment are valid for their user only. */
export const enrolmentPlaceOf = (userId: string): string => `${SECURITY_PAGE} ${userId}`;

async function showApp(deps: AccountDeps, ctx: Koa.Context, session: SignedInSession, stateToken: string, wrong: boolean): Promise<void> {
  const step = await readStep(deps.services, stateToken, enrolmentPlaceOf(session.accountId), undefined);
  if (step?.secret === undefined) return seeOther(ctx, SECURITY_PAGE);
  const { name: issuer } = await readSettings(deps.services, 'branding');
  await showEnrolment(deps.pages, ctx, frameOf(deps, ctx, session, stateToken), { ...step, issuer }, wrong);
}

/** POST /account/security/app: shows the QR code */
export const addApp = change<AccountDeps>(async (deps, ctx, session) => {
  const { accountId } = session;
  await showApp(deps, ctx, session, await beginEnrolment(deps.services, accountId, enrolmentPlaceOf(accountId)), false);
});

/** POST /account/security/enrol: the first code of the app; then the recovery codes are shown */
export const confirmApp = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId: userId, amr } = session;
  const stateToken = form.get('stateToken') ?? '';
  try {
    const passCode = form.get('passCode') ?? '';
    const codes = await confirmEnrolment(deps.services, stateToken, passCode, enrolmentPlaceOf(userId), visitor(ctx, deps.config), {
      amr,
    });
    if (codes === undefined) return await showApp(deps, ctx, session, stateToken, true);
    await abandonStep(deps.services, stateToken);
    // Just verified: the session must not require it again.
    if (!isMultiFactor(amr)) await deps.sessions.strengthen(ctx.req, ctx.res, withSecondFactor(amr, ['otp']));
    if (codes.length === 0) return redirectAfterChange(ctx, 'security', 'factor-added');
    await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, session), codes);
  } catch (error) {
    if (!(error instanceof InvalidStateToken)) throw error;
    seeOther(ctx, SECURITY_PAGE);
  }
});

/** POST /account/security/recovery-codes: new ones in place of the former */
export const newCodes = change<AccountDeps>(async (deps, ctx, session) => {
  const codes = await replaceOwnRecoveryCodes(deps.services, session.accountId, visitor(ctx, deps.config));
  if (codes === undefined) return seeOther(ctx, SECURITY_PAGE);
  await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, session), codes);
});

/** POST /account/security/remove */
export const removeApp = change<AccountDeps>(async (deps, ctx, { accountId: userId }, form) => {
  const removed = await removeOwnFactor(deps.services, userId, form.get('factorId') ?? '', visitor(ctx, deps.config));
  redirectAfterChange(ctx, 'security', removed ? 'factor-removed' : 'factor-gone');
});
