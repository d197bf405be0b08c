/**
 * Parses list filters: expressions of RFC 7644 section 3.4.2.2. An attribute `emails.type` can also be used in a value path, `emails[type eq
 * "work"]`. platform/database/filter.ts converts them to SQL.
 */
import { parse, type Filter as ScimFilter } from 'scim2-parse-filter';
import { z } from 'zod';
import { type ApiError, validation } from '../errors/errors.ts';
import { isPrintable } from '../validation/text.ts';
import type { AttributeType, Filter } from './filter.ts';

const MOST_CHARACTERS = 2000;
const MOST_COMPARISONS = 50;
const DEEPEST = 50;

/**
 * `emails[type eq "work"].value eq "a"`: Microsoft Entra sends `emails[type eq "work" and value eq "a"]`. At this point, strings are
 * replaced by numbers.
 */
const BEHIND_BRACKETS = /\[([^[\]]*)\]\.([a-z][\w-]*)\s+(pr\b|[a-z]{2}\s+[^\s)]+)/gi;

/** A JSON string (RFC 8259 section 7). */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

const moment = z.iso.datetime({ offset: true });

/**
 * @param attributes attributes and their types; names are case-insensitive
 * @param severalValued attributes that can have a value path, in lower case
 * @param field that contained the expression, for errors
 * @throws {ApiError} validation
 */
export function parseFilter(
  expression: string,
  attributes: Readonly<Record<string, AttributeType>>,
  field: string,
  severalValued: ReadonlySet<string> = new Set(),
): Filter {
  const refuse = (message: string): ApiError => validation([{ field, message }]);
  if (expression.length > MOST_CHARACTERS) throw refuse(`must have at most ${MOST_CHARACTERS} characters`);
  if (!isPrintable(expression)) throw refuse('must not contain control characters');
  const names = new Map(Object.keys(attributes).map((name) => [name.toLowerCase(), name]));
  const { filter, strings } = read(expression, refuse);
  let comparisons = 0;
  const isOfSeveral = (path: string): boolean => severalValued.has(path.toLowerCase());

  const translate = (node: ScimFilter, depth: number, within = ''): Filter => {
    if (depth > DEEPEST) throw refuse(`must not be nested more than ${DEEPEST} deep`);
    switch (node.op) {
      case 'and':
      case 'or':
        return { op: node.op, filters: node.filters.map((part) => translate(part, depth + 1, within)) };
      case 'not':
        // The library parses `a pr not b pr` as an operation of two.
        if (node.filter === undefined) throw refuse(NOT_A_FILTER);
        return { op: 'not', filter: translate(node.filter, depth + 1, within) };
      case '[]':
        if (within !== '' || !isOfSeveral(node.attrPath)) throw refuse(`${node.attrPath} does not support value filters in brackets`);
        return { op: 'any', filter: translate(node.valFilter, depth + 1, `${node.attrPath}.`) };
      case 'pr':
      case 'eq':
      case 'ne':
      case 'co':
      case 'sw':
      case 'ew':
      case 'gt':
      case 'ge':
      case 'lt':
      case 'le':
        comparisons += 1;
        if (comparisons > MOST_COMPARISONS) throw refuse(`must have at most ${MOST_COMPARISONS} comparisons`);
        return leaf({ ...node, attrPath: within + node.attrPath });
      default:
        // Names of properties that every object has are not operators, but the library accepts them.
        throw refuse(NOT_A_FILTER);
    }
  };

  const leaf = (node: Extract<ScimFilter, { attrPath: string }> & { op: Leaf['op'] }): Filter => {
    const attribute = names.get(node.attrPath.toLowerCase());
    const type = attribute === undefined ? undefined : attributes[attribute];
    if (attribute === undefined || type === undefined) throw refuse(`${node.attrPath} is not an attribute that can be filtered`);
    if (node.op === 'pr') return { op: 'pr', attribute };
    if (!FITTING[type].includes(node.op)) throw refuse(`${attribute} does not support the operator ${node.op}`);
    const given = 'compValue' in node ? node.compValue : null;
    const value = typeof given === 'string' ? strings[Number(given)] : given;
    if (type === 'boolean') {
      if (typeof value !== 'boolean') throw refuse(`${attribute} must be compared with true or false`);
      return { op: node.op, attribute, value };
    }
    if (type === 'number') {
      if (typeof value !== 'number' || !Number.isFinite(value)) throw refuse(`${attribute} must be compared with a number`);
      return { op: node.op, attribute, value };
    }
    if (typeof value !== 'string') throw refuse(`${attribute} must be compared with text in double quotes`);
    if (!isPrintable(value)) throw refuse('must not contain control characters');
    if (type === 'text') return { op: node.op, attribute, value };
    if (!moment.safeParse(value).success) throw refuse(`${attribute} must be compared with a time like "2026-11-21T01:02:03.000Z"`);
    return { op: node.op, attribute, value: new Date(value) };
  };

  return translate(filter, 0);
}

type Leaf = Exclude<Filter, { op: 'and' | 'or' } | { op: 'not' | 'any' }>;

const NOT_A_FILTER = 'must be a filter of RFC 7644 section 3.4.2.2, such as name sw "A" and not (name eq "Ada")';

/** Operators for each attribute type, besides presence; booleans support equality only (RFC 7644, table 3). */
const FITTING: Readonly<Record<AttributeType, readonly ScimFilter['op'][]>> = {
  text: ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'],
  time: ['eq', 'ne', 'gt', 'ge', 'lt', 'le'],
  boolean: ['eq', 'ne'],
  number: ['eq', 'ne', 'gt', 'ge', 'lt', 'le'],
};

/**
 * The library parses escapes in strings differently, so strings are parsed here and replaced by numbers. Any error of the library, even a stack
 * overflow, means that the filter is invalid.
 */
function read(expression: string, refuse: (message: string) => ApiError): { filter: ScimFilter; strings: readonly string[] } {
  const strings: string[] = [];
  try {
    const numbered = expression.replace(QUOTED, (literal) => `"${strings.push(JSON.parse(literal)) - 1}"`);
    return { filter: parse(numbered.replace(BEHIND_BRACKETS, '[($1) and $2 $3]')), strings };
  } catch {
    throw refuse(NOT_A_FILTER);
  }
}
