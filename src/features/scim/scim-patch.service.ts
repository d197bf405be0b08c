/**
 * PATCH (RFC 7644 section 3.5.2), also in the forms of Microsoft Entra and Okta. Pure functions from a resource and operations to the new resource.
 * docs/decisions/0087-scim.md explains why no library is used.
 */
import { z } from 'zod';
import { type AttributeType, type Filter, matchesFilter } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import type { ScimAttribute, ScimObject, ScimType } from './scim-attributes.policy.ts';
import { badRequest } from './scim-errors.policy.ts';
import { canonicalValue, isObject, parsePath, requireSchema, type ScimPath } from './scim-names.policy.ts';

const PATCH_MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const MOST_OPERATIONS = 1000;

export interface ScimOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string | undefined;
  readonly value: unknown;
}

const operation = z.object({
  op: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['add', 'remove', 'replace'])),
  path: z.string().max(2000).nullish(),
  value: z.unknown().optional(),
});

/** Reads the body of a PATCH. @throws {ScimError} invalidSyntax, noTarget */
export function readOperations(body: unknown): readonly ScimOperation[] {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'The body must be a JSON object');
  requireSchema(body, PATCH_MESSAGE);
  const given = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations')?.[1];
  const parsed = z.array(operation).min(1).max(MOST_OPERATIONS).safeParse(given);
  if (!parsed.success) {
    throw badRequest(
      'invalidSyntax',
      `Operations must be 1 to ${MOST_OPERATIONS} objects with op (add, remove or replace), path and value`,
    );
  }
  return parsed.data.map(({ op, path, value }) => {
    if (op === 'remove' && (path ?? '') === '') throw badRequest('noTarget', 'remove needs a path');
    if (op !== 'remove' && value === undefined) throw badRequest('invalidValue', `${op} needs a value`);
    return { op, path: path === null || path === '' ? undefined : path, value };
  });
}

/** An operation on one attribute. */
export interface Step {
  readonly op: ScimOperation['op'];
  readonly at: ScimPath;
  readonly value: unknown;
}

/**
 * Splits an operation into steps for single attributes: without a path, the value names them. As in PUT, unknown and read-only names in such values
 * are ignored.
 * @throws {ScimError} invalidPath, invalidValue, mutability
 */
export function stepsOf(type: ScimType, { op, path, value }: ScimOperation): readonly Step[] {
  if (path !== undefined) {
    const at = parsePath(type, path);
    const target = at.sub ?? at.attribute;
    const isWhole = at.attribute === undefined;
    if (isWhole) return withinObject(type, op, value, `${path}:`);
    const readOnly = [at.attribute, target].find((one) => one?.mutability === 'readOnly');
    if (readOnly?.isDerived === true) return [];
    if (readOnly !== undefined) throw badRequest('mutability', `${path} is read-only`);
    if (op === 'remove' && at.sub === undefined && at.filter === undefined && at.attribute?.required === true) {
      throw badRequest('mutability', `${path} is required`);
    }
    return [{ op, at, value }];
  }
  return withinObject(type, op, value, '');
}

function withinObject(type: ScimType, op: Step['op'], value: unknown, prefix: string): readonly Step[] {
  if (op === 'remove') {
    const { extension } = parsePath(type, prefix.slice(0, -1));
    return (extension?.attributes ?? []).flatMap(({ name }) => stepsOf(type, { op, path: `${prefix}${name}`, value: undefined }));
  }
  if (!isObject(value)) throw badRequest('invalidValue', `${op} without a path needs an object of attributes`);
  return Object.entries(value).flatMap(([name, one]) => {
    try {
      return stepsOf(type, { op, path: `${prefix}${name}`, value: one });
    } catch (error) {
      if (error instanceof Error && 'scimType' in error && (error.scimType === 'invalidPath' || error.scimType === 'mutability')) return [];
      throw error;
    }
  });
}

/** @throws {ScimError} invalidPath, invalidFilter, invalidValue, noTarget, mutability */
export function applyOperations(type: ScimType, resource: ScimObject, operations: readonly ScimOperation[]): ScimObject {
  const steps = operations.flatMap((one) => stepsOf(type, one));
  return steps.reduce(applyStep, resource);
}

/** @returns a copy without the name, or with another value of it */
const withValue = (object: ScimObject, name: string, value: unknown): ScimObject => {
  const { [name]: _, ...rest } = object;
  return value === undefined ? rest : { ...rest, [name]: value };
};

function applyStep(resource: ScimObject, step: Step): ScimObject {
  const { extension, attribute } = step.at;
  if (attribute === undefined) return resource;
  if (extension === undefined) return withValue(resource, attribute.name, changed(attribute, resource[attribute.name], step));
  const within = isObject(resource[extension.id]) ? (resource[extension.id] as ScimObject) : {};
  return withValue(resource, extension.id, withValue(within, attribute.name, changed(attribute, within[attribute.name], step)));
}

