/** Custom attributes of users (features/user-schema), as fields of the console's forms and as facts on its pages. */
import type { Fact } from '../../pages/console/detail-page.ts';
import { type Field, type Option, typedValues } from '../../pages/console/form.ts';
import { phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { choicesOf, valueOfText } from './attribute-values.service.ts';
import type { Attribute, AttributeValue } from './attributes.resource.ts';

export const ADDED_GROUP = 'More attributes';

/** Distinct from other fields of a form, whatever the attribute's name. */
const fieldName = (name: string): string => `attribute.${name}`;

const YES_OR_NO: readonly Option[] = [
  { value: '', label: '–' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

const textOf = (value: AttributeValue | undefined): string | undefined => (value === undefined ? undefined : String(value));

/** @param values the user's; those that are not set are empty fields */
export const addedFields = (attributes: readonly Attribute[], values: Readonly<Record<string, AttributeValue>> = {}): readonly Field[] =>
  attributes.map((attribute) => addedField(attribute, values[attribute.name]));

function addedField(attribute: Attribute, value: AttributeValue | undefined): Field {
  const { name, title, description, required, type } = attribute;
  const choices = choicesOf(attribute)?.map((choice) => ({ value: String(choice.const), label: verbatim(choice.title) }));
  const common = {
    name: fieldName(name),
    label: verbatim(title),
    ...(description !== undefined && { hint: verbatim(description) }),
    group: ADDED_GROUP,
    alias: `profile.${name}`,
    required,
  };
  if (type === 'array') {
    const list = Array.isArray(value) ? (value as readonly string[]) : [];
    if (choices !== undefined) return { ...common, required: false, kind: 'checks', values: list, options: choices };
    return { ...common, kind: 'lines', rows: 3, hint: verbatim(description ?? ''), value: list.join('\n') };
  }
  if (type === 'boolean') return { ...common, value: textOf(value), options: YES_OR_NO };
  if (choices !== undefined) return { ...common, value: textOf(value), options: [{ value: '', label: '–' }, ...choices] };
  return { ...common, value: textOf(value) };
}

/** Submitted values, converted to the attribute types; null: empty. Invalid numbers are validated as text. */
export function addedTyped(attributes: readonly Attribute[], form: URLSearchParams): Readonly<Record<string, AttributeValue | null>> {
  const typed = typedValues(addedFields(attributes), form);
  return Object.fromEntries(attributes.map((attribute) => [attribute.name, valueTyped(attribute, typed[fieldName(attribute.name)])]));
}

function valueTyped({ type }: Attribute, typed: unknown): AttributeValue | null {
  if (Array.isArray(typed)) return typed;
  const text = String(typed ?? '').trim();
  return text === '' ? null : valueOfText(type, text);
}

/** The attributes that are set. */
export const addedFacts = (attributes: readonly Attribute[], values: Readonly<Record<string, AttributeValue>>): readonly Fact[] =>
  attributes.flatMap((attribute): Fact[] => {
    const value = values[attribute.name];
    if (value === undefined) return [];
    const titles = new Map(choicesOf(attribute)?.map((choice) => [choice.const, choice.title]));
    const shown = (one: string | number) => titles.get(one) ?? String(one);
    if (typeof value === 'boolean') return [{ label: verbatim(attribute.title), value: phrase(value ? 'Yes' : 'No') }];
    return [{ label: verbatim(attribute.title), value: typeof value === 'object' ? series(value.map(shown)) : verbatim(shown(value)) }];
  });
