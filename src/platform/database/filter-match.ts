/** Evaluates list filters (platform/database/filter-syntax.ts) on values in memory, with the same rules as in SQL. */
import type { Filter } from './filter.ts';

/**
 * @param valueIn the value of an attribute, undefined where it has none
 * @param caseExact attributes that are compared with the case of their letters
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
