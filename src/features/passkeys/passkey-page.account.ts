/** `/account/security/passkey`: a signed-in user creates and names a passkey. Requires a recent sign-in, as every change of sign-in methods. */

import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, ownPage, redirectAfterChange, type Show, showAgain } from '../../pages/account/page.ts';
import { SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { showRecoveryCodes } from '../second-factors/factor-pages.hosted.ts';
import { findOwnPasskey, renameOwnPasskey } from '../second-factors/own-factors.service.ts';
import { isMultiFactor, withSecondFactor } from '../second-factors/second-factor.policy.ts';
import { frameOf } from '../second-factors/security-page.account.ts';
import { change, type SignedInSession } from '../sign-in/fresh-sign-in.hosted.ts';
import { creationForm, readRegistration } from './passkey-ceremonies.hosted.ts';
import { addOwnPasskey, LONGEST_NAME } from './passkey-enrolment.service.ts';
import { PASSKEY_SCRIPTS } from './passkey-forms.hosted.ts';

const showing =
  ({ refused = false } = {}): Show =>
  async (deps, ctx, visit) => {
    const { user } = visit;
    const place = { place: SECURITY_PAGE, action: `${SECURITY_PAGE}/enroll-passkey`, owner: user.id };
    const passkey = await creationForm(deps, ctx, place, user);
    const { text } = pageLanguage(ctx);
    const problems = refused ? [{ field: 'passkey-name', message: text('passkey.not-made') }] : [];
    const drawing = { page: 'security', heading: text('passkey.add'), problems, scripts: PASSKEY_SCRIPTS } as const;
    await draw(deps, ctx, visit, 'account/enroll-passkey', drawing, { passkey, back: SECURITY_PAGE });
  };

const show = (deps: AccountDeps, ctx: Koa.Context, session: SignedInSession, options = {}): Promise<void> =>
  showAgain(deps, ctx, 'security', session, showing(options));

/** POST /account/security/passkey: shows the page */
export const addPasskeyPage = change<AccountDeps>((deps, ctx, session) => show(deps, ctx, session));

/** POST /account/security/enrol-passkey: a passkey was created; with the first factor the recovery codes are shown */
export const receivePasskey = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId: userId, amr } = session;
  const registration = await readRegistration(deps, ctx, form, { place: SECURITY_PAGE, userId });
  const added = await addOwnPasskey(deps.services, userId, registration, { amr }, visitor(ctx, deps.config));
  if (added === undefined) return show(deps, ctx, session, { refused: true });
  // Just verified: the session must not require it again.
  if (!isMultiFactor(amr)) await deps.sessions.strengthen(ctx.req, ctx.res, withSecondFactor(amr, added.methods));
  if (added.recoveryCodes.length === 0) return redirectAfterChange(ctx, 'security', 'factor-added');
  await showRecoveryCodes(deps.pages, ctx, frameOf(deps, ctx, session), added.recoveryCodes);
});

// `/account/security/passkey/<id>`: the user renames one of their passkeys. Passkeys of others and deleted ones have no page.

/** @param next responds that the page does not exist @param typed the refused name */
const showingName =
  (id: string, next: Koa.Next, typed?: string): Show =>
  async (deps, ctx, visit) => {
    const passkey = await findOwnPasskey(deps.services, visit.user.id, id);
    if (passkey === undefined) return next();
    const { text } = pageLanguage(ctx);
    const message = typed === undefined ? undefined : text('passkey.name-wrong', { most: String(LONGEST_NAME) });
    const problems = message === undefined ? [] : [{ field: 'passkey-name', message }];
    const locals = { action: ctx.path, name: typed ?? passkey.name, most: LONGEST_NAME, problem: message, back: SECURITY_PAGE };
    await draw(
      deps,
      ctx,
      visit,
      'account/passkey-name',
      { page: 'security', heading: text('passkey.rename-one', { name: passkey.name }), problems },
      locals,
    );
  };

/** GET /account/security/passkey/:id */
export const passkeyNamePage = (deps: AccountDeps, ctx: RouterContext, next: Koa.Next): Promise<void> =>
  ownPage('security', showingName(ctx.params.id ?? '', next))(deps, ctx);

/** POST /account/security/passkey/:id */
export const receivePasskeyName = (deps: AccountDeps, ctx: RouterContext, next: Koa.Next): Promise<void> =>
  change<AccountDeps>(async (_deps, _ctx, session, form) => {
    const id = ctx.params.id ?? '';
    const name = form.get('name') ?? '';
    const outcome = await renameOwnPasskey(deps.services, session.accountId, { id, name }, visitor(ctx, deps.config));
    if (outcome === 'none') return next();
    if (outcome === 'wrong') return showAgain(deps, ctx, 'security', session, showingName(id, next, name));
    redirectAfterChange(ctx, 'security', 'passkey-named');
  })(deps, ctx);
