/** The texts of pages and e-mails by key and language: views/locales. page-language.ts decides which language a visitor gets. */
import de from '../../../views/locales/de.json' with { type: 'json' };
import en from '../../../views/locales/en.json' with { type: 'json' };
import es from '../../../views/locales/es.json' with { type: 'json' };
import zh from '../../../views/locales/zh.json' with { type: 'json' };

export type MessageKey = keyof typeof en;

/** A language that misses a key does not compile. */
type Messages = Readonly<Record<MessageKey, string>>;

export interface Language {
  /** BCP 47 tag, for the `lang` attribute. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  /** The language's own name. */
  readonly name: string;
  /** @param values of the placeholders, as plain text: the views escape them */
  text(key: MessageKey, values?: Readonly<Record<string, string>>): string;
}

const language = (lang: string, name: string, messages: Messages): Language => ({
  lang,
  dir: 'ltr',
  name,
  text: (key, values = {}) => messages[key].replace(/\{(\w+)\}/g, (placeholder, field: string) => values[field] ?? placeholder),
});

export const ENGLISH: Language = language('en', 'English', en);

/** In the order in which pages offer them. */
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  language('zh-Hans', '简体中文', zh),
  language('de', 'Deutsch', de),
  language('es', 'Español', es),
];

/** Is there a message with this key? For keys built from protocol values. */
export const isMessageKey = (key: string): key is MessageKey => Object.hasOwn(en, key);
