/** The language of the console: functions with which its views render texts, values and times. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { ConsoleUser } from '../../features/administrators/administrators.service.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { consoleLanguage, keepLanguage, LANGUAGE_PARAMETER, requestedLanguage } from '../../platform/i18n/page-language.ts';
import { type Translator, translatorsFor } from '../../platform/i18n/translator.ts';

/** Variables of every console view. */
interface LanguageLocals extends Translator {
  readonly lang: string;
  readonly dir: string;
  /** The same page in each language. */
  readonly languageLinks: readonly { readonly lang: string; readonly name: string; readonly href: string; readonly current: boolean }[];
}

export interface ConsoleLanguages {
  /** @param person undefined: not signed in */
  of(ctx: Koa.Context, person: Pick<ConsoleUser, 'language'> | undefined): LanguageLocals;
}

/** @param log gets texts without a translation, at the level debug */
export function consoleLanguages(log: Logger): ConsoleLanguages {
  const translatorFor = translatorsFor(log, 'the console');
  return {
    of(ctx, person) {
      const { lang, dir, languages: languageLinks } = consoleLanguage(ctx, person?.language);
      return { ...translatorFor(lang), lang, dir, languageLinks };
    },
  };
}

/**
 * Stores the language in the page's address and redirects to the page, so that shared links contain no language.
 * @returns whether the address contained one
 */
export function keepRequestedLanguage(ctx: Koa.Context): boolean {
  if (ctx.query[LANGUAGE_PARAMETER] === undefined) return false;
  const asked = requestedLanguage(ctx);
  if (asked !== undefined) keepLanguage(ctx, asked);
  const query = new URLSearchParams(ctx.querystring);
  query.delete(LANGUAGE_PARAMETER);
  seeOther(ctx, query.size === 0 ? ctx.path : `${ctx.path}?${query}`);
  return true;
}
