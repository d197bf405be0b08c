/**
 * `/account/password`: the user changes their password. That requires a recent sign-in and the current password, and ends all their sessions except a
 * new one in this browser.
 */
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { draw, type FormProblem, ownPage, redirectAfterChange, type Show, showAgain } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { deviceOf } from '../../platform/http/cookies.ts';
import type { Language } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { ownLinks } from '../identity-providers/own-links.service.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { change } from '../sign-in/fresh-sign-in.hosted.ts';
import type { User } from '../users/users.resource.ts';
import { changeOwnPassword, mayRemovePassword, removeOwnPassword } from './own-password.service.ts';
import { MOST_CHARACTERS, type PasswordProblem } from './password.policy.ts';
import { type PasswordRefusal, passwordRefusal } from './password-sign-in.service.ts';

type Wrong = PasswordProblem | 'missing' | 'wrong-current' | 'not-used';

/** How the user signs in without a password, one sentence for each method. */
async function waysInstead(services: Services, refusal: PasswordRefusal, user: User, text: Language['text']): Promise<readonly string[]> {
  if (refusal.reason === 'PROVIDER') return [text('account.password.use-provider', { provider: refusal.provider.name })];
  const { methods } = await currentSettings(services, 'sign-in');
  const { connected } = await ownLinks(services, user.id);
  return [
    ...(methods.includes('passkey') ? [text('account.password.use-passkey')] : []),
    ...(methods.includes('email') && user.email !== null ? [text('account.password.use-email')] : []),
    ...connected.filter(({ status }) => status === 'ACTIVE').map(({ name }) => text('account.password.use-account', { provider: name })),
  ];
}

const showing =
  (wrong: Wrong | undefined): Show =>
  async (deps, ctx, visit) => {
    const { text } = pageLanguage(ctx);
    const { knex } = deps.services.database;
    const mayRemove = await mayRemovePassword(deps.services, knex, visit.user);
    const refusal = await passwordRefusal(deps.services, knex, visit.user.id);
    if (refusal !== undefined) {
      const instead = await waysInstead(deps.services, refusal, visit.user, text);
      const status = wrong === undefined ? 200 : 400;
      return draw(deps, ctx, visit, 'account/password', { page: 'password', status }, { instead, mayRemove });
    }
    const policy = await readPasswordPolicy(knex);
    const limits = { least: String(policy.minLength), most: String(MOST_CHARACTERS) };
    const problems: FormProblem[] = [];
    if (wrong === 'wrong-current') problems.push({ field: 'current', message: text('account.password.wrong-current') });
    else if (wrong !== undefined && wrong !== 'not-used')
      problems.push({ field: 'password', message: text(`choose-password.${wrong}`, limits) });
    await draw(
      deps,
      ctx,
      visit,
      'account/password',
      { page: 'password', problems, scripts: ['show-password.js'] },
      {
        username: visit.user.login,
        hasPassword: visit.user.passwordHash !== null,
        mayRemove,
        hint: text('choose-password.hint', limits),
        problemOf: (field: string) => problems.find((problem) => problem.field === field)?.message,
      },
    );
  };

/** GET /account/password */
export const passwordPage = ownPage('password', showing(undefined));

/** POST /account/password @throws {TooManyFailures} */
export const receivePassword = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId: userId, amr, idp } = session;
  const password = form.get('password') ?? '';
  const device = deviceOf(ctx, deps.config);
  const outcome =
    password === ''
      ? ({ problem: 'missing' } as const)
      : await changeOwnPassword(deps.services, { userId, current: form.get('current') ?? '', password, device }, visitor(ctx, deps.config));
  if ('problem' in outcome) return showAgain(deps, ctx, 'password', session, showing(outcome.problem));
  await signInAgain(deps, ctx, userId, amr, idp);
  redirectAfterChange(ctx, 'password', 'password');
}, 'password');

/** POST /account/password/remove: the user now signs in by passkey only */
export const receivePasswordRemoval = change<AccountDeps>(async (deps, ctx, { accountId, amr, idp }) => {
  if (!(await removeOwnPassword(deps.services, accountId, visitor(ctx, deps.config)))) return redirectAfterChange(ctx, 'password');
  await signInAgain(deps, ctx, accountId, amr, idp);
  redirectAfterChange(ctx, 'password', 'password-removed');
}, 'password');

/** The session of the change has ended with the others. */
const signInAgain = (deps: AccountDeps, ctx: Koa.Context, userId: string, amr: readonly string[], idp: string | undefined): Promise<void> =>
  deps.sessions.signIn(ctx.req, ctx.res, userId, amr, idp);
