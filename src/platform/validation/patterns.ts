/** Regular expressions from administrators run on RE2: matching time depends only on the length of the text. */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';

/** Cache of compiled expressions; evicted ones are compiled again. */
const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 500;
/** Maximum size of a compiled expression in RE2's steps: nested repetitions would use much memory. */
const LARGEST_PROGRAM = 5000;
const TOO_LARGE = 'is too large. Use fewer or smaller repetitions';

/** Problems of expressions, by the errors of re2js. */
const PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  'duplicate capture group name': 'the name of a group occurs twice',
  'invalid character class range': 'a range or class of characters is invalid',
  'invalid escape sequence': 'an escape sequence is not supported',
  'invalid named capture': 'the name of a group is invalid',
  'invalid nested repetition operator': 'a repetition is repeated',
  'invalid or unsupported Perl syntax': 'a kind of group is not supported',
  'invalid repeat count': 'a number of repetitions is not allowed',
  'missing argument to repetition operator': 'a repetition has nothing to repeat',
  'missing closing )': 'a closing parenthesis is missing',
  'missing closing ]': 'a closing bracket is missing',
  'trailing backslash at end of expression': 'nothing follows a backslash',
  'unexpected )': 'a closing parenthesis has no opening one',
};
/** Errors of re2js about the size of an expression. */
const SIZES: readonly string[] = ['expression nests too deeply', 'expression too large'];

/** @returns the problem of an expression; undefined: none */
export function regularExpressionProblem(expression: string): string | undefined {
  try {
    return compile(expression).programSize() > LARGEST_PROGRAM ? TOO_LARGE : undefined;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const { error: code = '', input } = error instanceof RE2JSSyntaxException ? error : {};
    if (SIZES.includes(code)) return TOO_LARGE;
    const problem = PROBLEMS[code] ?? 'it is not valid';
    return `must be an RE2 regular expression, without lookahead and back-references: ${problem}: ${input || expression}`;
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
