/** The texts of pages and e-mails by key and language: views/locales. page-language.ts selects the language. */
import de from '../../../views/locales/de.json' with { type: 'json' };
import en from '../../../views/locales/en.json' with { type: 'json' };
import es from '../../../views/locales/es.json' with { type: 'json' };
import zh from '../../../views/locales/zh.json' with { type: 'json' };

export type MessageKey = keyof typeof en;

/** A language without a key does not compile. */
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

/** Texts that the operator has changed, by language tag and key. */
export type ChangedTexts = Readonly<Record<string, Readonly<Partial<Record<MessageKey, string>>>>>;

/** @returns the text with its placeholders filled; placeholders without a value are unchanged */
const filled = (message: string, values: Readonly<Record<string, string>> = {}): string =>
  message.replace(/\{(\w+)\}/g, (placeholder, field: string) => (Object.hasOwn(values, field) ? values[field] : undefined) ?? placeholder);

const ORIGINALS: Readonly<Record<string, Messages>> = { en, 'zh-Hans': zh, de, es };

const language = (lang: string, name: string, messages: Messages): Language => ({
  lang,
  dir: 'ltr',
  name,
  text: (key, values) => filled(messages[key], values),
});

/** @returns the original text with placeholders @param lang of `LANGUAGES` */
export const originalText = (lang: string, key: MessageKey): string => (ORIGINALS[lang] ?? en)[key];

/** All keys, in the order of views/locales. */
export const MESSAGE_KEYS = Object.keys(en) as readonly MessageKey[];

/** @returns the language with the operator's changed texts */
export function withChangedTexts<L extends Language>(original: L, texts: ChangedTexts | undefined): L {
  const changed = texts?.[original.lang];
  if (changed === undefined) return original;
  return {
    ...original,
    text: (key, values) => {
      const own = changed[key];
      return own === undefined ? original.text(key, values) : filled(own, values);
    },
  };
}

export const ENGLISH: Language = language('en', 'English', en);

/** In the order in which pages list them. */
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  language('zh-Hans', '简体中文', zh),
  language('de', 'Deutsch', de),
  language('es', 'Español', es),
];

/** Is there a message with this key? For keys built from protocol values. */
export const isMessageKey = (key: string): key is MessageKey => Object.hasOwn(en, key);
