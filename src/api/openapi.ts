/**
 * The management API's description in OpenAPI 3.1, made from the declarations of its endpoints. The same for every installation: addresses
 * in it are relative to where it is served. What the schemas cannot say (a rule between two fields) it leaves to the answers.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { mayCall, type RoleType } from '../features/administrators/administration.policy.ts';
import { type Endpoint, isRepeatable } from './endpoint.ts';
import { COMPONENTS, INTRODUCTION, problemDetailsSchema, REFUSALS, refusalBody, TAGS, tagOf } from './openapi-components.ts';
import { operationName, schemaNames } from './operation-names.ts';

type SchemaObject = Parameters<typeof OpenAPIRegistry.prototype.registerComponent<'schemas'>>[2];

/** Path of the OpenAPI document below `/api/v1`. It is public: it contains nothing about the installation. */
export const OPENAPI_PATH = '/openapi.json';

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** Says the same so that generators and linters read it: each of these forms is valid, and broke the code or the run of one of them. */
const inPlainForm: Override = ({ jsonSchema, path }) => {
  const [only, ...others] = jsonSchema.prefixItems ?? [];
  if (only !== undefined && others.length === 0 && jsonSchema.items === false) {
    jsonSchema.items = only;
    delete jsonSchema.prefixItems;
  }
  if (typeof jsonSchema.const === 'boolean') {
    jsonSchema.description ??= `Only ${jsonSchema.const}`;
    delete jsonSchema.const;
  }
  if (jsonSchema.type === 'null' && path.at(-2) !== 'anyOf') {
    jsonSchema.description ??= 'Only null';
    jsonSchema.anyOf = [{ type: 'object' }, { type: 'null' }];
    delete jsonSchema.type;
  }
  if (path.at(-1) === 'additionalProperties' && jsonSchema.anyOf?.some(({ type }) => type === 'null')) {
    jsonSchema.description ??= 'A string, number, boolean, list, or null';
    delete jsonSchema.anyOf;
  }
};

/** A schema of OpenAPI 3.1, whose dialect is JSON Schema's own. By zod itself: the generator takes an exact optional field for a required one. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: inPlainForm });
  return described as SchemaObject;
}

const refusal = (name: keyof typeof REFUSALS) => ({ $ref: `#/components/responses/${name}` });
const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const headerRefs = (...names: (keyof typeof COMPONENTS.headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const ON_EVERY_ANSWER = headerRefs('X-Rate-Limit-Limit', 'X-Rate-Limit-Remaining', 'X-Rate-Limit-Reset', 'X-Request-Id');

/** @returns the OpenAPI document (version 3.1) of these endpoints */
export function describeApi(endpoints: readonly Endpoint[]) {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'SSWS', COMPONENTS.securityScheme);
  for (const [name, header] of Object.entries(COMPONENTS.headers)) registry.registerComponent('headers', name, header);
  for (const [name, parameter] of Object.entries(COMPONENTS.parameters)) registry.registerComponent('parameters', name, parameter);
  registry.registerComponent('schemas', 'Error', jsonSchema(refusalBody, 'output'));
  registry.registerComponent('schemas', 'Problem', jsonSchema(problemDetailsSchema, 'output'));
  for (const [name, description] of Object.entries(REFUSALS)) {
    registry.registerComponent('responses', name, {
      description,
      headers: name === 'Failed' ? { ...ON_EVERY_ANSWER, ...headerRefs('Retry-After', 'Allow') } : ON_EVERY_ANSWER,
      content: { 'application/json': { schema: schemaRef('Error') }, 'application/problem+json': { schema: schemaRef('Problem') } },
    });
  }
  registry.registerPath({
    method: 'get',
    path: OPENAPI_PATH,
    operationId: 'getDescription',
    summary: 'Read this document; no authentication is needed',
    tags: ['description'],
    security: [],
    responses: {
      200: { description: 'This document', content: { 'application/json': { schema: { type: 'object' } } } },
      429: refusal('Failed'),
    },
  });

  const names = schemaNames(endpoints);
  for (const [schema, name] of names) registry.registerComponent('schemas', name, jsonSchema(schema, 'output'));
  for (const endpoint of endpoints) registry.registerPath(describe(endpoint, operationName(endpoint, endpoints), names));

  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse management API',
      version: '1',
      description: INTRODUCTION,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/api/v1' }],
    security: [{ SSWS: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  });
}

