/**
 * The error page: what went wrong, what the visitor can do, and the code, description and request id for whoever helps. It is
 * where the authorization endpoint shows what it may not redirect (RFC 6749 section 4.1.2.1).
 */
import type Koa from 'koa';
import type { Pages } from '../http/pages.ts';
import { webAddress } from './links.ts';
import { isMessageKey, languageFor, type MessageKey } from './messages.ts';

export interface ErrorFacts {
  readonly status: number;
  /** An error code of OAuth 2.0 or OpenID Connect, or one of ours. */
  readonly code: string;
  /** One sentence. */
  readonly description: string;
  /** Where the visitor came from, when known: the page offers the way back. */
  readonly application?: { readonly label: string; readonly clientUri?: string | undefined } | undefined;
}

/** The codes with words of their own; every other one means that the application is at fault. */
function messageKey(part: 'heading' | 'advice', { code, status }: ErrorFacts): MessageKey {
  const own = `error.${part}.${code}`;
  if (isMessageKey(own)) return own;
  return status >= 500 ? `error.${part}.server_error` : `error.${part}.application`;
}

/** Answers with the error page. */
export async function errorPage(pages: Pages, ctx: Koa.Context, facts: ErrorFacts): Promise<void> {
  const language = languageFor('en');
  const heading = language.text(messageKey('heading', facts));
  const home = webAddress(facts.application?.clientUri);
  const locals = {
    ...language,
    title: language.text('error.title-prefix', { title: heading }),
    heading,
    advice: language.text(messageKey('advice', facts)),
    code: facts.code,
    description: facts.description,
    application: home === undefined ? undefined : { label: facts.application?.label, home },
    startPage: facts.code === 'not_found',
  };
  await pages.render(ctx, 'error', locals, { status: facts.status });
}
