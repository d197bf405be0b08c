/** Custom attributes of users, as fields of pages for end users (views/partials/attributes.ejs). */
import type { Language } from '../../platform/i18n/messages.ts';
import { choicesOf, valueOfText } from './attribute-values.service.ts';
import type { Attribute, AttributeValue } from './attributes.resource.ts';

/** Distinct from other fields of a form, whatever the attribute's name. */
const fieldName = (name: string): string => `attribute.${name}`;

export interface AttributeFieldModel {
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly kind: 'line' | 'lines' | 'choice' | 'checks';
  readonly value: string;
  readonly values: readonly string[];
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly required: boolean;
  readonly problem: string | undefined;
}

/** @param values those that are set @param problems by the names of attributes */
export const attributeFieldModels = (
  attributes: readonly Attribute[],
  values: Readonly<Record<string, AttributeValue | null>>,
  problems: ReadonlyMap<string, string>,
  text: Language['text'],
): readonly AttributeFieldModel[] =>
  attributes.map((attribute) => {
    const { name, title, description, type, required } = attribute;
    const value = values[name] ?? '';
    const given = choicesOf(attribute)?.map((choice) => ({ value: String(choice.const), label: choice.title }));
    const yesOrNo = [
      { value: 'true', label: text('attributes.yes') },
      { value: 'false', label: text('attributes.no') },
    ];
    const choices = type === 'boolean' ? yesOrNo : given;
    const list = typeof value === 'object' ? value : [];
    return {
      name: fieldName(name),
      label: title,
      hint: description,
      kind: type === 'array' ? (choices === undefined ? 'lines' : 'checks') : choices === undefined ? 'line' : 'choice',
      value: typeof value === 'object' ? list.join('\n') : String(value),
      values: list,
      choices: choices ?? [],
      required,
      problem: problems.get(name),
    };
  });

/** Submitted values of these attributes; null: empty. Attributes missing in the form are left out. */
export function attributesSent(attributes: readonly Attribute[], form: URLSearchParams): Record<string, AttributeValue | null> {
  const sent: Record<string, AttributeValue | null> = {};
  for (const attribute of attributes) {
    const { name, type } = attribute;
    const field = fieldName(name);
    const hasBoxes = type === 'array' && choicesOf(attribute) !== undefined;
    // A separate field marks a form with check boxes, none of which is checked.
    if (!form.has(field) && !form.has(`${field}.none`)) continue;
    const text = (form.get(field) ?? '').trim();
    if (hasBoxes) sent[name] = form.getAll(field);
    else if (type === 'array') sent[name] = [...new Set(text.split(/\r\n|\r|\n/).map((line) => line.trim()))].filter((line) => line !== '');
    else sent[name] = text === '' ? null : valueOfText(type, text);
  }
  return sent;
}

/** Read-only attributes that users can see. */
export const shownAttributes = (
  attributes: readonly Attribute[],
  values: Readonly<Record<string, AttributeValue>>,
  { lang, text }: Pick<Language, 'lang' | 'text'>,
) =>
  attributes.flatMap((attribute) => {
    const value = values[attribute.name];
    if (value === undefined) return [];
    const titles = new Map(choicesOf(attribute)?.map((choice) => [choice.const, choice.title]));
    const shown = (one: string | number) => titles.get(one) ?? String(one);
    const words =
      typeof value === 'boolean'
        ? text(value ? 'attributes.yes' : 'attributes.no')
        : typeof value === 'object'
          ? new Intl.ListFormat(lang).format(value.map(shown))
          : shown(value);
    return [{ label: attribute.title, value: words }];
  });
