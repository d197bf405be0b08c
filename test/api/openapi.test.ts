import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../../src/api/index.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

interface Response {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: { 'application/json': { schema: { $ref?: string; items?: { $ref?: string } } } };
}

interface Operation {
  operationId: string;
  description: string;
  tags: string[];
  security?: unknown[];
  parameters?: { $ref?: string; name?: string; schema?: Record<string, unknown> }[];
  requestBody?: { content: { 'application/json': { schema: { required: string[] }; examples?: Record<string, { value: object }> } } };
  responses: Record<string, Response>;
}

interface Document {
  openapi: string;
  servers: { url: string }[];
  security: unknown[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, Record<string, string>>;
    schemas: Record<string, { required: string[] }>;
    headers: Record<string, { description: string }>;
    responses: Record<string, { description: string; headers: Record<string, unknown>; content: Record<string, unknown> }>;
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

  it('has no form on which openapi-generator fails: names that differ by Execute alone, additional properties that may be null', () => {
    const names = Object.values(served.body.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    assert.deepEqual(
      names.filter((name) => names.includes(`${name}Execute`)),
      [],
    );
    assert.ok(names.includes('executeInlineHook'));
    const nullable: string[] = [];
    const walk = (value: unknown, path: readonly string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, anyOf = [] } = value as { type?: unknown; anyOf?: readonly { type?: unknown }[] };
      const mayBeNull = [type, ...anyOf.map((one) => one.type)].flat().includes('null');
      if (path.at(-1) === 'additionalProperties' && mayBeNull) nullable.push(path.join('/'));
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    };
    walk(served.body.paths, []);
    assert.deepEqual(nullable, []);
  });

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

  it('says nothing in a form that generators or linters stumble over', () => {
    const { info } = served.body as unknown as { info: { license: { name: string } } };
    assert.ok(info.license.name.length > 0);
    for (const { operationId, responses } of all())
      assert.ok(
        Object.keys(responses).some((status) => /^4/.test(status)),
        operationId,
      );
    const found: string[] = [];
    const walk = (value: unknown, path: readonly string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, const: only } = value as { type?: unknown; const?: unknown };
      const isNull = type === 'null' && path.at(-2) !== 'anyOf';
      if (isNull || typeof only === 'boolean' || 'prefixItems' in value) found.push(path.join('/'));
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
    };
    walk(served.body, []);
    assert.deepEqual(found, []);
  });

  it('has a valid body for each kind of identity provider', async () => {
    const { examples } = at('post', '/idps')?.requestBody?.content['application/json'] ?? {};
    const ids: string[] = [];
    for (const [type, { value }] of Object.entries(examples ?? {})) {
      const id = `idp_${type.padEnd(20, '0')}`;
      const answer = await api.call<Record<string, unknown>>('POST', '/idps', { ...value, id });
      assert.deepEqual([answer.status, answer.body.type, answer.body.id], [200, type, id], JSON.stringify(answer.body));
      const links = answer.body._links as { clientRedirectUri: { href: string } };
      assert.ok(links.clientRedirectUri.href.endsWith(`/interaction/upstream/${id}/callback`));
      assert.equal((await api.call('POST', '/idps', { ...value, name: `Another ${type}`, id })).status, 409);
      ids.push(type);
    }
    assert.deepEqual(ids.sort(), ['GITHUB', 'GOOGLE', 'MICROSOFT', 'OIDC']);
    assert.equal((await api.call('POST', '/idps', { ...examples?.GOOGLE?.value, name: 'x', id: 'google' })).status, 400);
  });

