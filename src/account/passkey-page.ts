/** `/account/security/passkey`: a signed-in user makes a passkey, and gives it a name. After a fresh sign-in, as every change of how he signs in. */
import type Koa from 'koa';
import { showRecoveryCodes } from '../hosted/factor-pages.ts';
import { change, SECURITY_PAGE } from '../hosted/fresh-sign-in.ts';
import type { House } from '../hosted/house.ts';
import { pageLanguage } from '../hosted/page-language.ts';
import { creationForm, readRegistration } from '../hosted/passkey-ceremonies.ts';
import { PASSKEY_SCRIPTS } from '../hosted/passkey-forms.ts';
import { visitor } from '../hosted/visitor.ts';
import { seeOther } from '../http/see-other.ts';
import { isMultiFactor, withSecondFactor } from '../policy/second-factor.ts';
import { ownFactors } from '../services/own-factors.ts';
import { addOwnPasskey } from '../services/passkey-enrolment.ts';

async function show(house: House, ctx: Koa.Context, userId: string, { refused = false } = {}): Promise<void> {
  const own = await ownFactors(house.services, userId);
  if (own === undefined) return seeOther(ctx, SECURITY_PAGE);
  const passkey = await creationForm(house, ctx, { place: SECURITY_PAGE, action: `${SECURITY_PAGE}/enroll-passkey` }, own.user);
  const language = pageLanguage(ctx);
  const { text } = language;
  const heading = text('passkey.add');
  const locals = {
    ...language,
    title: refused ? text('error.title-prefix', { title: heading }) : heading,
    heading,
    account: text('factor.account', { name: own.user.login }),
    passkey,
    problem: refused ? text('passkey.not-made') : undefined,
    back: SECURITY_PAGE,
    scripts: PASSKEY_SCRIPTS,
  };
  await house.pages.render(ctx, 'enroll-passkey', locals, { status: refused ? 400 : 200 });
}

/** POST /account/security/passkey: shows the page */
export const addPasskeyPage = change((house, ctx, { accountId }) => show(house, ctx, accountId));

/** POST /account/security/enroll-passkey: a passkey was made; with the first factor the recovery codes are shown */
export const receivePasskey = change(async (house, ctx, { accountId: userId, amr }, form) => {
  const registration = await readRegistration(house, ctx, form, { place: SECURITY_PAGE, userId });
  const options = { multiFactor: isMultiFactor(amr) };
  const added = await addOwnPasskey(house.services, userId, registration, options, visitor(ctx, house.config));
  if (added === undefined) return show(house, ctx, userId, { refused: true });
  // Signed in by it just now: the session must not be asked to prove it again.
  if (!options.multiFactor) await house.sessions.strengthen(ctx.req, ctx.res, withSecondFactor(amr, added.methods));
  if (added.recoveryCodes.length === 0) return seeOther(ctx, SECURITY_PAGE);
  const frame = { action: (step: string) => `${SECURITY_PAGE}/${step}`, hidden: house.formTokens.field(ctx), back: SECURITY_PAGE };
  await showRecoveryCodes(house.pages, ctx, frame, added.recoveryCodes);
});
