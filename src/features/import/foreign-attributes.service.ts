/** Converts users' attributes from another service to attributes of this one. */

import { isBaseAttribute, isEmptyValue, valueOfText } from '../user-schema/attribute-values.service.ts';
import type { Attribute, AttributeValue } from '../user-schema/attributes.resource.ts';
import { OWN_ATTRIBUTES } from '../users/own-profile.service.ts';

/**
 * @param given values, or lists of values as in Keycloak
 * @returns the attributes that exist here, with values of their types, and the names of the others
 */
export function knownAttributes(
  schema: readonly Attribute[],
  given: Readonly<Record<string, unknown>>,
): { readonly known: Readonly<Record<string, unknown>>; readonly unknown: readonly string[] } {
  const types = new Map(schema.map(({ name, type }) => [name, type]));
  const known: [string, unknown][] = [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (isEmptyValue(value)) continue;
    const type = isBaseAttribute(name) ? 'string' : types.get(name);
    if (type === undefined) unknown.push(name);
    else known.push([name, converted(type, value)]);
  }
  return { known: Object.fromEntries(known), unknown };
}

const OWN: ReadonlySet<string> = new Set(OWN_ATTRIBUTES);

/** @returns names of attributes that users have here but cannot change themselves */
export const readOnlyAttributes = (schema: readonly Attribute[], given: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(given).filter(
    (name) =>
      !isEmptyValue(given[name]) &&
      (isBaseAttribute(name) ? !OWN.has(name) : schema.some((attribute) => attribute.name === name && attribute.self !== 'READ_WRITE')),
  );

function converted(type: Attribute['type'], value: unknown): AttributeValue | unknown {
  if (type === 'array') return Array.isArray(value) ? value : typeof value === 'string' ? valueOfText(type, value) : value;
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof single === 'string' ? valueOfText(type, single) : single;
}
