/**
 * The texts of the hosted pages by key and language, and the languages there are. Which of them a visitor gets is decided in
 * page-language.ts.
 */
import { de } from './messages/de.ts';
import { en, type Messages } from './messages/en.ts';
import { es } from './messages/es.ts';
import { zh } from './messages/zh.ts';

export type MessageKey = keyof Messages;

/** One language: what the views write with. */
export interface Language {
  /** BCP 47 tag, for the `lang` attribute. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  /** What its speakers call it. */
  readonly name: string;
  /** @param values of the placeholders, as plain text: the views escape */
  text(key: MessageKey, values?: Readonly<Record<string, string>>): string;
}

const language = (lang: string, name: string, messages: Messages): Language => ({
  lang,
  dir: 'ltr',
  name,
  text: (key, values = {}) => messages[key].replace(/\{(\w+)\}/g, (placeholder, field: string) => values[field] ?? placeholder),
});

export const ENGLISH: Language = language('en', 'English', en);

/** In the order in which they are offered. */
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  language('zh-Hans', '简体中文', zh),
  language('de', 'Deutsch', de),
  language('es', 'Español', es),
];

/** Is there a message of this key? For keys made of protocol values. */
export const isMessageKey = (key: string): key is MessageKey => Object.hasOwn(en, key);
