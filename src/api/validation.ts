/** Validates request bodies. Undeclared fields are refused, unless the response has them. */
import { z } from 'zod';
import { validation } from '../platform/errors/errors.ts';
import { parse, unknownField } from '../platform/validation/parsing.ts';

/**
 * Parses a request's body. Parsing stops at the first undeclared field (CWE-770), unless the response has it: callers may send a resource
 * back as they read it, and such fields are ignored.
 * @param response the schema of the endpoint's response
 * @throws {ApiError} validation
 */
export function parseBody<S extends z.ZodType>(schema: S, response: z.ZodType | undefined, body: unknown): z.output<S> {
  const unknown = firstUnknown(schema, response, body, []);
  if (unknown !== undefined) throw validation([unknownField(unknown)]);
  return parse(schema, body);
}

type Path = readonly PropertyKey[];

/**
 * Removes fields of the response from a newly parsed body.
 * @returns the first field that neither schema has; fields of unions are left to zod
 */
function firstUnknown(schema: unknown, response: z.ZodType | undefined, value: unknown, path: Path): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (schema instanceof z.ZodPipe) return firstUnknown(schema.in, response, value, path);
  if (isWrapper(schema)) return firstUnknown(schema.def.innerType, response, value, path);
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return undefined;
    return firstOf(value.keys(), (index) => firstUnknown(schema.element, response, value[index], [...path, index]));
  }
  if (!(schema instanceof z.ZodObject) || Array.isArray(value)) return undefined;
  const { shape, catchall } = schema.def;
  return firstOf(Object.keys(value), (key) => {
    const here = [...path, key];
    if (Object.hasOwn(shape, key)) return firstUnknown(shape[key], response, Reflect.get(value, key), here);
    if (!(catchall instanceof z.ZodNever)) return undefined;
    if (!carries(response, here)) return here;
    Reflect.deleteProperty(value, key);
    return undefined;
  });
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => Path | undefined): Path | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A schema that adds absence, null or a default to an inner one. */
const isWrapper = (schema: unknown): schema is z.ZodOptional | z.ZodExactOptional | z.ZodNullable | z.ZodDefault | z.ZodReadonly =>
  [z.ZodOptional, z.ZodExactOptional, z.ZodNullable, z.ZodDefault, z.ZodReadonly].some((kind) => schema instanceof kind);

/** Does a response of this schema have a field at the path? */
function carries(schema: unknown, [key, ...rest]: Path): boolean {
  if (key === undefined) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return carries(schema.unwrap(), [key, ...rest]);
  if (schema instanceof z.ZodArray) return typeof key === 'number' && carries(schema.element, rest);
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key) && carries(schema.shape[String(key)], rest);
}
