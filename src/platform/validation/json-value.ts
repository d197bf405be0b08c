/** JSON that others write and that is stored as it is: what PostgreSQL, and readers in other languages, can hold. */
import { isPrintable } from './text.ts';

/** A member of this name is no data to a JavaScript reader. */
const UNSAFE = '__proto__';

/** @param depth levels of objects and lists that there may be @returns what is wrong with a parsed value; undefined: nothing */
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
