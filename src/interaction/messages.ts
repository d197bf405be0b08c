/**
 * The texts of the hosted pages by key and language. Which language a visitor gets (`ui_locales` of OpenID Connect Core 1.0
 * section 3.1.2.1, cookie, Accept-Language) is not decided here; English is the only one so far.
 */
import { en } from './messages/en.ts';

export type MessageKey = keyof typeof en;

/** One language: what the views write with. */
export interface Language {
  /** BCP 47 tag, for the `lang` attribute. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  /** @param values of the placeholders, as plain text: the views escape */
  text(key: MessageKey, values?: Readonly<Record<string, string>>): string;
}

const language = (lang: string, dir: Language['dir'], messages: Readonly<Record<MessageKey, string>>): Language => ({
  lang,
  dir,
  text: (key, values = {}) => messages[key].replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder),
});

const ENGLISH = language('en', 'ltr', en);
const LANGUAGES: ReadonlyMap<string, Language> = new Map([[ENGLISH.lang, ENGLISH]]);

/** @param tag BCP 47, e.g. `de` or `zh-Hans`; an unknown one gives English */
export const languageFor = (tag: string): Language => LANGUAGES.get(tag) ?? ENGLISH;

/** Is there a message of this key? For keys made of protocol values. */
export const isMessageKey = (key: string): key is MessageKey => Object.hasOwn(en, key);
