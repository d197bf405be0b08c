/**
 * The management API's description in OpenAPI 3.1, made from the declarations of its endpoints. The same for every installation: addresses
 * in it are relative to where it is served. What the schemas cannot say (a rule between two fields) it leaves to the answers.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

type SchemaObject = Parameters<typeof OpenAPIRegistry.prototype.registerComponent<'schemas'>>[2];

/** Where the description is served, below `/api/v1`. Whoever may call the service may read it: it holds nothing of the installation. */
export const OPENAPI_PATH = '/openapi.json';

const causes = z.array(z.object({ errorSummary: z.string() })).meta({ description: 'One a field, `field: what is wrong`' });
const errorId = z.string().meta({ description: 'The id of the request, as in X-Request-Id' });

const errorObject = z
  .object({ errorCode: z.string(), errorSummary: z.string(), errorLink: z.string(), errorId, errorCauses: causes })
  .meta({ description: 'What every refused call is answered with' });

const problemDetails = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errorCode: z.string(),
    errorId,
    errorCauses: causes,
  })
  .meta({ description: 'The same as Problem Details (RFC 9457), for callers that accept application/problem+json' });

/** Why calls are refused, each answer under a name of its own. */
const REFUSALS = {
  Invalid: 'E0000001: a field is not valid, with a cause for each; E0000003: the body is not JSON',
  InvalidToken: 'E0000011: the API token is missing, unknown, expired or revoked',
  Forbidden: 'E0000006: not allowed to this caller; E0000038: not possible in the present state',
  NotFound: 'E0000007: there is no such resource',
  Conflict: 'E0000014: another resource has the same name or id',
  Failed: 'E0000022 (405): the method; E0000047 (429): too many requests; E0000009 (500, 503): the service, try again',
} as const;

/** A schema of OpenAPI 3.1, whose dialect is JSON Schema's own. By zod itself: the generator takes an exact optional field for a required one. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return described as SchemaObject;
}

const refusal = (name: keyof typeof REFUSALS) => ({ $ref: `#/components/responses/${name}` });

const INTRODUCTION = `The management API of Gatehouse. Every call but the reading of this document carries an API token:
\`Authorization: SSWS <token>\`. A body may send back the fields that an answer carried (id, created, _links); they are ignored,
any other unknown field is refused.`;

/** @returns the OpenAPI document (version 3.1) of these endpoints */
export function describeApi(endpoints: readonly Endpoint[]) {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'SSWS', {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An API token after the word SSWS: `SSWS 00abc…`',
  });
  registry.registerComponent('schemas', 'Error', jsonSchema(errorObject, 'output'));
  registry.registerComponent('schemas', 'Problem', jsonSchema(problemDetails, 'output'));
  for (const [name, description] of Object.entries(REFUSALS)) {
    registry.registerComponent('responses', name, {
      description,
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Error' } },
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      },
    });
  }
  registry.registerPath({
    method: 'get',
    path: OPENAPI_PATH,
    summary: 'Read this document; no authentication is needed',
    tags: ['openapi.json'],
    security: [],
    responses: { 200: { description: 'This document', content: { 'application/json': { schema: { type: 'object' } } } } },
  });
  for (const endpoint of endpoints) registry.registerPath(describe(endpoint));

  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'Gatehouse management API', version: '1', description: INTRODUCTION },
    servers: [{ url: '/api/v1' }],
    security: [{ SSWS: [] }],
  });
}

function describe({ method, path, summary, params, query, body, response, status }: Endpoint): RouteConfig {
  const success =
    response === undefined
      ? { description: 'Done; no body' }
      : { description: 'Done', content: { 'application/json': { schema: jsonSchema(response, 'output') } } };
  return {
    method: method.toLowerCase() as Lowercase<Endpoint['method']>,
    path: path.replace(/:(\w+)/g, '{$1}'),
    summary,
    tags: [path.split('/')[1] ?? ''],
    request: {
      ...(params instanceof z.ZodObject && { params }),
      ...(query instanceof z.ZodObject && { query }),
      ...(body !== undefined && { body: { required: true, content: { 'application/json': { schema: jsonSchema(body, 'input') } } } }),
    },
    responses: {
      [status ?? (response === undefined ? 204 : 200)]: success,
      ...((query ?? body) !== undefined && { 400: refusal('Invalid') }),
      401: refusal('InvalidToken'),
      403: refusal('Forbidden'),
      ...(params !== undefined && { 404: refusal('NotFound') }),
      ...(body !== undefined && { 409: refusal('Conflict') }),
      default: refusal('Failed'),
    },
  };
}
