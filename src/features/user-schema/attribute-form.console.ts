/** An attribute that operators add to users, as fields of a form, and back. */
import { type Field, typedValues } from '../../pages/console/form.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { attributeFields, attributeIn } from './attribute-fields.service.ts';
import { ATTRIBUTE_TYPES, type Attribute, type AttributeValueType, SELF_PERMISSIONS, type SelfPermission } from './attributes.resource.ts';

export const TYPE_WORDS: Readonly<Record<AttributeValueType, string>> = {
  string: 'Text',
  boolean: 'Yes or no',
  number: 'Number',
  integer: 'Whole number',
  array: 'List of texts',
};

export const SELF_WORDS: Readonly<Record<SelfPermission, string>> = {
  READ_WRITE: 'Users can change it',
  READ_ONLY: 'Users can see it',
  HIDE: 'Users do not see it',
};

/** Paths of the attribute's fields in service errors. */
const at = (name: string, field: string): readonly string[] => [`definitions.custom.properties.${name}.${field}`];

/** A choice as a line of the form: its value, and its label after an equals sign. */
const lineOf = ({ const: value, title }: { const: string | number; title: string }): string =>
  String(value) === title ? title : `${value} = ${title}`;

/**
 * @param now undefined: a new attribute
 * @param name of the attribute, for errors of services
 */
export function fieldsOfAttribute(now: Attribute | undefined, name: string): readonly Field[] {
  const choices = now?.oneOf ?? now?.enum?.map((value) => ({ const: value, title: String(value) })) ?? [];
  const text = (value: string | number | undefined) => (value === undefined ? undefined : String(value));
  const identity: readonly Field[] = [
    {
      name: 'name',
      label: 'Name',
      required: true,
      hint: 'In the profile, the API and claims, e.g. memberNumber. It cannot be changed later.',
      alias: `definitions.custom.properties.${name}`,
    },
    {
      name: 'type',
      label: 'Type',
      kind: 'radios',
      value: 'string',
      alias: at(name, 'type'),
      options: ATTRIBUTE_TYPES.map((type) => ({ value: type, label: TYPE_WORDS[type] })),
    },
  ];
  return [
    { name: 'title', label: 'Label', hint: 'Forms show it.', required: true, alias: at(name, 'title'), value: now?.title },
    ...(now === undefined ? identity : []),
    {
      name: 'description',
      label: 'Description',
      kind: 'description',
      hint: 'Forms show it below the field.',
      alias: at(name, 'description'),
      value: now?.description,
    },
    {
      name: 'choices',
      label: 'Values to choose from',
      kind: 'lines',
      alias: ['enum', 'oneOf', 'items', ...at(name, 'enum'), ...at(name, 'oneOf')],
      hint: 'One per line, such as gold, or gold = Gold customer to show other words. Empty: any value.',
      value: choices.map(lineOf).join('\n'),
    },
    {
      name: 'required',
      label: 'Required',
      kind: 'check',
      hint: 'New users must have a value. Existing users are not affected.',
      checked: now?.required,
    },
    {
      name: 'unique',
      label: 'Unique',
      kind: 'check',
      hint: 'No two users have the same value. For texts and numbers.',
      alias: [...at(name, 'unique'), ...(now === undefined ? [] : [`definitions.custom.properties.${name}`])],
      checked: now?.unique,
    },
    {
      name: 'self',
      label: 'On the account page',
      kind: 'radios',
      alias: ['permissions', ...at(name, 'permissions')],
      value: now?.self ?? 'READ_ONLY',
      options: SELF_PERMISSIONS.map((value) => ({ value, label: SELF_WORDS[value] })),
    },
    {
      ...{ name: 'minLength', label: 'Minimum length', kind: 'number', advanced: true },
      ...{ hint: 'Characters of a text', alias: at(name, 'minLength'), value: text(now?.minLength) },
    },
    {
      ...{ name: 'maxLength', label: 'Maximum length', kind: 'number', advanced: true },
      ...{ hint: 'Characters of a text; 255 if empty', alias: at(name, 'maxLength'), value: text(now?.maxLength) },
    },
    {
      name: 'pattern',
      label: 'Pattern',
      hint: 'A regular expression of RE2 for a text, such as ^M[0-9]+$',
      alias: at(name, 'pattern'),
      advanced: true,
      value: now?.pattern,
    },
  ];
}

/** @param now undefined: an attribute to be added @throws {ApiError} validation */
export function attributeTyped(now: Attribute | undefined, form: URLSearchParams): Attribute {
  const name = now?.name ?? (form.get('name') ?? '').trim();
  const typed = typedValues(fieldsOfAttribute(now, name), form) as Readonly<Record<string, string>> & {
    readonly choices: readonly string[];
  };
  const type = now?.type ?? typed.type;
  const { choices, required, unique, self, title, description, minLength, maxLength, pattern } = typed;
  const given = {
    ...{ title, description, type, required, minLength, maxLength },
    pattern: pattern === '' ? undefined : pattern,
    unique: unique ? 'UNIQUE_VALIDATED' : 'NOT_UNIQUE',
    permissions: [{ principal: 'SELF', action: self }],
    ...choicesTyped(choices, type === 'number' || type === 'integer'),
  };
  return attributeIn(name, parse(attributeFields, given));
}

function choicesTyped(lines: readonly string[], areNumbers: boolean): object {
  if (lines.length === 0) return {};
  const choiceValue = (text: string) => (areNumbers && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text);
  const pairs = lines.map((line) => line.split(/\s+=\s+(.*)/s, 2));
  if (pairs.every(([, title]) => title === undefined)) return { enum: lines.map(choiceValue) };
  return { oneOf: pairs.map(([value = '', title]) => ({ const: choiceValue(value), title: title ?? value })) };
}

/** Description of the attribute's rules. */
export const rulesInWords = ({ required, unique, enum: values, oneOf }: Attribute) => [
  ...(required ? [{ text: phrase('Required') }] : []),
  ...(unique ? [{ text: phrase('Unique') }] : []),
  ...(oneOf ?? values?.map((value) => ({ title: String(value) })) ?? [])
    .slice(0, 5)
    .map(({ title }) => ({ text: verbatim(title), code: true })),
];
