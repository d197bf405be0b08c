/** The readable page of the API's description, created from the OpenAPI document as the locals of `views/api-docs.ejs`. */
import { constraintsOf, type DocumentedField, exampleOf, fieldsOf, type Schema, schemaOf, typeOf } from './docs-schemas.ts';

/** Path of the page below `/api/v1`. Like the document, it is public. */
export const DOCS_PATH = '/docs';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: {
      readonly 'application/json': { readonly schema: Schema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
    };
  };
  readonly responses: Readonly<Record<string, Response>>;
}

/** The part of an OpenAPI document that the page shows. */
export interface ApiDescription {
  readonly info: { readonly title: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly description?: string; readonly schema: Schema }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** @param base URL of the API, for the examples */
export function docsPage(document: ApiDescription, base: string) {
  const { info, tags = [], components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      tag: operation.tags[0],
      ...presentOperation(document, base, method, path, operation),
    })),
  );
  return {
    title: info.title,
    introduction: paragraphs(info.description ?? ''),
    base,
    resources: tags.map(({ name, description = '' }) => ({
      name,
      description: prose(description),
      operations: operations.filter(({ tag }) => tag === name),
    })),
    sentHeaders: Object.values(components.parameters).map(asField),
    answeredHeaders: Object.entries(components.headers).map(([name, header]) => asField({ name, in: 'header', ...header })),
    refusals: Object.values(components.responses).map(({ description }) => prose(description)),
    schemas: Object.entries(components.schemas).map(([name, schema]) => ({
      name,
      description: prose(schema.description ?? ''),
      fields: fieldsOf(schema),
    })),
  };
}

function presentOperation({ components }: ApiDescription, base: string, method: string, path: string, operation: Operation) {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'].schema;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    // Headers that every operation accepts are described once.
    parameters: parameters.filter(({ $ref }) => $ref === undefined).map(asField),
    isRepeatable: parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')),
    body: body && { fields: fieldsOf(body), required: requestBody?.required === true },
    answers: Object.entries(responses).map(([status, answer]) => {
      const content = answer.content?.['application/json']?.schema;
      const name = answer.$ref?.slice(answer.$ref.lastIndexOf('/') + 1);
      return {
        status: status === 'default' ? 'other' : status,
        description: prose(name === undefined ? answer.description : (components.responses[name]?.description ?? '')),
        type: content && typeOf(content),
        schema: content && schemaOf(content),
        fields: content && schemaOf(content) === undefined ? fieldsOf(content) : [],
      };
    }),
    example: exampleCall(base, method.toUpperCase(), path, operation),
  };
}

const asField = ({ name, in: place, required = false, description = '', schema }: Parameter): DocumentedField => ({
  name,
  type: `${typeOf(schema)} in the ${place}`,
  schema: undefined,
  constraints: constraintsOf(schema),
  required,
  description,
});

/** A curl call with shell variables for path parameters: `{userId}` is $USER_ID. */
function exampleCall(base: string, method: string, path: string, { security, requestBody, parameters = [] }: Operation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema)))}`);
  const address = base + path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`);
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}"${[address, ...(query.length > 0 ? [query.join('&')] : [])].join('?')}"`];
  if (security?.length !== 0) lines.push('-H "Authorization: SSWS $API_TOKEN"');
  if (requestBody !== undefined) {
    const { schema, examples = {} } = requestBody.content['application/json'];
    const body = Object.values(examples)[0]?.value ?? exampleOf(schema);
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`);
  }
  return lines.join(' \\\n  ');
}

/** Splits a text into parts at `code`. */
const prose = (text: string) => text.split('`').map((piece, turn) => ({ text: piece, isCode: turn % 2 === 1 }));

const paragraphs = (text: string) => text.split('\n\n').map(prose);
