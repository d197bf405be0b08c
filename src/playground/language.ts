/** Language of the playground's views. English texts in the source are the keys, as in the console. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import { pageLanguage } from '../platform/i18n/page-language.ts';
import { type Translator, translatorsFor } from '../platform/i18n/translator.ts';
import { type Time, timeTexts } from './explanation.ts';

interface PlaygroundLocals extends Pick<Translator, 't' | 'v'> {
  readonly lang: string;
  readonly dir: string;
  /** The same page in each language, at the foot; none below the address of a form. */
  readonly languages: ReturnType<typeof pageLanguage>['languages'];
  /** A moment or a duration as people say it. */
  told(time: Time): string;
}

/** @param log gets texts without a translation, at the level debug */
export function playgroundLanguages(log: Logger) {
  const translatorFor = translatorsFor(log, 'the playground');
  return {
    /** @param isReadable can the page be reloaded with GET? Then it offers other languages */
    of(ctx: Koa.Context, isReadable = false): PlaygroundLocals {
      const { lang, dir, languages } = pageLanguage(ctx);
      const { t, v } = translatorFor(lang);
      return { t, v, lang, dir, languages: isReadable && ctx.method === 'GET' ? languages : [], told: timeTexts(lang) };
    },
  };
}
