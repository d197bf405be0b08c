/** Converts list filters (RFC 7644 section 3.4.2.2) to SQL conditions. platform/database/filter-syntax.ts parses them. */
import type { Knex } from 'knex';

/** Attribute type: text is compared without case, times as points in time. */
export type AttributeType = 'text' | 'time' | 'boolean' | 'number';

/** A comparison by the type of its attribute. */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  /** One value of an attribute with several, e.g. `emails[…]`; the inner filter applies to attributes of that value. */
  | { readonly op: 'any'; readonly filter: Filter }
  | { readonly op: 'pr'; readonly attribute: string }
  | {
      readonly op: 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
      readonly attribute: string;
      readonly value: string | Date | boolean | number;
    };

/** A comparison, or presence. */
export type Leaf = Exclude<Filter, { op: 'and' | 'or' | 'not' | 'any' }>;

/** SQL expression of an attribute. */
export interface AttributeColumn {
  /** An expression without parameters, e.g. `profile->>'firstName'`. */
  readonly sql: string;
  readonly type: AttributeType;
  /** For an attribute with several values: the rows of its values, e.g. `jsonb_array_elements(target) AS element`. One matching row is enough. */
  readonly among?: string;
  /** Is the text compared case-sensitively? */
  readonly caseExact?: boolean;
  /** Equality as a condition that indexes serve; each `?` is the value. */
  readonly equals?: string;
  /** Forms in which a text can be stored. */
  readonly spellings?: (value: string) => readonly string[];
  /** For an attribute in an index of terms: its name there (platform/database/attribute-terms.ts). */
  readonly terms?: string;
}

export type AttributeColumns = Readonly<Record<string, AttributeColumn>>;

/** @returns the types of these columns' attributes, for platform/database/filter-syntax.ts */
export const attributeTypes = (columns: AttributeColumns): Record<string, AttributeType> =>
  Object.fromEntries(Object.entries(columns).map(([attribute, { type }]) => [attribute, type]));

/** @returns the LIKE pattern for texts that begin with the text */
const beginningWith = (text: string): string => `${literal(text)}%`;

/** @returns the LIKE pattern for texts that contain the text */
export const containing = (text: string): string => `%${literal(text)}%`;

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

export interface Condition {
  readonly sql: string;
  readonly bindings: readonly (string | Date | boolean | number)[];
}

/**
 * Adds the filter to the query. An attribute without a value equals nothing, so `ne` and `not` match it.
 * @param columns of every attribute that the filter was parsed with
 */
export function applyFilter(query: Knex.QueryBuilder, filter: Filter, columns: AttributeColumns): void {
  const { sql, bindings } = condition(filter, columns);
  query.whereRaw(sql, bindings);
}

function condition(filter: Filter, columns: AttributeColumns): Condition {
  if ('filters' in filter) {
    const parts = filter.filters.map((part) => condition(part, columns));
    const sql = parts.map((part) => part.sql).join(filter.op === 'and' ? ' AND ' : ' OR ');
    return { sql: `(${sql})`, bindings: parts.flatMap(({ bindings }) => bindings) };
  }
  if (filter.op === 'not') return negation(condition(filter.filter, columns));
  if (filter.op === 'any') return amongRows(filter.filter, columns);

  const column = columns[filter.attribute];
  if (column === undefined) throw new Error(`there is no column for ${filter.attribute}`);
  // For several values, `ne` means that none is equal: the negation of `eq`.
  if (filter.op === 'ne') return negation(condition({ ...filter, op: 'eq' }, columns));
  if (filter.op === 'eq' && column.equals !== undefined) {
    return { sql: column.equals, bindings: Array.from(column.equals.matchAll(/\?/g), () => filter.value) };
  }
  const one = filter.op === 'pr' ? presence(column) : comparison(column, filter.op, filter.value);
  return column.among === undefined ? one : { sql: `EXISTS (SELECT FROM ${column.among} WHERE ${one.sql})`, bindings: one.bindings };
}

