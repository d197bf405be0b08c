/** Converts between users and SCIM resources. */
import {
  ADDED_SCHEMA_ID,
  ENTERPRISE,
  type ScimAttribute,
  type ScimObject,
  type ScimSchema,
  type ScimType,
  USER,
} from './scim-attributes.policy.ts';

/** A custom attribute in SCIM. */
interface AddedAttribute {
  readonly name: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly type: 'string' | 'boolean' | 'number' | 'integer' | 'array';
  readonly required: boolean;
  readonly unique: boolean;
  readonly enum?: readonly (string | number)[] | undefined;
}

/** The resource type of users, with the attributes that operators added. */
export function userType(added: readonly AddedAttribute[]): ScimType {
  if (added.length === 0) return { name: 'User', core: USER, extensions: [ENTERPRISE] };
  const own: ScimSchema = {
    id: ADDED_SCHEMA_ID,
    name: 'GatehouseUser',
    description: 'Attributes that were added to users',
    attributes: added.map((attribute) => ({
      name: attribute.name,
      type: attribute.type === 'number' ? 'decimal' : attribute.type === 'array' ? 'string' : attribute.type,
      description: attribute.description ?? attribute.title,
      field: attribute.name,
      ...(attribute.type === 'array' && { multiValued: true }),
      ...(attribute.required && { required: true }),
      ...(attribute.unique && { uniqueness: 'server' as const }),
      ...(attribute.enum !== undefined && attribute.type !== 'number' && { canonicalValues: attribute.enum.map(String) }),
    })),
  };
  return { name: 'User', core: USER, extensions: [ENTERPRISE, own] };
}

/** The client's labels of the values in a list's slots, by field. */
export type Labels = Readonly<Record<string, { readonly type?: string; readonly primary?: boolean }>>;

type AttributeValue = string | number | boolean | readonly string[];

/** login, email and the profile: what SCIM reads and writes. */
export type Fields = Readonly<Record<string, AttributeValue | undefined>>;

/** Data of a user that a client can write, in addition to the fields. */
export interface WantedUser {
  readonly fields: Fields;
  readonly labels: Labels;
  readonly active: boolean | undefined;
  readonly externalId: string | undefined;
  readonly password: string | undefined;
}

/** The current values of the attributes that a client can write. */
export function writtenPart(
  type: ScimType,
  fields: Fields,
  { active, externalId, labels }: Pick<WantedUser, 'active' | 'externalId' | 'labels'>,
): ScimObject {
  const extensions = type.extensions.map(({ id, attributes }) => [id, objectOf(attributes, fields, labels)] as const);
  return {
    ...(externalId !== undefined && { externalId }),
    ...objectOf(type.core.attributes, fields, labels),
    ...(active !== undefined && { active }),
    ...Object.fromEntries(extensions.filter(([, object]) => Object.keys(object).length > 0)),
  };
}

function objectOf(attributes: readonly ScimAttribute[], fields: Fields, labels: Labels): ScimObject {
  const entries = attributes.flatMap((attribute) => {
    const value = valueIn(attribute, fields, labels);
    return value === undefined ? [] : [[attribute.name, value] as const];
  });
  return Object.fromEntries(entries);
}

function valueIn(attribute: ScimAttribute, fields: Fields, labels: Labels): unknown {
  if (attribute.field !== undefined) return fields[attribute.field];
  if (attribute.slots !== undefined) {
    const values = attribute.slots.flatMap((slot, index) => {
      const entries = Object.entries(slot.fields).flatMap(([name, field]) =>
        fields[field] === undefined ? [] : [[name, fields[field]] as const],
      );
      if (entries.length === 0) return [];
      const label = labels[Object.values(slot.fields)[0] ?? ''];
      const shown = attribute.takesAnyType === true ? { type: slot.type, primary: index === 0, ...label } : { type: slot.type };
      return [{ ...Object.fromEntries(entries), ...shown }];
    });
    return values.length === 0 ? undefined : values;
  }
  if (attribute.isDerived === true) {
    const name = [fields.firstName, fields.middleName, fields.lastName].filter((part) => part !== undefined).join(' ');
    return name === '' ? undefined : name;
  }
  if (attribute.subAttributes === undefined || attribute.multiValued === true || attribute.isCommon === true) return undefined;
  const object = objectOf(attribute.subAttributes, fields, labels);
  return Object.keys(object).length === 0 ? undefined : object;
}

/** @param resource with the names of the schemas */
export function wantedOf(type: ScimType, resource: ScimObject): WantedUser {
  const fields: Record<string, AttributeValue | undefined> = {};
  const labels: Record<string, { type?: string; primary?: boolean }> = {};
  const read = (attributes: readonly ScimAttribute[], object: ScimObject): void => {
    for (const attribute of attributes) {
      const value = object[attribute.name];
      if (attribute.mutability === 'readOnly') continue;
      if (attribute.field !== undefined) fields[attribute.field] = value as AttributeValue | undefined;
      else if (attribute.slots !== undefined) readSlots(attribute, (value ?? []) as readonly ScimObject[], fields, labels);
      else if (attribute.subAttributes !== undefined && attribute.multiValued !== true && attribute.isCommon !== true)
        read(attribute.subAttributes, (value ?? {}) as ScimObject);
    }
  };
  read(type.core.attributes, resource);
  for (const { id, attributes } of type.extensions) read(attributes, (resource[id] ?? {}) as ScimObject);
  const { active, externalId, password } = resource as { active?: boolean; externalId?: string; password?: string };
  return { fields, labels, active, externalId, password };
}

function readSlots(
  { slots = [], takesAnyType = false }: ScimAttribute,
  values: readonly ScimObject[],
  fields: Record<string, AttributeValue | undefined>,
  labels: Record<string, { type?: string; primary?: boolean }>,
): void {
  const left = values.filter((value) => Object.keys(value).some((name) => name !== 'type' && name !== 'primary'));
  const take = (fits: (value: ScimObject) => boolean): ScimObject | undefined => {
    const index = left.findIndex(fits);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const isOf = (type: string) => (value: ScimObject) => String(value.type ?? type).toLowerCase() === type;
  for (const [index, slot] of slots.entries()) {
    const isFirst = takesAnyType && index === 0;
    const value =
      (isFirst ? take(({ primary }) => primary === true) : undefined) ??
      take(isOf(slot.type)) ??
      (takesAnyType ? take(() => true) : undefined);
    for (const [name, field] of Object.entries(slot.fields)) fields[field] = value?.[name] as string | undefined;
    if (!takesAnyType || value === undefined) continue;
    const { type, primary } = value as { type?: string; primary?: boolean };
    const field = Object.values(slot.fields)[0] ?? '';
    // An address of another type uses the first slot only until there is one for work.
    const isPrimary = primary ?? (isFirst && isOf(slot.type)(value));
    const label = { ...(type !== undefined && type !== slot.type && { type }), ...(isPrimary !== isFirst && { primary: isPrimary }) };
    if (Object.keys(label).length > 0) labels[field] = label;
  }
}
