/** Validates input against a zod schema and reports every problem in plain words, one cause per field. */
import type { z } from 'zod';
import { type FieldProblem, validation } from '../errors/errors.ts';

/** @throws {ApiError} validation */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: inWords });
  if (!parsed.success) throw validation(schemaProblems(parsed.error));
  return parsed.data;
}

export const schemaProblems = ({ issues }: z.ZodError): FieldProblem[] => issues.flatMap(problems);

function problems(issue: z.core.$ZodIssue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 1).map((key) => unknownField([...issue.path, key]));
  }
  return [{ field: issue.path.join('.') || 'body', message: issue.message }];
}

/** @param path from the body to an unknown field */
export const unknownField = (path: readonly PropertyKey[]): FieldProblem => ({
  field: path.join('.'),
  message: 'is not a field of this resource',
});

/** Converts zod messages to the words of the management API. Custom messages of a schema take precedence. */
export function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return issue.expected === 'int' ? 'must be a whole number' : `must be of type ${issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return issue.minimum === 1 && issue.origin !== 'number'
        ? 'must not be empty'
        : sizeProblem(issue.origin, `at least ${issue.minimum}`);
    case 'too_big':
      return sizeProblem(issue.origin, `at most ${issue.maximum}`);
    default:
      return undefined;
  }
}

function sizeProblem(origin: string, bound: string): string {
  if (origin === 'string') return `must have ${bound} characters`;
  return origin === 'array' ? `must have ${bound} elements` : `must be ${bound}`;
}