function describe(endpoint: Endpoint, operationId: string, names: ReadonlyMap<z.ZodType, string>): RouteConfig {
  const { method, path, summary, params, query, body, bodyOptional, examples = {}, response, status } = endpoint;
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  const roles = rolesOf(endpoint);
  const isOpen = endpoint.access === 'anyone';
  return {
    method: method.toLowerCase() as Lowercase<Endpoint['method']>,
    path: path.replace(/:(\w+)/g, '{$1}'),
    operationId,
    summary,
    description: isOpen
      ? 'For anyone; no API token is needed.'
      : `For ${roles.join(', ')}${roles.includes('ORG_ADMIN') && endpoint.access === 'organizations' ? ' (within the organization)' : ''}.`,
    ...(isOpen && { security: [] }),
    tags: [tagOf(path)],
    'x-roles': roles,
    request: {
      ...(params instanceof z.ZodObject && { params }),
      ...(query instanceof z.ZodObject && { query }),
      ...(body !== undefined && {
        body: {
          required: bodyOptional !== true,
          content: {
            'application/json': { schema: jsonSchema(body, 'input'), ...(named.length > 0 && { examples: Object.fromEntries(named) }) },
          },
        },
      }),
    },
    parameters: Object.keys(COMPONENTS.parameters)
      .filter((name) => name !== 'IdempotencyKey' || isRepeatable(endpoint))
      .map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: {
      [status ?? (response === undefined ? 204 : 200)]: success(endpoint, names),
      ...((query ?? body) !== undefined && { 400: refusal('Invalid') }),
      ...Object.fromEntries(Object.entries(refusalsOf(endpoint)).map(([code, name]) => [code, refusal(name)])),
      ...(body !== undefined && { 409: refusal('Conflict') }),
      default: refusal('Failed'),
    },
  };
}

/** Why it is refused, beside what is wrong with what was sent. */
function refusalsOf({ access, params, refusals }: Endpoint): Readonly<Record<number, keyof typeof REFUSALS>> {
  if (refusals !== undefined) return refusals;
  if (access === 'anyone') return { 401: 'NotAuthenticated' };
  return { 401: 'InvalidToken', 403: 'Forbidden', ...(params !== undefined && { 404: 'NotFound' as const }) };
}

function success(endpoint: Endpoint, names: ReadonlyMap<z.ZodType, string>) {
  const { query, response } = endpoint;
  const isPaged = query instanceof z.ZodObject && 'after' in query.shape;
  const headers = {
    ...ON_EVERY_ANSWER,
    ...(isPaged && headerRefs('Link')),
    ...(isRepeatable(endpoint) && headerRefs('Idempotency-Replayed')),
  };
  if (response === undefined) return { description: 'Done; no body', headers };
  const element = response instanceof z.ZodArray ? names.get(response.element as z.ZodType) : undefined;
  const whole = names.get(response);
  const schema =
    element !== undefined
      ? ({ type: 'array', items: schemaRef(element) } as const)
      : whole !== undefined
        ? schemaRef(whole)
        : jsonSchema(response, 'output');
  return { description: 'Done', headers, content: { 'application/json': { schema } } };
}

const ROLES: readonly RoleType[] = ['SUPER_ADMIN', 'ORG_ADMIN', 'READ_ONLY_ADMIN'];

const rolesOf = ({ access, method }: Endpoint): RoleType[] =>
  ROLES.filter((type) => access !== 'anyone' && mayCall([{ type }], access, method === 'GET' ? 'read' : 'write'));
