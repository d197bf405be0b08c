/** The page that posts an authorization response to the application (OAuth 2.0 Form Post Response Mode section 2). */
import type Koa from 'koa';
import type { Pages } from '../../platform/http/views.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';

export interface FormPostFacts {
  /** The validated redirect URI. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly applicationLabel: string;
  /** Origin of the redirect URI first, then the application's others. */
  readonly redirectOrigins: readonly string[];
  /** `ui_locales` of the request. */
  readonly uiLocales?: string | undefined;
}

/** Shows the page, which submits itself by script, and has a button without scripts. */
export async function formPostPage(pages: Pages, ctx: Koa.Context, facts: FormPostFacts): Promise<void> {
  const language = pageLanguage(ctx, facts.uiLocales);
  const heading = language.text('form-post.title', { application: facts.applicationLabel });
  const locals = {
    ...language,
    // No language menu: in another language, the page would be another response, and this one was already issued.
    languages: [],
    title: heading,
    heading,
    action: facts.action,
    fields: Object.entries(facts.fields),
    scripts: ['submit-form.js'],
  };
  await pages.render(ctx, 'form-post', locals, { formAction: facts.redirectOrigins });
}
