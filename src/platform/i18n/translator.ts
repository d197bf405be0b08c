/**
 * Renders the texts of the admin console in a language: strings by their English text, values by the language's rules (ECMA-402 `Intl`). A
 * text without a translation is English.
 */
import type { Logger } from 'pino';
import de from '../../../views/locales/console.de.json' with { type: 'json' };
import es from '../../../views/locales/console.es.json' with { type: 'json' };
import zh from '../../../views/locales/console.zh.json' with { type: 'json' };
import type { Language } from './messages.ts';
import { Phrase, type Text, type Value } from './phrase.ts';
import { localeOf, type Moment, timesIn } from './times.ts';

/** A text with a count has a form for each category of the language (CLDR plural rules). */
type Translation = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

interface Catalog {
  readonly pages: Readonly<Record<string, Translation>>;
  /** Service refusals with values filled in: a placeholder matches any text. The values of some are words, lists or numbers. */
  readonly errors: Readonly<Record<string, string>>;
}

const CATALOGS: Readonly<Record<string, Catalog>> = { de, es, 'zh-Hans': zh };

export interface Translator {
  /** A text of a page: strings are translated. */
  t(text: Text | undefined): string;
  /** A value on a page: strings are data. */
  v(value: Value): string;
  /** The same as `t`, with a capital first letter. */
  sentence(text: Text): string;
  /** @returns e.g. “21 Nov”, in UTC */
  shortDate(date: Date): string;
  /** @returns e.g. “09:00”, in UTC */
  clock(date: Date): string;
  /** A time in UTC, without markup. */
  when(moment: Moment): string;
  /** The same as an HTML element; the browser shows it in its own time zone. */
  time(moment: Moment): string;
}

const PLACEHOLDER = /\{(\w+)\}/g;
/** Placeholders of refusals whose values are words, not data. Each word is translated. */
export const WORDED_VALUES: ReadonlySet<string> = new Set([
  'needed',
  'parts',
  'problem',
  'scheme',
  'status',
  'step',
  'things',
  'uses',
  'what',
]);
/** Their values are joined with “or” in English. */
const ALTERNATIVES: ReadonlySet<string> = new Set(['needed', 'values']);
/** Their values are joined with commas in English. */
const ENUMERATIONS: ReadonlySet<string> = new Set(['algorithms', 'columns', 'names', 'settings', 'uses']);
const NUMBERS: ReadonlySet<string> = new Set(['bytes', 'count', 'least', 'most', 'needed', 'ratio']);
const WRITTEN_NUMBER = /^\d{1,3}(,\d{3})+$|^\d+(\.\d+)?$/;
/** Templates without words, such as `{a}: {b}`, need no translation. */
const hasWords = (template: string): boolean => /\p{L}/u.test(template.replace(PLACEHOLDER, ''));
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const fixedLength = (template: string): number => template.replace(PLACEHOLDER, '').length;

interface Pattern {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly translation: string;
}

/** `has at most {most} characters`, as a pattern that matches a service's refusals. */
function patternOf([template, translation]: [string, string]): Pattern {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  const pattern = new RegExp(
    `^${template
      .split(/\{\w+\}/)
      .map(escaped)
      .join('([\\s\\S]+?)')}$`,
  );
  return { pattern, names, translation };
}

/** Patterns of refusals with values, from the language's catalog, the most specific first. Shared by all translators of the language. */
const patternsOf = new Map<string, readonly Pattern[]>();
function refusalPatterns(lang: string): readonly Pattern[] {
  let patterns = patternsOf.get(lang);
  if (patterns === undefined) {
    patterns = Object.entries(CATALOGS[lang]?.errors ?? {})
      .filter(([template]) => template.includes('{'))
      .sort(([one], [other]) => fixedLength(other) - fixedLength(one))
      .map(patternOf);
    patternsOf.set(lang, patterns);
  }
  return patterns;
}

/**
 * One translator per language, created on demand.
 * @param log gets missing translations at level debug
 * @param place owner of the texts
 */
export function translatorsFor(log: Logger, place: string): (lang: string) => Translator {
  const translators = new Map<string, Translator>();
  return (lang) => {
    let translator = translators.get(lang);
    if (translator === undefined) {
      translator = translatorOf({ lang }, (text) => log.debug({ lang, text }, `a text of ${place} has no translation`));
      translators.set(lang, translator);
    }
    return translator;
  };
}

/** @param onMissing called for each text without a translation */
export function translatorOf({ lang }: Pick<Language, 'lang'>, onMissing: (text: string) => void = () => {}): Translator {
  const locale = localeOf(lang);
  const catalog = CATALOGS[lang];
  const number = new Intl.NumberFormat(locale);
  const plural = new Intl.PluralRules(locale);
  const list = new Intl.ListFormat(locale);
  const either = new Intl.ListFormat(locale, { type: 'disjunction' });
  const times = timesIn(lang);
  const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });

  const filled = (template: string, values: Readonly<Record<string, Value>>): string =>
    template.replace(PLACEHOLDER, (placeholder, name: string) => {
      const value = values[name];
      return value === undefined ? placeholder : v(value);
    });

  function missing(text: string): string {
    if (catalog !== undefined && hasWords(text)) onMissing(text);
    return text;
  }

  function page({ template, values, singular }: Phrase): string {
    const translation = catalog?.pages[template];
    const form = typeof values.count === 'number' ? plural.select(values.count) : 'other';
    if (translation === undefined) return filled(missing(singular !== undefined && form === 'one' ? singular : template), values);
    return filled(typeof translation === 'string' ? translation : (translation[form] ?? translation.other ?? template), values);
  }

  /** The value of a placeholder, read from the English refusal. */
  function readValue(name: string, written: string): Value {
    if (NUMBERS.has(name) && WRITTEN_NUMBER.test(written)) return Number(written.replaceAll(',', ''));
    const word = (one: string): string => (WORDED_VALUES.has(name) ? refusal(one) : one);
    if (ALTERNATIVES.has(name)) return either.format(written.split(' or ').map(word));
    return ENUMERATIONS.has(name) ? written.split(', ').map(word) : word(written);
  }

  function refusal(text: string): string {
    const whole = catalog?.errors[text];
    if (whole !== undefined) return whole;
    for (const { pattern, names, translation } of refusalPatterns(lang)) {
      const found = pattern.exec(text);
      if (found === null) continue;
      const values = names.map((name, at) => [name, readValue(name, found[at + 1] ?? '')]);
      return filled(translation, Object.fromEntries(values));
    }
    return missing(text);
  }

  function ofPhrase(text: Phrase): string {
    if (text.lookup === 'none') return text.template;
    return text.lookup === 'error' ? refusal(text.template) : page(text);
  }

  function v(value: Value): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return number.format(value);
    if (value instanceof Date) return times.text({ iso: value.toISOString() });
    return value instanceof Phrase ? ofPhrase(value) : list.format(value.map(v));
  }

  function t(text: Text | undefined): string {
    if (text === undefined) return '';
    if (text instanceof Phrase) return ofPhrase(text);
    const translation = catalog?.pages[text];
    return typeof translation === 'string' ? translation : (translation?.other ?? missing(text));
  }

  return {
    t,
    v,
    when: times.text,
    time: times.element,
    shortDate: (date) => short.format(date),
    clock: (date) => clock.format(date),
    sentence: (text) => {
      const said = t(text);
      return said.charAt(0).toUpperCase() + said.slice(1);
    },
  };
}