/** @returns the new attribute; undefined: unassigned */
function changed(attribute: ScimAttribute, before: unknown, { op, at: { filter, sub }, value }: Step): unknown {
  if (attribute.multiValued === true && attribute.subAttributes !== undefined) {
    const values = (before ?? []) as readonly ScimObject[];
    const after =
      filter === undefined && sub === undefined ? listed(attribute, values, op, value) : chosen(attribute, values, op, filter, sub, value);
    return after.length === 0 ? undefined : after;
  }
  if (attribute.multiValued === true) {
    const values = (before ?? []) as readonly unknown[];
    const given = (canonicalValue(attribute, value) ?? []) as readonly unknown[];
    if (op === 'replace') return given.length === 0 ? undefined : given;
    const after =
      op === 'add' ? [...new Set([...values, ...given])] : value === undefined ? [] : values.filter((one) => !given.includes(one));
    return after.length === 0 ? undefined : after;
  }
  if (sub !== undefined) {
    const object = isObject(before) ? before : {};
    const after = withValue(object, sub.name, op === 'remove' ? undefined : canonicalValue(sub, value));
    return Object.keys(after).length === 0 ? undefined : after;
  }
  if (op === 'remove') return undefined;
  const given = canonicalValue(attribute, value);
  // Sub-attributes that the value omits are kept (section 3.5.2.3).
  return attribute.type === 'complex' && isObject(given) && isObject(before) ? { ...before, ...given } : given;
}

/** A list as a whole. */
function listed(attribute: ScimAttribute, values: readonly ScimObject[], op: Step['op'], value: unknown): readonly ScimObject[] {
  if (op === 'remove' && value === undefined) return [];
  const given = (canonicalValue(attribute, value) ?? []) as readonly ScimObject[];
  if (op === 'replace') return given;
  if (op === 'remove') return values.filter((one) => !given.some((gone) => isSame(attribute, one, gone)));
  const kept = values.filter((one) => !given.some((added) => isSame(attribute, one, added)));
  return withOnePrimary([...kept, ...given], given);
}

/** Values with the same `value` and `type` are the same; the later one replaces the other. */
const isSame = ({ subAttributes = [] }: ScimAttribute, a: ScimObject, b: ScimObject): boolean =>
  ['value', 'type']
    .filter((name) => subAttributes.some((sub) => sub.name === name))
    .every((name) => b[name] === undefined || a[name] === b[name]);

/** A new primary value ends the former one (section 3.5.2). */
function withOnePrimary(values: readonly ScimObject[], added: readonly ScimObject[]): readonly ScimObject[] {
  const primary = added.find((one) => one.primary === true);
  return primary === undefined ? values : values.map((one) => (one.primary === true && one !== primary ? { ...one, primary: false } : one));
}

/** The values of a list that match a filter; all without one. If none matches, a filter by equality defines the value to create. */
function chosen(
  attribute: ScimAttribute,
  values: readonly ScimObject[],
  op: Step['op'],
  filter: string | undefined,
  sub: ScimAttribute | undefined,
  value: unknown,
): readonly ScimObject[] {
  const parsed = filter === undefined ? undefined : readFilter(attribute, filter);
  const isChosen = (one: ScimObject): boolean => parsed === undefined || matchesFilter(parsed, (name) => one[name], exactNames(attribute));
  if (op === 'remove') {
    return sub === undefined
      ? values.filter((one) => !isChosen(one))
      : values.map((one) => (isChosen(one) ? withValue(one, sub.name, undefined) : one));
  }
  const given = sub === undefined ? oneOf(attribute, value) : withValue({}, sub.name, canonicalValue(sub, value));
  if (sub !== undefined && given[sub.name] === undefined)
    return values.map((one) => (isChosen(one) ? withValue(one, sub.name, undefined) : one));
  if (values.some(isChosen)) {
    const after = values.map((one) => (isChosen(one) ? { ...one, ...given } : one));
    return withOnePrimary(
      after,
      after.filter((one, index) => one !== values[index]),
    );
  }
  const made = parsed === undefined ? {} : equalities(parsed);
  if (made === undefined) throw badRequest('noTarget', `No value of ${attribute.name} matches ${filter}`);
  return withOnePrimary([...values, { ...made, ...given }], [given]);
}

function oneOf(attribute: ScimAttribute, value: unknown): ScimObject {
  const [one, ...more] = (canonicalValue(attribute, value) ?? []) as readonly ScimObject[];
  if (one === undefined || more.length > 0) throw badRequest('invalidValue', `${attribute.name} needs one value here`);
  return one;
}

const exactNames = ({ subAttributes = [] }: ScimAttribute): ReadonlySet<string> =>
  new Set(subAttributes.filter(({ caseExact }) => caseExact === true).map(({ name }) => name));

/** A filter on the values of one attribute. @throws {ScimError} invalidFilter */
export function readFilter({ subAttributes = [] }: ScimAttribute, filter: string): Filter {
  const types = Object.fromEntries(
    subAttributes.map(({ name, type }) => [name, type === 'boolean' ? 'boolean' : 'text'] as [string, AttributeType]),
  );
  try {
    return parseFilter(filter, types, 'path');
  } catch (error) {
    throw error instanceof ApiError ? badRequest('invalidFilter', error.causes.join('; ')) : error;
  }
}

/** @returns the values that a filter requires; undefined if it does not determine them */
function equalities(filter: Filter): ScimObject | undefined {
  if (filter.op === 'eq') return { [filter.attribute]: filter.value };
  if (filter.op !== 'and') return undefined;
  const parts = filter.filters.map(equalities);
  return parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
}
