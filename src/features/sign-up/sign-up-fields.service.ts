/** Fields of the sign-up form beside the e-mail address: built-in and custom attributes that users can change. */
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { choicesOf, isEmptyValue, valueProblem } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue, UserSchema } from '../user-schema/attributes.resource.ts';
import { checkOwnProfile, OWN_ATTRIBUTES, OWN_AUTOCOMPLETE, type OwnAttribute, ownAttributeProblem } from '../users/own-profile.service.ts';
import type { SignUpSettings } from './sign-up.policy.ts';

export interface AskedField {
  readonly name: string;
  readonly required: boolean;
  /** `lines`: a list, one value a line; `checks`: a list to choose from. */
  readonly kind: 'text' | 'number' | 'check' | 'choice' | 'lines' | 'checks';
  /** Label of a built-in attribute; absent: use `title`. */
  readonly label?: MessageKey;
  readonly title?: string;
  readonly autocomplete: string;
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  readonly attribute?: Attribute;
}

const isOwn = (name: string): name is OwnAttribute => OWN_ATTRIBUTES.some((one) => one === name);

/** May a form of users ask for it? */
export const mayBeAsked = ({ self }: Pick<Attribute, 'self'>): boolean => self === 'READ_WRITE';

/** In the order of the settings, then required attributes. Deleted attributes are left out. */
export function askedFields({ fields }: Pick<SignUpSettings, 'fields'>, { attributes }: UserSchema): readonly AskedField[] {
  const added = new Map(attributes.filter(mayBeAsked).map((attribute) => [attribute.name, attribute]));
  const named = new Set(fields.map(({ name }) => name));
  const demanded = [...added.values()].filter(({ name, required }) => required && !named.has(name));
  return [...fields, ...demanded.map(({ name }) => ({ name, required: true }))].flatMap(({ name, required }): AskedField[] => {
    if (isOwn(name)) return [{ name, required, kind: 'text', label: `account.profile.${name}`, autocomplete: OWN_AUTOCOMPLETE[name] }];
    const attribute = added.get(name);
    return attribute === undefined ? [] : [addedField(attribute, required || attribute.required)];
  });
}

function addedField(attribute: Attribute, required: boolean): AskedField {
  const { name, title, type } = attribute;
  const common = { name, title, required, attribute, autocomplete: 'off' };
  if (type === 'boolean') return { ...common, kind: 'check' };
  const choices = choicesOf(attribute)?.map((one) => ({ value: String(one.const), title: one.title }));
  if (choices !== undefined) return { ...common, kind: type === 'array' ? 'checks' : 'choice', choices };
  if (type === 'array') return { ...common, kind: 'lines' };
  return { ...common, kind: type === 'string' ? 'text' : 'number' };
}

/** Submitted values for showing the form again; lists have one value per line. */
export type TypedFields = Readonly<Record<string, string>>;

interface AskedProblem {
  readonly field: AskedField;
  readonly message: MessageKey;
}

/** @returns the profile, where nothing is wrong */
export function readAskedFields(
  fields: readonly AskedField[],
  typed: TypedFields,
): { readonly problems: readonly AskedProblem[]; readonly profile: Readonly<Record<string, AttributeValue>> } {
  const own = checkOwnProfile(Object.fromEntries(fields.filter(({ name }) => isOwn(name)).map(({ name }) => [name, typed[name] ?? ''])));
  const added = Object.fromEntries(
    fields.flatMap((field) => (field.attribute === undefined ? [] : [[field.name, typedValue(field.attribute, typed)]])),
  );
  const problems = fields.flatMap((field): AskedProblem[] => {
    const { name, required, attribute } = field;
    if (attribute === undefined) {
      if (required && (typed[name] ?? '') === '') return [{ field, message: 'sign-up.missing' }];
      return isOwn(name) && own.wrong.includes(name) ? [{ field, message: ownAttributeProblem(name) }] : [];
    }
    if (isEmptyValue(added[name])) return required ? [{ field, message: 'sign-up.missing' }] : [];
    return valueProblem(attribute, added[name]) === undefined ? [] : [{ field, message: 'sign-up.wrong' }];
  });
  const values = Object.entries(added).filter((entry): entry is [string, AttributeValue] => !isEmptyValue(entry[1]));
  return { problems, profile: { ...own.profile, ...Object.fromEntries(values) } };
}

/** The values of a list, each once. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** A box that is not ticked says no; an empty field says nothing. */
function typedValue({ name, type }: Attribute, typed: TypedFields): AttributeValue | undefined {
  const text = typed[name] ?? '';
  if (type === 'boolean') return text !== '';
  if (type === 'array') return linesOf(text);
  if (text === '' || type === 'string') return text === '' ? undefined : text;
  return Number(text);
}
