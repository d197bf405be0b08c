/** Regular expressions from administrators run on RE2: matching time depends only on the length of the text. */
import { RE2JS, RE2JSException } from 're2js';

/** Cache of compiled expressions; evicted ones are compiled again. */
const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 500;
/** Maximum size of a compiled expression in RE2's steps: nested repetitions would use much memory. */
const LARGEST_PROGRAM = 5000;

/** @returns the problem of an expression; undefined: none */
export function regularExpressionProblem(expression: string): string | undefined {
  try {
    return compile(expression).programSize() > LARGEST_PROGRAM ? 'is too large. Use fewer or smaller repetitions' : undefined;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `must be an RE2 regular expression, without lookahead and back-references: ${error.message}`;
  }
}

/** Does the text contain a match? As in JSON Schema, `^` and `$` refer to the whole text. */
export const matchesExpression = (expression: string, text: string): boolean => compile(expression).test(text);

function compile(expression: string): RE2JS {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  const made = RE2JS.compile(expression);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(expression, made);
  return made;
}
