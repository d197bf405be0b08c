/**
 * Which groups a claim of type GROUPS names: by the beginning, the whole or a part of their names, or by a pattern. A pattern cannot run for
 * long: it knows characters, classes and few repetitions, no groups in parentheses, so its matching takes at most the square of a name's length.
 */
import type { GroupFilterType } from './custom-claims.ts';

const LONGEST_PATTERN = 128;
/** In each alternative; every further one would multiply the time by the length of a name. */
const MOST_REPETITIONS = 2;
const MOST_ALTERNATIVES = 8;

/** An escape, a class in brackets, or one character. */
const PIECES = /\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./gsu;

/** @returns what is wrong with a pattern, undefined for a good one */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return `must have at most ${LONGEST_PATTERN} characters`;
  const pieces = pattern.match(PIECES) ?? [];
  if (pieces.some((piece) => piece === '(' || piece === ')')) return 'must not contain parentheses that are not escaped';
  if (pieces.some((piece) => /^\\[1-9kK]/.test(piece))) return 'must not refer back';
  const repetitions = alternatives(pieces).map((alternative) => alternative.filter((piece) => '*+?{'.includes(piece)).length);
  if (repetitions.length > MOST_ALTERNATIVES) return `must have at most ${MOST_ALTERNATIVES} alternatives`;
  if (repetitions.some((count) => count > MOST_REPETITIONS)) {
    return `must have at most ${MOST_REPETITIONS} repetitions (*, +, ?, {}) in each alternative`;
  }
  try {
    compile(pattern);
    return undefined;
  } catch {
    return 'must be a regular expression';
  }
}

/** The pieces between the bars. */
function alternatives(pieces: readonly string[]): string[][] {
  const found: string[][] = [[]];
  for (const piece of pieces) {
    if (piece === '|') found.push([]);
    else found.at(-1)?.push(piece);
  }
  return found;
}

/** It must fit the whole name. */
const compile = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'su');

/** @returns tells whether a group of this name is meant; upper and lower case differ */
export function groupFilter(type: GroupFilterType, value: string): (name: string) => boolean {
  if (type === 'EQUALS') return (name) => name === value;
  if (type === 'CONTAINS') return (name) => name.includes(value);
  if (type === 'STARTS_WITH') return (name) => name.startsWith(value);
  // What was judged when it was written is judged again: a row may come from elsewhere.
  if (patternProblem(value) !== undefined) return () => false;
  const pattern = compile(value);
  return (name) => pattern.test(name);
}
