/** The page that asks for confirmation before the sign-out (OpenID Connect RP-Initiated Logout 1.0 section 2, "SHOULD ask the End-User"). */
import type Koa from 'koa';
import { accountLabel } from '../../pages/hosted/page-models.ts';
import type { HiddenField } from '../../platform/http/csrf.ts';
import type { Pages } from '../../platform/http/views.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';

export interface LogoutFacts {
  /** Path that the form is posted to. */
  readonly action: string;
  /** Application that requests the logout, if known. */
  readonly application?: { readonly label: string } | undefined;
  /** User of the session, if known. */
  readonly account?: { readonly login: string; readonly name: string } | undefined;
  readonly csrfField: HiddenField;
  /** Origin of the validated post_logout_redirect_uri, if the browser is redirected there. */
  readonly redirectOrigins?: readonly string[];
  /** `ui_locales` of the request. */
  readonly uiLocales?: string | undefined;
}

/** Shows the confirmation page. */
export async function logoutPage(pages: Pages, ctx: Koa.Context, facts: LogoutFacts): Promise<void> {
  const language = pageLanguage(ctx, facts.uiLocales);
  const { text } = language;
  const { application, account } = facts;
  const locals = {
    ...language,
    title: text('logout.title'),
    heading: text('logout.title'),
    account: account && text('logout.account', { name: accountLabel(account) }),
    question: application === undefined ? text('logout.question') : text('logout.question-application', { application: application.label }),
    action: facts.action,
    hidden: facts.csrfField,
    scripts: ['reload-when-stale.js'],
  };
  await pages.render(ctx, 'logout', locals, { formAction: facts.redirectOrigins ?? [] });
}
