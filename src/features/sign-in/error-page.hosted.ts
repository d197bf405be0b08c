/**
 * The error page: the problem, what the user can do, and code, description and request ID for support. It shows errors that the
 * authorization endpoint must not redirect (RFC 6749 section 4.1.2.1).
 */
import type Koa from 'koa';
import { type ApplicationLink, webAddress } from '../../pages/hosted/page-models.ts';
import { errorHelp } from '../../platform/errors/errors.ts';
import type { Pages } from '../../platform/http/views.ts';
import { isMessageKey, type Language, type MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';

export interface ErrorFacts {
  readonly status: number;
  /** An error code of OAuth 2.0, OpenID Connect or this service. */
  readonly code: string;
  /** One sentence in English from the protocol; without one, the code's own message is used. */
  readonly description?: string;
  /** A message to show instead. */
  readonly message?: MessageKey;
  /** The application that the user came from, if known, for the link back. */
  readonly application?: ApplicationLink | undefined;
  /** Is there a link to the start page? */
  readonly leadsHome?: boolean;
  /** `ui_locales` of the request. */
  readonly uiLocales?: string | undefined;
}

/** The message of a code; codes without one are reported as an error of the application. */
function messageKey(part: 'heading' | 'advice', { code, status }: ErrorFacts): MessageKey {
  const own = `error.${part}.${code}`;
  if (isMessageKey(own)) return own;
  return status >= 500 ? `error.${part}.server_error` : `error.${part}.application`;
}

/** Detailed explanation and its language. */
function explanation(
  language: Language,
  { code, description = '', message }: ErrorFacts,
): { readonly text: string; readonly lang: string } {
  const failure = `failure.${code}`;
  const key = message ?? (description === '' && isMessageKey(failure) ? failure : undefined);
  return key === undefined ? { text: description, lang: 'en' } : { text: language.text(key), lang: language.lang };
}

/** Responds with the error page. */
export async function errorPage(pages: Pages, ctx: Koa.Context, facts: ErrorFacts): Promise<void> {
  const language = pageLanguage(ctx, facts.uiLocales);
  const heading = language.text(messageKey('heading', facts));
  const home = webAddress(facts.application?.clientUri);
  const locals = {
    ...language,
    title: language.text('error.title-prefix', { title: heading }),
    heading,
    advice: language.text(messageKey('advice', facts)),
    code: facts.code,
    help: errorHelp(facts.code),
    description: explanation(language, facts),
    application: home === undefined ? undefined : { label: facts.application?.label, home },
    startPage: facts.leadsHome === true || facts.code === 'not_found' || facts.code === 'verification_gone',
    signIn: facts.code === 'link_gone',
  };
  await pages.render(ctx, 'error', locals, { status: facts.status });
}
