/** `/account/security/passkey`: a signed-in user makes a passkey, and gives it a name. After a fresh sign-in, as every change of how he signs in. */
import type Koa from 'koa';
import type { AccountHouse } from '../../pages/account/account-house.ts';
import { doneWith, draw, type Show, showAgain } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/visitor.ts';
import { SECURITY_PAGE } from '../../pages/hosted/way.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { showRecoveryCodes } from '../second-factors/factor-pages.hosted.ts';
import { isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { frameOf } from '../second-factors/security-page.account.ts';
import { change, type Session } from '../sign-in/fresh-sign-in.hosted.ts';
import { creationForm, readRegistration } from './passkey-ceremonies.hosted.ts';
import { addOwnPasskey } from './passkey-enrolment.service.ts';
import { PASSKEY_SCRIPTS } from './passkey-forms.hosted.ts';

const showing =
  ({ refused = false } = {}): Show =>
  async (house, ctx, visit) => {
    const { user } = visit;
    const place = { place: SECURITY_PAGE, action: `${SECURITY_PAGE}/enroll-passkey`, owner: user.id };
    const passkey = await creationForm(house, ctx, place, user);
    const { text } = pageLanguage(ctx);
    const problems = refused ? [{ field: 'passkey-name', message: text('passkey.not-made') }] : [];
    const drawing = { page: 'security', heading: text('passkey.add'), problems, scripts: PASSKEY_SCRIPTS } as const;
    await draw(house, ctx, visit, 'account/enroll-passkey', drawing, { passkey, back: SECURITY_PAGE });
  };

const show = (house: AccountHouse, ctx: Koa.Context, session: Session, options = {}): Promise<void> =>
  showAgain(house, ctx, 'security', session, showing(options));

/** POST /account/security/passkey: shows the page */
export const addPasskeyPage = change<AccountHouse>((house, ctx, session) => show(house, ctx, session));

/** POST /account/security/enroll-passkey: a passkey was made; with the first factor the recovery codes are shown */
export const receivePasskey = change<AccountHouse>(async (house, ctx, session, form) => {
  const { accountId: userId, amr } = session;
  const registration = await readRegistration(house, ctx, form, { place: SECURITY_PAGE, userId });
  const options = { multiFactor: isMultiFactor(amr) };
  const added = await addOwnPasskey(house.services, userId, registration, options, visitor(ctx, house.config));
  if (added === undefined) return show(house, ctx, session, { refused: true });
  // Signed in by it just now: the session must not be asked to prove it again.
  if (!options.multiFactor) await house.sessions.strengthen(ctx.req, ctx.res, withSecondFactor(amr, added.methods));
  if (added.recoveryCodes.length === 0) return doneWith(ctx, 'security', 'factor-added');
  await showRecoveryCodes(house.pages, ctx, frameOf(house, ctx, session), added.recoveryCodes);
});
