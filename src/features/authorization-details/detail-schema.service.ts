/**
 * The JSON Schema (draft 2020-12) of a type of authorization details. Administrators write it, so its size, depth and references are limited: the
 * time of validation depends on the sizes of schema and detail, and nothing is fetched.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { jsonProblem } from '../../platform/validation/json-value.ts';
import { matchesExpression, regularExpressionProblem } from '../../platform/validation/patterns.ts';
import type { AuthorizationDetail, JsonSchema } from './details.policy.ts';

/** Maximum characters of the schema as JSON. */
const LONGEST_SCHEMA = 16_384;
/** Maximum nesting of objects and lists. */
const DEPTH = 20;
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Allowed keywords with `$`. With others, a schema could refer to other documents, or to itself without end. */
const KEYWORDS: ReadonlySet<string> = new Set(['$schema', '$defs', '$ref', '$comment']);

const isValid = (schema: z.ZodType) => (value: string) => schema.safeParse(value).success;
const FORMATS = {
  date: isValid(z.iso.date()),
  'date-time': isValid(z.iso.datetime({ offset: true })),
  time: isValid(z.iso.time()),
  email: isValid(z.email()),
  uri: URL.canParse,
  uuid: isValid(z.uuid()),
};

const engine = (expression: string) => {
  const problem = regularExpressionProblem(expression);
  if (problem !== undefined) throw new Error(`pattern ${expression} ${problem}`);
  return { test: (text: string) => matchesExpression(expression, text), toString: () => expression };
};

/** One instance per schema, because it caches compiled schemas. @param isNew validate the schema itself? */
const validator = (isNew: boolean) =>
  new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    logger: false,
    inlineRefs: false,
    meta: isNew,
    validateSchema: isNew,
    formats: FORMATS,
    // Runs in linear time for every expression.
    code: { regExp: Object.assign(engine, { code: 'engine' }) },
  });

/** @returns the problem of a schema, as a predicate of the field's name; undefined: none */
export function detailSchemaProblem(schema: JsonSchema): string | undefined {
  if (JSON.stringify(schema).length > LONGEST_SCHEMA) return `must not be longer than ${LONGEST_SCHEMA} characters`;
  const problem = jsonProblem(schema, DEPTH) ?? referenceProblem(schema, false);
  if (problem !== undefined) return problem;
  if (schema.$schema !== undefined && schema.$schema !== DRAFT) return `$schema must be ${DRAFT}`;
  const { properties, additionalProperties } = schema;
  if (additionalProperties === false && !(typeof properties === 'object' && properties !== null && 'type' in properties))
    return 'must have type among its properties: the schema describes the whole object';
  try {
    validator(true).compile(withoutDraft(schema));
    return undefined;
  } catch (error) {
    return `is no JSON Schema: ${error instanceof Error ? error.message : 'it cannot be read'}`;
  }
}

/** References must lead to definitions without further references, so that resolving them does not grow the schema. */
function referenceProblem(value: unknown, isDefinition: boolean): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name.startsWith('$') && !KEYWORDS.has(name)) return `must not have ${name}`;
    if (name === '$ref' && isDefinition) return 'must not have $ref in $defs';
    if (name === '$ref' && !/^#\/\$defs\/[^/]+$/.test(String(inner)))
      return '$ref must name a definition of this schema, as #/$defs/amount';
    const problem = referenceProblem(inner, isDefinition || name === '$defs');
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const withoutDraft = ({ $schema: _, ...schema }: JsonSchema): object => schema;

/** @returns a function that describes the first mismatch of a detail; undefined: it matches. The schema is compiled at the first call */
export function mismatchIn(schema: JsonSchema): (detail: AuthorizationDetail) => string | undefined {
  let validate: ReturnType<Ajv2020['compile']> | undefined;
  return (detail) => {
    validate ??= validator(false).compile(withoutDraft(schema));
    if (validate(detail)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath ?? ''} ${error?.message ?? 'is not right'}`.trim();
  };
}
