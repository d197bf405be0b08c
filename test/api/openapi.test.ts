import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../../src/api/index.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

interface Operation {
  security?: unknown[];
  requestBody?: { content: { 'application/json': { schema: { required: string[] } } } };
  responses: Record<string, { $ref?: string }>;
}

interface Document {
  openapi: string;
  servers: { url: string }[];
  security: unknown[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, Record<string, string>>;
    schemas: Record<string, { required: string[] }>;
    responses: Record<string, { description: string; content: Record<string, unknown> }>;
  };
}

describe('the OpenAPI document of the management API ("Management API")', () => {
  let api: ManagementApi;
  let served: { status: number; headers: Headers; body: Document };
  before(async () => {
    api = await startManagementApi();
    served = await api.call<Document>('GET', '/openapi.json', undefined, { authorization: '' });
  });
  after(() => api.close());

  it('is served to callers without a token, and says that they may read it', () => {
    assert.equal(served.status, 200);
    assert.match(served.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(served.body.paths['/openapi.json']?.get?.security, []);
  });

  it('is valid OpenAPI 3.1 whose references all lead somewhere', async () => {
    assert.match(served.body.openapi, /^3\.1\./);
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...structuredClone(served.body) });
    assert.ok(valid, JSON.stringify(errors));
    assert.ok(validator.resolveRefs());
  });

  it('has every endpoint that is declared, with its success and its refusals', () => {
    const told = Object.entries(served.body.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
    const declared = ENDPOINTS.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`);
    assert.deepEqual(told.sort(), [...declared, 'get /openapi.json'].sort());
    assert.deepEqual(Object.keys(served.body.paths['/apps']?.post?.responses ?? {}), ['200', '400', '401', '403', '409', 'default']);
    const deactivate = served.body.paths['/authorizationServers/{id}/lifecycle/deactivate']?.post;
    assert.deepEqual(Object.keys(deactivate?.responses ?? {}), ['204', '401', '403', '404', 'default']);
  });

  it('tells optional fields from required ones', () => {
    const { requestBody } = served.body.paths['/authorizationServers']?.post ?? {};
    assert.deepEqual(requestBody?.content['application/json'].schema.required, ['name']);
  });

  it('documents the error object as callers meet it, and as Problem Details (RFC 9457)', async () => {
    const { schemas, responses } = served.body.components;
    const { body: refused } = await api.call('POST', '/apps', {});
    assert.deepEqual(schemas.Error?.required.toSorted(), Object.keys(refused).sort());
    const { body: problem } = await api.call<object>('POST', '/apps', {}, { accept: 'application/problem+json' });
    assert.deepEqual(schemas.Problem?.required.toSorted(), Object.keys(problem).sort());
    for (const { content } of Object.values(responses)) {
      assert.deepEqual(Object.keys(content), ['application/json', 'application/problem+json']);
    }
  });

  it('demands an API token by the scheme SSWS wherever it says nothing else', () => {
    assert.deepEqual(served.body.security, [{ SSWS: [] }]);
    const { description, ...scheme } = served.body.components.securitySchemes.SSWS ?? {};
    assert.deepEqual(scheme, { type: 'apiKey', in: 'header', name: 'Authorization' });
    assert.match(description ?? '', /SSWS/);
    const open = Object.values(served.body.paths).flatMap((item) => Object.values(item).filter(({ security }) => security !== undefined));
    assert.equal(open.length, 1);
  });

  it('is what `npm run openapi` prints, without configuration or database', async () => {
    const entry = fileURLToPath(new URL('../../src/openapi.js', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [entry], { env: {}, maxBuffer: 2 ** 24 });
    assert.deepEqual(JSON.parse(stdout), served.body);
  });
});
