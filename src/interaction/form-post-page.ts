/** The page that carries an authorization response to the application by POST (OAuth 2.0 Form Post Response Mode section 2). */
import type Koa from 'koa';
import type { Pages } from '../http/pages.ts';
import { languageFor } from './messages.ts';

export interface FormPostFacts {
  /** The validated redirect URI. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly applicationLabel: string;
  /** Origin of the redirect URI. */
  readonly redirectOrigin: string;
}

/** Answers with the page, which sends itself where scripts run, and has a button where they do not. */
export async function formPostPage(pages: Pages, ctx: Koa.Context, facts: FormPostFacts): Promise<void> {
  const language = languageFor('en');
  const heading = language.text('form-post.title', { application: facts.applicationLabel });
  const locals = {
    ...language,
    title: heading,
    heading,
    action: facts.action,
    fields: Object.entries(facts.fields),
    scripts: ['submit-form.js'],
  };
  await pages.render(ctx, 'form-post', locals, { formAction: [facts.redirectOrigin] });
}
