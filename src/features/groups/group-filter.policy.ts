/**
 * Matches groups for claims of type GROUPS: by prefix, full name, substring or pattern. Patterns run in bounded time: they allow characters, classes
 * and few repetitions, but no groups, so a match takes at most the square of the name's length. All matches of one decision share a limit of some
 * hundredths of a second.
 */
export type GroupFilterType = 'STARTS_WITH' | 'EQUALS' | 'CONTAINS' | 'REGEX';

const LONGEST_PATTERN = 128;
/** Maximum repetitions in each alternative; each further one would multiply the time by the length of a name. */
const MOST_REPETITIONS = 2;
const MOST_ALTERNATIVES = 8;

/**
 * Maximum steps of matching all names of one decision: a name counts its length, or its square if an alternative repeats twice. That is about ten
 * thousand names of 30 characters. Further names do not match.
 */
const MOST_STEPS = 15_000_000;

/** An escape, a class in brackets, or one character. */
const PIECES = /\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./gsu;

/** @returns the problem of a pattern; undefined: none */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return `must have at most ${LONGEST_PATTERN} characters`;
  const pieces = pattern.match(PIECES) ?? [];
  if (pieces.some((piece) => piece === '(' || piece === ')')) return 'must not contain unescaped parentheses';
  if (pieces.some((piece) => /^\\[1-9kK]/.test(piece))) return 'must not contain back-references';
  const repetitions = repetitionsOf(pieces);
  if (repetitions.length > MOST_ALTERNATIVES) return `must have at most ${MOST_ALTERNATIVES} alternatives`;
  if (repetitions.some((count) => count > MOST_REPETITIONS)) {
    return `must have at most ${MOST_REPETITIONS} repetitions (*, +, ?, {}) in each alternative`;
  }
  if (repetitions.filter((count) => count > 1).length > 1)
    return 'must have at most one alternative with more than one repetition (*, +, ?, {})';
  try {
    compile(pattern);
    return undefined;
  } catch {
    return 'must be a valid regular expression';
  }
}

const repetitionsOf = (pieces: readonly string[]): number[] =>
  alternatives(pieces).map((alternative) => alternative.filter((piece) => '*+?{'.includes(piece)).length);

/** Splits the pieces at the bars. */
function alternatives(pieces: readonly string[]): string[][] {
  const found: string[][] = [[]];
  for (const piece of pieces) {
    if (piece === '|') found.push([]);
    else found.at(-1)?.push(piece);
  }
  return found;
}

/** The pattern must match the whole name. */
const compile = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'su');

/** @returns predicate for one decision: does a group with this name match? Case-sensitive */
export function groupFilter(type: GroupFilterType, value: string): (name: string) => boolean {
  if (type === 'EQUALS') return (name) => name === value;
  if (type === 'CONTAINS') return (name) => name.includes(value);
  if (type === 'STARTS_WITH') return (name) => name.startsWith(value);
  // Check again: the row may come from another source.
  if (patternProblem(value) !== undefined) return () => false;
  const pattern = compile(value);
  const power = Math.max(1, ...repetitionsOf(value.match(PIECES) ?? []));
  let steps = 0;
  return (name) => {
    steps += name.length ** power;
    return steps <= MOST_STEPS && pattern.test(name);
  };
}
