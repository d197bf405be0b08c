/** What the sign-up form asks beside the e-mail address: attributes that users may change themselves, those of the product and those that the operator added. */
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { isEmptyValue, valueProblem } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue, UserSchema } from '../user-schema/attributes.resource.ts';
import { checkOwnProfile, OWN_ATTRIBUTES, OWN_AUTOCOMPLETE, type OwnAttribute, ownAttributeProblem } from '../users/own-profile.service.ts';
import type { SignUpSettings } from './sign-up.policy.ts';

export interface AskedField {
  readonly name: string;
  readonly required: boolean;
  readonly kind: 'text' | 'number' | 'check' | 'choice';
  /** Of one of the product's attributes; absent: `title`. */
  readonly label?: MessageKey;
  readonly title?: string;
  readonly autocomplete: string;
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  readonly attribute?: Attribute;
}

const isOwn = (name: string): name is OwnAttribute => OWN_ATTRIBUTES.some((one) => one === name);

/** May a form of users ask for it? A list of values has no field there. */
export const mayBeAsked = ({ self, type }: Pick<Attribute, 'self' | 'type'>): boolean => self === 'READ_WRITE' && type !== 'array';

/** In the order of the settings; then what the operator demands of every user. An attribute that was removed since is not asked for. */
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
  const { name, title, type, oneOf, enum: values } = attribute;
  const common = { name, title, required, attribute, autocomplete: 'off' };
  if (type === 'boolean') return { ...common, kind: 'check' };
  const titled = oneOf ?? values?.map((value) => ({ const: value, title: String(value) }));
  if (titled !== undefined)
    return { ...common, kind: 'choice', choices: titled.map((one) => ({ value: String(one.const), title: one.title })) };
  return { ...common, kind: type === 'string' ? 'text' : 'number' };
}

/** What was typed, for the form that is shown again. */
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

/** A box that is not ticked says no; an empty field says nothing. */
function typedValue({ name, type }: Attribute, typed: TypedFields): AttributeValue | undefined {
  const text = typed[name] ?? '';
  if (type === 'boolean') return text !== '';
  if (text === '' || type === 'string') return text === '' ? undefined : text;
  return Number(text);
}
