/** Bulk (RFC 7644 section 3.7): up to a hundred operations, executed one by one in an order that resolves their references. */
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import type { ScimObject } from './scim-attributes.policy.ts';
import type { ScimCaller } from './scim-caller.policy.ts';
import { MOST_BULK_OPERATIONS } from './scim-discovery.service.ts';
import { badRequest, errorBody, ScimError } from './scim-errors.policy.ts';
import { isObject, requireSchema } from './scim-names.policy.ts';
import { handleScim, type ScimResponse } from './scim-requests.service.ts';
import { locationOf } from './scim-resources.service.ts';

const BULK_REQUEST = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

const operation = z.object({
  method: z
    .string()
    .toUpperCase()
    .pipe(z.enum(['POST', 'PUT', 'PATCH', 'DELETE'])),
  path: z.string().regex(/^\/(Users|Groups)(\/[^/]+)?$/),
  bulkId: z.string().min(1).max(255).optional(),
  version: z.string().max(255).optional(),
  data: z.unknown().optional(),
});

const request = z.object({ failOnErrors: z.number().int().min(1).optional(), Operations: z.array(z.unknown()).min(1) });

interface Operation extends z.output<typeof operation> {
  /** bulkIds that the operation refers to; the operations with them run first. */
  readonly references: ReadonlySet<string>;
}

/** Maximum nesting of an operation's data; the schemas of SCIM need seven levels. */
const DEEPEST = 20;

/** Converts the error of an operation to an error of SCIM. */
export type ToScimError = (error: unknown) => Promise<ScimError>;

/** @throws {ScimError} invalidSyntax, or 413 for too many operations */
export async function executeBulk(services: Services, caller: ScimCaller, body: unknown, toScimError: ToScimError): Promise<ScimObject> {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'The body must be a JSON object');
  requireSchema(body, BULK_REQUEST);
  const parsed = request.safeParse(body);
  if (!parsed.success) throw badRequest('invalidSyntax', 'A bulk request must contain at least one operation in Operations');
  const { failOnErrors = Number.POSITIVE_INFINITY, Operations: given } = parsed.data;
  if (given.length > MOST_BULK_OPERATIONS)
    throw new ScimError(413, undefined, `A bulk request has at most ${MOST_BULK_OPERATIONS} operations`);
  const operations = given.map(readOperation);
  const results: (ScimObject | undefined)[] = operations.map(() => undefined);
  const made = new Map<string, string>();
  let failures = 0;
  let waiting = operations.map((_, index) => index);
  const isReady = (index: number): boolean => [...(operations[index]?.references ?? [])].every((id) => made.has(id));
  while (waiting.length > 0 && failures < failOnErrors) {
    // Operations with unresolvable references run last and report the error.
    const index = waiting.find(isReady) ?? waiting[0] ?? 0;
    waiting = waiting.filter((one) => one !== index);
    const one = operations[index] as Operation;
    const { result, id, isFailed } = await executeOperation(services, caller, one, made, toScimError);
    if (one.method === 'POST' && one.bulkId !== undefined && id !== undefined) made.set(one.bulkId, id);
    if (isFailed) failures += 1;
    results[index] = result;
  }
  return { schemas: [BULK_RESPONSE], Operations: results.filter((result) => result !== undefined) };
}

function readOperation(given: unknown, index: number): Operation {
  const parsed = operation.safeParse(given);
  const refuse = (why: string) => badRequest('invalidSyntax', `Operation ${index + 1}: ${why}`);
  if (!parsed.success) throw refuse('needs method (POST, PUT, PATCH or DELETE) and a path like /Users or /Users/ID');
  if (parsed.data.method === 'POST' && parsed.data.bulkId === undefined) throw refuse('POST needs a bulkId');
  const references = referencesIn([parsed.data.path, parsed.data.data]);
  if (references === undefined) throw refuse(`data must not be nested more than ${DEEPEST} levels deep`);
  return { ...parsed.data, references };
}

async function executeOperation(
  services: Services,
  caller: ScimCaller,
  one: Operation,
  made: ReadonlyMap<string, string>,
  toScimError: ToScimError,
) {
  const { method, bulkId, version } = one;
  const common = { method, ...(bulkId !== undefined && { bulkId }) };
  const resource = one.path.split('/')[1] === 'Groups' ? 'Group' : 'User';
  try {
    const { path, data } = resolved({ path: one.path, data: one.data }, made) as { path: string; data: unknown };
    const response: ScimResponse = await handleScim(services, caller, { method, path, query: {}, body: data, ifMatch: version });
    const tag = response.headers?.ETag;
    const location = response.id === undefined ? undefined : locationOf(services, resource, response.id);
    return {
      result: { ...common, location, ...(tag !== undefined && { version: tag }), status: String(response.status) },
      id: response.id,
      isFailed: false,
    };
  } catch (error) {
    const refusal = await toScimError(error);
    const id = one.path.split('/')[2];
    const location = method === 'POST' || id === undefined ? undefined : locationOf(services, resource, id);
    const result = { ...common, ...(location !== undefined && { location }), status: String(refusal.status), response: errorBody(refusal) };
    return { result, id: undefined, isFailed: true };
  }
}

/** The whole text, or a part of a path. */
const REFERENCE = /bulkId:([^/]+)/;

const referenceOf = (value: string): string | undefined => /^(?:\/\w+\/)?bulkId:([^/]+)$/.exec(value)?.[1];

/** Level by level, so that nested input does not cost more than its length. @returns undefined: it is nested too deeply */
function referencesIn(values: readonly unknown[]): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  let level = values;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return undefined;
    for (const one of level) {
      const reference = typeof one === 'string' ? referenceOf(one) : undefined;
      if (reference !== undefined) found.add(reference);
    }
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return found;
}

/** @throws {ScimError} a reference to a resource that was not created (section 3.7.2) */
function resolved(value: unknown, made: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    const reference = referenceOf(value);
    if (reference === undefined) return value;
    const id = made.get(reference);
    if (id === undefined) throw new ScimError(409, undefined, `bulkId ${reference} was not created in this request`);
    return value.replace(REFERENCE, () => id);
  }
  if (Array.isArray(value)) return value.map((one) => resolved(one, made));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, made)])) : value;
}