/** All conditions in brackets apply to the same row. */
function amongRows(filter: Filter, columns: AttributeColumns): Condition {
  const among = namesIn(filter).map((name) => columns[name]?.among)[0];
  if (among === undefined) throw new Error('the attribute in brackets has one value only');
  const ofOne = Object.fromEntries(Object.entries(columns).map(([name, { among: _, ...column }]) => [name, column]));
  const { sql, bindings } = condition(filter, ofOne);
  return { sql: `EXISTS (SELECT FROM ${among} WHERE ${sql})`, bindings };
}

function namesIn(filter: Filter): readonly string[] {
  if ('filters' in filter) return filter.filters.flatMap(namesIn);
  return 'filter' in filter ? namesIn(filter.filter) : [filter.attribute];
}

/** NULL (a missing value) counts as false. */
const negation = ({ sql, bindings }: Condition): Condition => ({ sql: `NOT coalesce(${sql}, false)`, bindings });

const presence = ({ sql, type }: AttributeColumn): Condition => ({
  sql: type === 'text' ? `(${sql}) <> ''` : `(${sql}) IS NOT NULL`,
  bindings: [],
});

const OPERATORS = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

type Comparison = keyof typeof OPERATORS | 'co' | 'sw' | 'ew';

function comparison(
  { sql, type, caseExact = false, spellings }: AttributeColumn,
  op: Comparison,
  value: string | Date | boolean | number,
): Condition {
  const folded = (text: string): string => (caseExact ? text : `lower(${text})`);
  if (op === 'co' || op === 'sw' || op === 'ew') {
    const pattern = op === 'co' ? containing(String(value)) : op === 'sw' ? beginningWith(String(value)) : `%${literal(String(value))}`;
    return { sql: `${folded(sql)} LIKE ${folded('?')}`, bindings: [pattern] };
  }
  const operator = OPERATORS[op];
  if (type === 'time') return { sql: `(${sql}) ${operator} ?::timestamptz`, bindings: [value] };
  if (type === 'number') return { sql: `(${sql}) ${operator} ?::numeric`, bindings: [value] };
  if (type === 'boolean') return { sql: `(${sql}) ${operator} ?::boolean`, bindings: [value] };
  const bindings = op === 'eq' && spellings !== undefined ? spellings(String(value)) : [];
  if (bindings.length > 1) {
    return { sql: `${folded(sql)} IN (${bindings.map(() => folded('?')).join(', ')})`, bindings };
  }
  // The order must not depend on the database's locale.
  const order = op === 'eq' ? '' : ' COLLATE "C"';
  return { sql: `${folded(sql)} ${operator} ${folded('?')}${order}`, bindings: [value] };
}

// Evaluates list filters (platform/database/filter-syntax.ts) on values in memory, with the same rules as in SQL.

/**
 * @param valueIn the value of an attribute; undefined: none
 * @param caseExact attributes that are compared case-sensitively
 */
export function matchesFilter(
  filter: Filter,
  valueIn: (attribute: string) => unknown,
  caseExact: ReadonlySet<string> = new Set(),
): boolean {
  const matches = (part: Filter): boolean => {
    if ('filters' in part) return part.op === 'and' ? part.filters.every(matches) : part.filters.some(matches);
    if (part.op === 'not') return !matches(part.filter);
    if (part.op === 'any') return matches(part.filter);
    const value = valueIn(part.attribute);
    if (part.op === 'pr') return value !== undefined && value !== null && value !== '';
    const folded = (one: unknown) => (typeof one === 'string' && !caseExact.has(part.attribute) ? one.toLowerCase() : one);
    return compare(part.op, folded(value), folded(part.value));
  };
  return matches(filter);
}

function compare(op: 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le', value: unknown, wanted: unknown): boolean {
  if (op === 'eq') return value === wanted;
  if (op === 'ne') return value !== wanted;
  if (typeof value === 'string' && typeof wanted === 'string') {
    if (op === 'co') return value.includes(wanted);
    if (op === 'sw') return value.startsWith(wanted);
    if (op === 'ew') return value.endsWith(wanted);
    return inOrder(op, value < wanted ? -1 : value > wanted ? 1 : 0);
  }
  return typeof value === 'number' && typeof wanted === 'number' && inOrder(op, value - wanted);
}

function inOrder(op: string, difference: number): boolean {
  if (difference === 0) return op === 'ge' || op === 'le';
  return difference > 0 ? op === 'gt' || op === 'ge' : op === 'lt' || op === 'le';
}
