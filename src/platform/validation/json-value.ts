/** JSON values of callers that are stored unchanged: limits them to what PostgreSQL and readers in other languages can represent. */
import { isPrintable } from './text.ts';

/** JavaScript does not handle a property of this name as data. */
const UNSAFE = '__proto__';

/** @param depth maximum nesting of objects and lists @returns the problem of a parsed value; undefined: none */
export function jsonProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return isPrintable(value) ? undefined : 'contains control characters';
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'contains a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth <= 0) return 'is nested too deeply';
  for (const [name, inner] of Object.entries(value)) {
    if (name === UNSAFE) return `must not have a member ${UNSAFE}`;
    const problem = isPrintable(name) ? jsonProblem(inner, depth - 1) : 'contains control characters';
    if (problem !== undefined) return problem;
  }
  return undefined;
}
