/** Checks the bodies that callers send. A field that no body may have is refused, unless the answer carries it. */
import { z } from 'zod';
import { validation } from '../platform/errors/errors.ts';
import { inWords, parse, schemaProblems } from '../platform/validation/parsing.ts';

/**
 * Parses a request's body. A field that the schema does not know is refused, unless the answer carries it: callers may send back
 * what they were given, and that field is then ignored.
 * @param answer the schema of the endpoint's response
 * @throws {ApiError} validation
 */
export function parseBody<S extends z.ZodType>(schema: S, answer: z.ZodType | undefined, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body, { error: inWords });
  if (parsed.success) return parsed.data;
  const answered = unknownFields(parsed.error.issues).filter((path) => carries(answer, path));
  if (answered.length === 0) throw validation(schemaProblems(parsed.error));
  for (const path of answered) drop(body, path);
  return parse(schema, body);
}

type Path = readonly PropertyKey[];

const unknownFields = (issues: readonly z.core.$ZodIssue[]): Path[] =>
  issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : []));

/** Does an answer of this schema have a field at the path? */
function carries(schema: unknown, [key, ...rest]: Path): boolean {
  if (key === undefined) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return carries(schema.unwrap(), [key, ...rest]);
  if (schema instanceof z.ZodArray) return typeof key === 'number' && carries(schema.element, rest);
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key) && carries(schema.shape[String(key)], rest);
}

/** Takes a field out of a freshly parsed body, which nobody else holds. */
function drop(value: unknown, [key, ...rest]: Path): void {
  if (typeof value !== 'object' || value === null || key === undefined) return;
  if (rest.length === 0) Reflect.deleteProperty(value, key);
  else drop(Reflect.get(value, key), rest);
}
