/**
 * Texts of the admin console, written in English where they are used; the English text is the key of views/locales/console.*.json. A text with values
 * is a phrase, so that data is not part of the key. translator.ts translates both.
 */

/** Value of a placeholder: strings are inserted as is, numbers and dates are formatted, lists are joined with “and”. */
export type Value = string | number | Date | Phrase | readonly Value[];

/** Lookup of a phrase. `error`: among service refusals, with their values filled in. `none`: data, no lookup. */
type Lookup = 'page' | 'error' | 'none';

/** A text of the console: a string, or a phrase with values. */
export type Text = string | Phrase;

export class Phrase {
  readonly template: string;
  readonly values: Readonly<Record<string, Value>>;
  readonly lookup: Lookup;
  /** The English singular of a text with a count; `values.count` selects the form. */
  readonly singular: string | undefined;

  constructor(template: string, values: Readonly<Record<string, Value>> = {}, lookup: Lookup = 'page', singular?: string) {
    this.template = template;
    this.values = values;
    this.lookup = lookup;
    this.singular = singular;
  }
}

/** @param template English, with placeholders `{name}` */
export const phrase = (template: string, values: Readonly<Record<string, Value>> = {}): Phrase => new Phrase(template, values);

/** A text with a count: `counted(3, '{count} user', '{count} users')`. The plural is the key; each language has the forms it needs. */
export const counted = (count: number, singular: string, plural: string, values: Readonly<Record<string, Value>> = {}): Phrase =>
  new Phrase(plural, { ...values, count }, 'page', singular);

/** Data in place of a text, e.g. a user's name as a page title: never translated. */
export const verbatim = (text: string): Phrase => new Phrase(text, {}, 'none');

const asValue = (value: Value = ''): Phrase => (value instanceof Phrase ? value : phrase('{value}', { value }));

/** Converts a text to a phrase, for use as a value of another phrase. */
export const asPhrase = (text: Text): Phrase => (typeof text === 'string' ? phrase(text) : text);

/** Comma-separated values. */
export const series = (values: readonly Value[]): Phrase =>
  values.length === 0
    ? verbatim('')
    : values.slice(1).reduce<Phrase>((first, next) => phrase('{first}, {next}', { first, next }), asValue(values[0]));

/** “{name}”, in the language's quotation marks. */
export const quoted = (name: string): Phrase => phrase('“{name}”', { name });

/** Refusal of a service, in the API's words. */
export const refusalText = (message: string): Phrase => new Phrase(message, {}, 'error');
