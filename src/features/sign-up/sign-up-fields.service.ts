/** Fields of the sign-up form besides the e-mail address: built-in and custom attributes that users can change. Also changes `settings/registration`. */
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { existingGroupIds } from '../groups/groups.store.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import { changeSettings, replaceSettings } from '../settings/settings.service.ts';
import { choicesOf, isEmptyValue, valueProblem } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue, UserSchema } from '../user-schema/attributes.resource.ts';
import { readUserSchema } from '../user-schema/user-schema.service.ts';
import { checkOwnProfile, OWN_ATTRIBUTES, OWN_AUTOCOMPLETE, type OwnAttribute, ownAttributeProblem } from '../users/own-profile.service.ts';
import { countWaitingSignUps } from '../users/users.store.ts';
import type { SignUpSettings } from './sign-up.policy.ts';

// Changes `settings/registration`, whose groups and organization must exist.

type Given = Partial<SignUpSettings>;

/** @param set replaces all settings @throws {ApiError} validation */
export async function replaceRegistration(services: Services, set: Given, request: RequestContext): Promise<SignUpSettings> {
  await refuseUnknown(services, set);
  return replaceSettings(services, 'registration', set, request);
}

/** @param changes new values; the others are unchanged @throws {ApiError} validation */
export async function changeRegistration(services: Services, changes: Given, request: RequestContext): Promise<SignUpSettings> {
  await refuseUnknown(services, changes);
  return changeSettings(services, 'registration', changes, request);
}

/** The attributes that the form can contain. */
export async function askableAttributes(services: Services): Promise<readonly { readonly name: string; readonly title?: string }[]> {
  const { attributes } = await readUserSchema(services);
  return [...OWN_ATTRIBUTES.map((name) => ({ name })), ...attributes.filter(mayBeAsked).map(({ name, title }) => ({ name, title }))];
}

/** Number of sign-ups waiting for approval, for administrators of the whole service. */
export const waitingSignUps = ({ database }: Pick<Services, 'database'>): Promise<number> => countWaitingSignUps(database.knex);

async function refuseUnknown(services: Services, { fields = [], groups = [], organization }: Given): Promise<void> {
  const { knex } = services.database;
  const askable = new Set((await askableAttributes(services)).map(({ name }) => name));
  const unfit = fields.findIndex(({ name }) => !askable.has(name));
  if (unfit >= 0) throw validation([{ field: `fields.${unfit}.name`, message: 'must be an attribute that users can change themselves' }]);
  const there = new Set(await existingGroupIds(knex, groups));
  const unknown = groups.find((id) => !there.has(id));
  if (unknown !== undefined) throw validation([{ field: 'groups', message: `${unknown} does not exist` }]);
  if (organization !== undefined && organization !== null && !(await organizationExists(knex, organization)))
    throw validation([{ field: 'organization', message: `${organization} does not exist` }]);
}

export interface SignUpFormField {
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

/** Can forms for users contain it? */
const mayBeAsked = ({ self }: Pick<Attribute, 'self'>): boolean => self === 'READ_WRITE';

/** In the order of the settings, then required attributes. Deleted attributes are left out. */
export function signUpFormFields({ fields }: Pick<SignUpSettings, 'fields'>, { attributes }: UserSchema): readonly SignUpFormField[] {
  const added = new Map(attributes.filter(mayBeAsked).map((attribute) => [attribute.name, attribute]));
  const named = new Set(fields.map(({ name }) => name));
  const absent = [...added.values()].filter(({ name, required }) => required && !named.has(name));
  return [...fields, ...absent.map(({ name }) => ({ name, required: true }))].flatMap(({ name, required }): SignUpFormField[] => {
    if (isOwn(name)) return [{ name, required, kind: 'text', label: `account.profile.${name}`, autocomplete: OWN_AUTOCOMPLETE[name] }];
    const attribute = added.get(name);
    return attribute === undefined ? [] : [addedField(attribute, required || attribute.required)];
  });
}

function addedField(attribute: Attribute, required: boolean): SignUpFormField {
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
  readonly field: SignUpFormField;
  readonly message: MessageKey;
}

/** @returns the profile, if it is valid */
export function readSignUpFormFields(
  fields: readonly SignUpFormField[],
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

/** The values of a list, without duplicates. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** An unchecked check box means no; an empty field has no value. */
function typedValue({ name, type }: Attribute, typed: TypedFields): AttributeValue | undefined {
  const text = typed[name] ?? '';
  if (type === 'boolean') return text !== '';
  if (type === 'array') return linesOf(text);
  if (text === '' || type === 'string') return text === '' ? undefined : text;
  return Number(text);
}
