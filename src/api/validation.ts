/** Checks what callers send against a zod schema and tells every mistake in plain words, one cause a field. */
import { z } from 'zod';
import { type FieldProblem, validation } from '../errors.ts';

/**
 * Parses a request's body. A field that the schema does not know is refused, unless the answer carries it: callers may send back
 * what they were given, and that field is then ignored.
 * @param answer the schema of the endpoint's response
 * @throws {ApiError} validation
 */
export function parseBody<S extends z.ZodType>(schema: S, answer: z.ZodType | undefined, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body, { error: message });
  if (parsed.success) return parsed.data;
  const answered = unknownFields(parsed.error.issues).filter((path) => carries(answer, path));
  if (answered.length === 0) throw validation(parsed.error.issues.flatMap(problems));
  for (const path of answered) drop(body, path);
  return parse(schema, body);
}

/** @throws {ApiError} validation */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: message });
  if (!parsed.success) throw validation(parsed.error.issues.flatMap(problems));
  return parsed.data;
}

function problems(issue: z.core.$ZodIssue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: [...issue.path, key].join('.'), message: 'is not a field of this resource' }));
  }
  return [{ field: issue.path.join('.') || 'body', message: issue.message }];
}

/** What zod says, in the words of this API. A schema's own message goes before these. */
function message(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be of type ${issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return issue.minimum === 1 && issue.origin !== 'number'
        ? 'must not be empty'
        : `must ${measure(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`;
    default:
      return undefined;
  }
}

const measure = (origin: string): string => (origin === 'string' || origin === 'array' ? 'have' : 'be');
const unit = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' elements' : '');

type Path = readonly PropertyKey[];

const unknownFields = (issues: readonly z.core.$ZodIssue[]): Path[] =>
  issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : []));

/** Does an answer of this schema have a field at the path? */
function carries(schema: unknown, [key, ...rest]: Path): boolean {
  if (key === undefined) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return carries(schema.unwrap(), [key, ...rest]);
  if (schema instanceof z.ZodArray) return carries(schema.element, rest);
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key) && carries(schema.shape[String(key)], rest);
}

/** Takes a field out of a freshly parsed body, which nobody else holds. */
function drop(value: unknown, [key, ...rest]: Path): void {
  if (typeof value !== 'object' || value === null || key === undefined) return;
  if (rest.length === 0) Reflect.deleteProperty(value, key);
  else drop(Reflect.get(value, key), rest);
}