  it('has every endpoint that is declared, with its success and its refusals', () => {
    const told = Object.entries(served.body.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
    const declared = ENDPOINTS.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`);
    assert.deepEqual(told.sort(), [...declared, 'get /openapi.json'].sort());
    assert.deepEqual(Object.keys(served.body.paths['/apps']?.post?.responses ?? {}), ['200', '400', '401', '403', '409', 'default']);
    const deactivate = served.body.paths['/authorizationServers/{id}/lifecycle/deactivate']?.post;
    assert.deepEqual(Object.keys(deactivate?.responses ?? {}), ['204', '401', '403', '404', 'default']);
  });

  const all = () => Object.values(served.body.paths).flatMap((item) => Object.values(item));
  const at = (method: string, path: string) => served.body.paths[path]?.[method];
  const nameOf = (method: string, path: string, status: string) => {
    const schema = at(method, path)?.responses[status]?.content?.['application/json'].schema;
    return (schema?.$ref ?? schema?.items?.$ref)?.replace('#/components/schemas/', '');
  };

  it('names every operation once, after what it does', () => {
    const ids = all().map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, /^[a-z]+[A-Z]\w+$/);
    assert.equal(at('get', '/api-tokens')?.operationId, 'listApiTokens');
    assert.equal(at('delete', '/users/{id}/roles/{roleId}')?.operationId, 'deleteUserRole');
    assert.equal(at('post', '/users/{id}/lifecycle/expire_password')?.operationId, 'expireUserPassword');
  });

  it('has each resource under one name, wherever it is answered', () => {
    assert.deepEqual([nameOf('get', '/users', '200'), nameOf('put', '/users/{id}', '200')], ['User', 'User']);
    assert.deepEqual([nameOf('get', '/api-tokens/{id}', '200'), nameOf('post', '/api-tokens', '200')], ['ApiToken', 'CreatedApiToken']);
    assert.equal(nameOf('get', '/logs', '200'), 'Log');
  });

  it('says which clients need the profile openid, of an application and of a server', () => {
    for (const path of ['/apps', '/apps/{id}', '/authorizationServers', '/authorizationServers/{id}']) {
      const method = path.endsWith('}') ? 'put' : 'post';
      const told = /"profile":(\{[^{}]*"description":"[^"]*")/.exec(JSON.stringify(served.body.paths[path]?.[method]?.requestBody))?.[1];
      assert.match(told ?? '', /openid \(OpenID Connect Core\): required by Spring Security, Auth\.js, oauth2-proxy/, path);
    }
  });

  it('describes the tag of every operation', () => {
    const described = new Set(served.body.tags.map(({ name }) => name));
    for (const { tags, operationId } of all()) for (const tag of tags) assert.ok(described.has(tag), `${operationId}: ${tag}`);
    for (const { description } of served.body.tags) assert.ok(description.length > 0);
  });

  it('tells the roles that each operation is open to', () => {
    assert.equal(at('get', '/logs')?.description, 'For SUPER_ADMIN, READ_ONLY_ADMIN.');
    assert.equal(at('put', '/settings/password')?.description, 'For SUPER_ADMIN.');
    assert.equal(at('post', '/users')?.description, 'For SUPER_ADMIN, ORG_ADMIN (within the organization).');
    assert.equal(at('post', '/api-tokens')?.description, 'For SUPER_ADMIN, ORG_ADMIN, READ_ONLY_ADMIN.');
  });

  it('says of sessions/me why it is refused: no session, another site; a token plays no part', () => {
    for (const method of ['get', 'delete']) {
      const responses: Record<string, Response> = at(method, '/sessions/me')?.responses ?? {};
      assert.deepEqual(Object.keys(responses), [method === 'get' ? '200' : '204', '403', '404', 'default']);
      assert.equal(responses['403']?.$ref, '#/components/responses/OtherSite');
      assert.equal(responses['404']?.$ref, '#/components/responses/NoSession');
    }
  });

  it('describes the headers that callers meet: limits, pages, repeatable calls', () => {
    const { headers } = served.body.components;
    const limits = ['X-Rate-Limit-Limit', 'X-Rate-Limit-Remaining', 'X-Rate-Limit-Reset', 'X-Request-Id'];
    for (const name of limits) assert.ok(headers[name]?.description);
    const answered = (method: string, path: string, status: string) => Object.keys(at(method, path)?.responses[status]?.headers ?? {});
    assert.deepEqual(answered('get', '/users/{id}', '200'), limits);
    assert.deepEqual(answered('get', '/users', '200'), [...limits, 'Link']);
    assert.deepEqual(answered('post', '/users', '200'), [...limits, 'Idempotency-Replayed']);
    assert.ok(served.body.components.responses.Failed?.headers['Retry-After']);
    for (const [path, item] of Object.entries(served.body.paths)) {
      for (const [method, { parameters = [] }] of Object.entries(item)) {
        const repeatable = parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey');
        assert.equal(repeatable, method === 'post' && !path.startsWith('/authn'), `${method} ${path}`);
      }
    }
    const limit = at('get', '/users')?.parameters?.find(({ name }) => name === 'limit');
    assert.deepEqual(
      [limit?.schema?.type, limit?.schema?.minimum, limit?.schema?.maximum, limit?.schema?.default],
      ['integer', 1, 200, 20],
    );
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
    const open = Object.entries(served.body.paths).filter(([, item]) => Object.values(item).some(({ security }) => security !== undefined));
    assert.deepEqual(open.map(([path]) => path).sort(), [
      '/authn',
      '/authn/credentials/change_password',
      '/authn/factors/{id}/verify',
      '/openapi.json',
      '/sessions/me',
    ]);
  });

  it('is what `gatehouse openapi` prints, without configuration or database', async () => {
    const entry = fileURLToPath(new URL('../../src/main.js', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [entry, 'openapi'], { env: {}, maxBuffer: 2 ** 24 });
    assert.deepEqual(JSON.parse(stdout), served.body);
  });
});
