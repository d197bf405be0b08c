/** Finds attributes by name: case-insensitive (RFC 7643 section 2.1), optionally preceded by the schema's URN. */
import type { ScimAttribute, ScimObject, ScimSchema, ScimType } from './scim-attributes.policy.ts';
import { badRequest } from './scim-errors.policy.ts';

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const findAttribute = (attributes: readonly ScimAttribute[], name: string): ScimAttribute | undefined =>
  attributes.find((attribute) => sameName(attribute.name, name));

const findExtension = ({ extensions }: ScimType, id: string): ScimSchema | undefined => extensions.find((one) => sameName(one.id, id));

/** A place in a resource. */
export interface ScimPath {
  /** undefined: of the core schema. */
  readonly extension: ScimSchema | undefined;
  /** undefined: the whole extension. */
  readonly attribute: ScimAttribute | undefined;
  readonly filter: string | undefined;
  readonly sub: ScimAttribute | undefined;
}

const WITHIN = /^([a-z][\w-]*)(?:\[(.*)\])?(?:\.([a-z$][\w-]*))?$/is;

/** Reads `attr`, `attr.sub`, `attr[filter]` or `attr[filter].sub` (RFC 7644 section 3.5.2). @throws {ScimError} invalidPath */
export function parsePath(type: ScimType, path: string): ScimPath {
  const unknown = () => badRequest('invalidPath', `${path} is not an attribute of ${type.name}`);
  const schemas = [type.core, ...type.extensions];
  const schema = schemas.find(({ id }) => sameName(path.slice(0, id.length), id) && ['', ':', '.'].includes(path.charAt(id.length)));
  const extension = schema === type.core ? undefined : schema;
  const rest = schema === undefined ? path : path.slice(schema.id.length + 1);
  if (rest === '' && extension !== undefined) return { extension, attribute: undefined, filter: undefined, sub: undefined };
  const [, name = '', filter, subName] = WITHIN.exec(rest) ?? [];
  const attribute = findAttribute((schema ?? type.core).attributes, name);
  if (attribute === undefined) throw unknown();
  const sub = subName === undefined ? undefined : findAttribute(attribute.subAttributes ?? [], subName);
  if (subName !== undefined && sub === undefined) throw unknown();
  if (filter !== undefined && (attribute.multiValued !== true || attribute.subAttributes === undefined)) throw unknown();
  return { extension, attribute, filter, sub };
}

export const isObject = (value: unknown): value is ScimObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the value with the types of the schema; undefined for nothing (RFC 7643 section 2.5) @throws {ScimError} invalidValue */
export function canonicalValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (attribute.multiValued !== true) return canonicalOne(attribute, Array.isArray(value) && value.length === 1 ? value[0] : value);
  const values = (Array.isArray(value) ? value : [value])
    .map((one: unknown) => canonicalOne(attribute, one))
    .filter((one) => one !== undefined);
  return values.length === 0 ? undefined : values;
}

function canonicalOne(attribute: ScimAttribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  const wrong = (what: string) => badRequest('invalidValue', `${attribute.name} must be ${what}`);
  switch (attribute.type) {
    case 'complex': {
      // Entra sends the manager as the bare ID, and simple values of lists without their wrapping.
      const given: unknown = typeof value === 'string' ? { value } : value;
      if (!isObject(given)) throw wrong('an object');
      return canonicalObject(attribute.subAttributes ?? [], given);
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      // Entra sends "True" and "False".
      if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
      throw wrong('true or false');
    case 'decimal':
    case 'integer':
      if (typeof value !== 'number') throw wrong('a number');
      return value;
    default:
      if (typeof value !== 'string') throw wrong('a string');
      return value === '' ? undefined : value;
  }
}

/** Unknown names and read-only attributes are left out (RFC 7644 sections 3.3 and 3.5.1). */
function canonicalObject(attributes: readonly ScimAttribute[], given: ScimObject): ScimObject {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    const attribute = findAttribute(attributes, name);
    if (attribute === undefined || attribute.mutability === 'readOnly') return [];
    const canonical = canonicalValue(attribute, value);
    return canonical === undefined ? [] : [[attribute.name, canonical] as const];
  });
  return Object.fromEntries(entries);
}

/** A whole resource as a client sends it, with the names and types of its schemas. @throws {ScimError} invalidSyntax, invalidValue */
export function canonicalResource(type: ScimType, given: unknown): ScimObject {
  if (!isObject(given)) throw badRequest('invalidSyntax', 'The body must be a JSON object');
  requireSchema(given, type.core.id);
  const extensions = Object.entries(given).flatMap(([name, value]) => {
    const extension = findExtension(type, name);
    if (extension === undefined || value === null) return [];
    if (!isObject(value)) throw badRequest('invalidValue', `${extension.id} must be an object`);
    return [[extension.id, canonicalObject(extension.attributes, value)] as const];
  });
  return { ...canonicalObject(type.core.attributes, given), ...Object.fromEntries(extensions) };
}

/** @throws {ScimError} invalidSyntax */
export function requireSchema(given: ScimObject, id: string): void {
  const entry = Object.entries(given).find(([name]) => sameName(name, 'schemas'));
  const schemas = entry?.[1];
  if (!Array.isArray(schemas) || !schemas.some((one) => typeof one === 'string' && sameName(one, id))) {
    throw badRequest('invalidSyntax', `schemas must contain ${id}`);
  }
}

/** SCIM names of internal fields, for refusals. */
export function namesOfFields({ core, extensions }: ScimType): ReadonlyMap<string, string> {
  const names = new Map([
    ['credentials.password.value', 'password'],
    ['password.value', 'password'],
    ['name', 'displayName'],
    ['orgId', 'the organization of the token'],
  ]);
  const walk = (attributes: readonly ScimAttribute[], prefix: string): void => {
    for (const { name, field, slots = [], subAttributes = [] } of attributes) {
      if (field !== undefined) names.set(field, `${prefix}${name}`);
      for (const slot of slots)
        for (const [sub, kept] of Object.entries(slot.fields)) names.set(kept, `${prefix}${name}[type eq "${slot.type}"].${sub}`);
      walk(subAttributes, `${prefix}${name}.`);
    }
  };
  walk(core.attributes, '');
  for (const { id, attributes } of extensions) walk(attributes, `${id}:`);
  return names;
}
