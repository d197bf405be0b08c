/** `/account/security/passkey/<id>`: the user gives one of their passkeys another name. Another's, and one that is gone, has no page. */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { doneWith, draw, ownPage, type Show, showAgain } from '../../pages/account/page.ts';
import { SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { findOwnPasskey, renameOwnPasskey } from '../second-factors/own-factors.service.ts';
import { change } from '../sign-in/fresh-sign-in.hosted.ts';
import { LONGEST_NAME } from './passkey-enrolment.service.ts';

/** @param next answers that there is no such page @param typed what was refused */
const showing =
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
  ownPage('security', showing(ctx.params.id ?? '', next))(deps, ctx);

/** POST /account/security/passkey/:id */
export const receivePasskeyName = (deps: AccountDeps, ctx: RouterContext, next: Koa.Next): Promise<void> =>
  change<AccountDeps>(async (_house, _ctx, session, form) => {
    const id = ctx.params.id ?? '';
    const name = form.get('name') ?? '';
    const outcome = await renameOwnPasskey(deps.services, session.accountId, { id, name }, visitor(ctx, deps.config));
    if (outcome === 'none') return next();
    if (outcome === 'wrong') return showAgain(deps, ctx, 'security', session, showing(id, next, name));
    doneWith(ctx, 'security', 'passkey-named');
  })(deps, ctx);
