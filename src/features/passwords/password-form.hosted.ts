/** Form for a new password, and messages for refused ones. */
import type Koa from 'koa';
import { type ApplicationFacts, accountLabel, logoOf } from '../../pages/hosted/page-models.ts';
import type { HiddenField } from '../../platform/http/csrf.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { fullName } from '../claims/claims.policy.ts';
import type { User } from '../users/users.resource.ts';
import { MOST_CHARACTERS, type PasswordPolicy, type PasswordProblem } from './password.policy.ts';

export interface PasswordForm {
  /** Path that it is posted to. */
  readonly action: string;
  readonly hidden: readonly HiddenField[];
  readonly user: User;
  readonly policy: PasswordPolicy;
  /** A message above the form. */
  readonly notice?: MessageKey;
  readonly problem?: PasswordProblem | 'missing' | undefined;
  readonly application?: ApplicationFacts | undefined;
  /** Path of the first step of a sign-in. */
  readonly restart?: string;
  /** Path that cancels and returns to the application. */
  readonly cancel?: string | undefined;
  /** See PageSources. */
  readonly redirectOrigins?: readonly string[] | undefined;
  readonly uiLocales?: string | undefined;
}

/** Renders the form; after a failure with the problem, but never with the password. */
export async function showPasswordForm(pages: Pages, ctx: Koa.Context, form: PasswordForm): Promise<void> {
  const { user, policy, problem, application } = form;
  const language = pageLanguage(ctx, form.uiLocales);
  const { text } = language;
  const heading = text('choose-password.title');
  const limits = { least: String(policy.minLength), most: String(MOST_CHARACTERS) };
  const { logo, images } = logoOf(application);
  const locals = {
    ...language,
    title: problem === undefined ? heading : text('error.title-prefix', { title: heading }),
    heading,
    logo,
    action: form.action,
    account: text('choose-password.account', { name: accountLabel({ login: user.login, name: fullName(user.profile) ?? '' }) }),
    username: user.login,
    hint: text('choose-password.hint', limits),
    notice: form.notice && text(form.notice),
    problem: problem && text(`choose-password.${problem}`, limits),
    hidden: form.hidden,
    restart: form.restart,
    cancel: form.cancel,
    application: application?.label,
    scripts: ['show-password.js', 'reload-when-stale.js'],
  };
  const formAction = form.redirectOrigins ?? [];
  await pages.render(ctx, 'choose-password', locals, { status: problem === undefined ? 200 : 400, images, formAction });
}
