/**
 * Authorization details for users: a sentence from the type's template, and a list of all fields. The application's values stay separate from our
 * texts, so that pages can isolate them.
 */

import type { AuthorizationDetail, JsonSchema } from './details.policy.ts';

/** Part of a sentence: text of the template, or the value of a field. */
interface Segment {
  readonly text: string;
  readonly isValue: boolean;
}

/** Configuration of a type for display. */
interface ShownType {
  readonly displayName: string;
  readonly template: string;
  /** Translations by language. */
  readonly translations: Readonly<
    Record<string, { readonly displayName?: string | undefined; readonly template?: string | undefined } | undefined>
  >;
  readonly schema: JsonSchema;
}

export interface ShownDetail {
  readonly title: string;
  /** undefined: the type has no template. */
  readonly sentence: readonly Segment[] | undefined;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

/** Words in the language of the page. */
export interface DetailWords {
  readonly lang: string;
  readonly yes: string;
  readonly no: string;
}

const PLACEHOLDER = /\{([\w-]+(?:\.[\w-]+)*)\}/;
const MISSING = '–';

/** @returns the problem of a template; undefined: none */
export const templateProblem = (template: string): string | undefined =>
  /[{}]/.test(template.replaceAll(new RegExp(PLACEHOLDER, 'g'), ''))
    ? 'must have braces around names of fields only, e.g. {amount} or {amount.value}'
    : undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldAt = (detail: AuthorizationDetail, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), detail);

function inWords(value: unknown, words: DetailWords): string {
  if (value === undefined || value === null || value === '') return MISSING;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (typeof value === 'number') return new Intl.NumberFormat(words.lang, { maximumFractionDigits: 20 }).format(value);
  if (Array.isArray(value)) return new Intl.ListFormat(words.lang).format(value.map((one) => inWords(one, words))) || MISSING;
  if (isObject(value))
    return (
      Object.entries(value)
        .map(([name, inner]) => `${spoken(name)}: ${inWords(inner, words)}`)
        .join('; ') || MISSING
    );
  return String(value);
}

/** Converts a field name to a label, e.g. `instructedAmount` or `instructed_amount` to `Instructed amount`. */
function spoken(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .trim();
  return words === ''
    ? name
    : words.charAt(0).toUpperCase() + words.slice(1).replaceAll(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
}

const propertyOf = (schema: unknown, name: string): unknown =>
  isObject(schema) && isObject(schema.properties) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** All fields except the type, with nested fields listed separately. Titles come from the schema. */
function fieldsOf(
  value: Readonly<Record<string, unknown>>,
  schema: unknown,
  words: DetailWords,
  before = '',
): { label: string; value: string }[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const own = propertyOf(schema, name);
    const label = before + (isObject(own) && typeof own.title === 'string' ? own.title : spoken(name));
    return isObject(inner) ? fieldsOf(inner, own, words, `${label}: `) : [{ label, value: inWords(inner, words) }];
  });
}

/** @param type undefined: it no longer exists */
export function shownDetail(detail: AuthorizationDetail, type: ShownType | undefined, words: DetailWords): ShownDetail {
  const own = type?.translations[words.lang];
  const template = own?.template || type?.template;
  // An empty template counts as none.
  const pieces = template ? template.split(new RegExp(PLACEHOLDER, 'g')) : undefined;
  const { type: _, ...fields } = detail;
  return {
    title: own?.displayName || type?.displayName || detail.type,
    // A field name follows each piece of the template.
    sentence: pieces
      ?.map(
        (piece, index): Segment =>
          index % 2 === 0 ? { text: piece, isValue: false } : { text: inWords(fieldAt(detail, piece), words), isValue: true },
      )
      .filter(({ text }) => text !== ''),
    fields: fieldsOf(fields, type?.schema, words),
  };
}
