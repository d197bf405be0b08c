/** Shared by users and groups as SCIM resources: addresses, entity tags, lists, and selection of attributes. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import { type AttributeColumns, attributeTypes, type Filter } from '../../platform/database/filter.ts';
import { parseFilter } from '../../platform/database/filter-syntax.ts';
import type { NumberedPage, Slice } from '../../platform/database/paging.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import type { ScimObject, ScimType } from './scim-attributes.policy.ts';
import { badRequest, versionMismatch } from './scim-errors.policy.ts';
import { isObject, parsePath } from './scim-names.policy.ts';

export const SCIM_BASE = '/scim/v2';
/** Resources of one response. */
export const MOST_RESULTS = 200;

export const locationOf = ({ config }: Pick<Services, 'config'>, type: string, id: string): string =>
  `${config.baseUrl}${SCIM_BASE}/${type}s/${id}`;

/** @param content everything that the tag covers @returns a weak entity tag (RFC 9110 section 8.8.3) */
export const versionOf = (content: unknown): string =>
  `W/"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;

/** @param wanted the header If-Match, or a version of Bulk @throws {ScimError} the resource has another version */
export function requireVersion(version: string, wanted: string | undefined): void {
  if (wanted !== undefined && wanted !== '' && !hasVersion(version, wanted)) throw versionMismatch();
}

/** Is the tag one of these? Weak tags are compared by value only. */
export const hasVersion = (version: string, wanted: string): boolean => {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return wanted.trim() === '*' || wanted.split(',').some((tag) => bare(tag) === bare(version));
};

const names = z
  .union([z.string().transform((list) => list.split(',')), z.array(z.string())])
  .transform((list) => list.map((name) => name.trim()).filter(Boolean));
const count = z.coerce.number().int().catch(Number.NaN);

const query = z.object({
  filter: z.string().optional(),
  sortBy: z.string().optional(),
  sortOrder: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['ascending', 'descending']))
    .optional(),
  startIndex: count.optional(),
  count: count.optional(),
  attributes: names.optional(),
  excludedAttributes: names.optional(),
});

export type ScimQuery = z.output<typeof query>;

/** Reads the parameters of a list or of one resource (RFC 7644 section 3.4.2). @throws {ScimError} invalidValue */
export function readQuery(given: unknown): ScimQuery {
  const parsed = query.safeParse(given);
  if (!parsed.success)
    throw badRequest('invalidValue', `${parsed.error.issues[0]?.path.join('.') ?? 'The query'} is not valid, or is given twice`);
  const { startIndex = 1, count: size = 100 } = parsed.data;
  if (Number.isNaN(startIndex) || Number.isNaN(size)) throw badRequest('invalidValue', 'startIndex and count must be whole numbers');
  return parsed.data;
}

/** @param severalValued attributes that can have a value path @throws {ScimError} invalidFilter */
export function readListFilter(expression: string | undefined, columns: AttributeColumns): Filter | undefined {
  if (expression === undefined || expression.trim() === '') return undefined;
  const lists = Object.entries(columns).filter(([name, { among }]) => among !== undefined && name !== 'externalId');
  const severalValued = new Set(lists.map(([name]) => name.replace(/\.\w+$/, '').toLowerCase()));
  try {
    return parseFilter(expression, attributeTypes(columns), 'filter', severalValued);
  } catch (error) {
    throw error instanceof ApiError ? badRequest('invalidFilter', error.causes.join('; ')) : error;
  }
}

/** Page and sort order of a list. Multi-valued attributes sort by their first value (section 3.4.2.3). @throws {ScimError} invalidPath */
export function readSliceOf({ sortBy, sortOrder, startIndex = 1, count: size = 100 }: ScimQuery, columns: AttributeColumns): Slice {
  const slice = {
    offset: Math.max(1, startIndex) - 1,
    size: Math.min(Math.max(0, size), MOST_RESULTS),
    descending: sortOrder === 'descending',
  };
  if (sortBy === undefined || sortBy === '') return { ...slice, order: 'seq', descending: false };
  const found = Object.entries(columns).find(([name]) => name.toLowerCase() === sortBy.toLowerCase())?.[1];
  if (found === undefined) throw badRequest('invalidPath', `${sortBy} is not an attribute that can be sorted by`);
  const { sql, type, among, caseExact } = found;
  const value = among === undefined ? sql : `(SELECT ${sql} FROM ${among} LIMIT 1)`;
  return { ...slice, order: type === 'text' && caseExact !== true ? `lower(${value})` : value };
}

export const listResponse = ({ items, total }: NumberedPage<ScimObject>, { startIndex = 1 }: ScimQuery) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: total,
  startIndex: Math.max(1, startIndex),
  itemsPerPage: items.length,
  Resources: items,
});

/**
 * The requested attributes, or all but the excluded ones. `schemas` and `id` are always included (section 3.9).
 * @throws {ScimError} invalidValue: both parameters are given
 */
export function chooseAttributes(type: ScimType, { attributes, excludedAttributes }: ScimQuery): (resource: ScimObject) => ScimObject {
  if (attributes !== undefined && excludedAttributes !== undefined) {
    throw badRequest('invalidValue', 'Use either attributes or excludedAttributes, not both');
  }
  const wanted = placesOf(type, attributes ?? []);
  const unwanted = [...placesOf(type, excludedAttributes ?? []).filter(([name]) => name !== 'id'), ...onRequest(type)];
  return (resource) => {
    if (attributes !== undefined) {
      const kept = wanted.reduce((made, place) => copied(made, resource, place), {
        schemas: resource.schemas,
        id: resource.id,
      } as ScimObject);
      return kept;
    }
    return unwanted.reduce(without, resource);
  };
}

/** Attributes that are returned only on request. */
const onRequest = ({ core }: ScimType): readonly (readonly string[])[] =>
  core.attributes.flatMap(({ name, subAttributes = [] }) =>
    subAttributes.filter(({ returned }) => returned === 'request').map((sub) => [name, sub.name]),
  );

/** Resolves attribute names to paths; unknown names are dropped. */
function placesOf(type: ScimType, given: readonly string[]): readonly (readonly string[])[] {
  return given.flatMap((name) => {
    try {
      const { extension, attribute, sub } = parsePath(type, name);
      return [[extension?.id, attribute?.name, sub?.name].filter((part) => part !== undefined)];
    } catch {
      return [];
    }
  });
}

function copied(made: ScimObject, from: ScimObject, [name = '', ...rest]: readonly string[]): ScimObject {
  const value = from[name];
  if (value === undefined) return made;
  if (rest.length === 0) return { ...made, [name]: value };
  if (Array.isArray(value)) {
    const before = (made[name] ?? []) as readonly ScimObject[];
    return { ...made, [name]: value.map((one: unknown, index) => (isObject(one) ? copied(before[index] ?? {}, one, rest) : one)) };
  }
  return isObject(value) ? { ...made, [name]: copied((made[name] ?? {}) as ScimObject, value, rest) } : made;
}

function without(resource: ScimObject, [name = '', ...rest]: readonly string[]): ScimObject {
  const { [name]: value, ...others } = resource;
  if (value === undefined || rest.length === 0) return others;
  if (Array.isArray(value)) return { ...others, [name]: value.map((one: unknown) => (isObject(one) ? without(one, rest) : one)) };
  return isObject(value) ? { ...others, [name]: without(value, rest) } : resource;
}

/** Does the client get this attribute of a resource? */
export const wantsAttribute = ({ attributes, excludedAttributes }: ScimQuery, name: string): boolean => {
  const isNamed = (list: readonly string[]) => list.some((one) => new RegExp(`(^|:)${name}(\\.|$)`, 'i').test(one));
  return attributes === undefined ? !isNamed(excludedAttributes ?? []) : isNamed(attributes);
};
