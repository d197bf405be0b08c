/** `authorizationServers/{id}/authorizationDetailTypes`: the resource, its events, and the schemas and templates that it refuses. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { seedAuthorizationServer } from '../../../src/features/authorization-servers/authorization-servers.service.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface DetailType {
  id: string;
  name: string;
}

const nested = (levels: number): object => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } });

describe('authorizationServers/{id}/authorizationDetailTypes (RFC 9396)', () => {
  let api: ManagementApi;
  let path = '';
  before(async () => {
    api = await startManagementApi();
    const { body } = await api.call<{ id: string }>('POST', '/authorizationServers', { name: 'Bank', signingAlg: 'ES256' });
    path = `/authorizationServers/${body.id}/authorizationDetailTypes`;
  });
  after(() => api.close());

  const lastEvent = async (step: string) => {
    const filter = encodeURIComponent(`eventType eq "oauth2.authorization_detail_type.${step}"`);
    const { body } = await api.call<{ debugContext: Record<string, unknown>; target: { displayName: string }[] }[]>(
      'GET',
      `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`,
    );
    return body[0];
  };

  it('creates with defaults, reads, lists by the beginning of a name, replaces and deletes, each change with its event', async () => {
    const created = await api.call<DetailType>('POST', path, { name: 'payment' });
    assert.equal(created.status, 201);
    const { id, ...rest } = created.body;
    const _links = { self: { href: `${api.services.config.baseUrl}/api/v1${path}/${id}` } };
    const defaults = { displayName: '', translations: {}, schema: { type: 'object' }, rememberConsent: true };
    assert.deepEqual(rest, { name: 'payment', ...defaults, _links });
    assert.deepEqual((await lastEvent('created'))?.debugContext, { after: { id, name: 'payment', template: '', ...defaults } });
    const settings = { name: 'payment_initiation', template: 'Pay {amount}', translations: { de: { template: '{amount} zahlen' } } };
    const replaced = await api.call<DetailType>('PUT', `${path}/${id}`, {
      ...settings,
      schema: { required: ['amount'] },
      rememberConsent: false,
    });
    assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
    assert.deepEqual((await api.call('GET', `${path}/${id}`)).body, replaced.body);
    assert.equal((await api.call<DetailType[]>('GET', `${path}?q=PAY`)).body.length, 1);
    assert.equal((await api.call<DetailType[]>('GET', `${path}?q=shares`)).body.length, 0);
    assert.equal((await lastEvent('updated'))?.target[0]?.displayName, 'payment_initiation');
    assert.equal((await api.call('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await lastEvent('deleted'))?.target[0]?.displayName, 'payment_initiation');
    assert.equal((await api.call('GET', `${path}/${id}`)).status, 404);
  });

  it('has one of a name, and none at the built-in server', async () => {
    assert.equal((await api.call('POST', path, { name: 'twice' })).status, 201);
    const { body: other } = await api.call<DetailType>('POST', path, { name: 'once' });
    assert.equal((await api.call('POST', path, { name: 'twice' })).status, 409);
    assert.equal((await api.call('PUT', `${path}/${other.id}`, { name: 'twice' })).status, 409);
    // The API alone has no servers; the first start makes this one.
    await seedAuthorizationServer(api.services, { id: 'built-in', name: 'Built-in', system: true, scopes: [] }, SYSTEM);
    const builtIn = await api.call('POST', '/authorizationServers/built-in/authorizationDetailTypes', { name: 'payment' });
    assert.equal(builtIn.status, 403);
  });

  const REFUSED: Readonly<Record<string, readonly [body: object, field: string, why: RegExp]>> = {
    'a name with a space': [{ name: 'two words' }, 'name', /without spaces/],
    'a template with an open brace': [{ template: 'Pay {amount' }, 'template', /braces/],
    'a template with code': [{ template: 'Pay {amount + 1}' }, 'template', /braces/],
    'a translated template': [{ translations: { de: { template: '{}' } } }, 'translations.de.template', /braces/],
    'a template that turns text around': [{ template: 'Pay \u202E{amount}' }, 'template', /direction/],
    'an unknown keyword': [{ schema: { typ: 'object' } }, 'schema', /unknown keyword/],
    'a wrong keyword': [{ schema: { type: 'thing' } }, 'schema', /is no JSON Schema/],
    'another draft': [{ schema: { $schema: 'http://json-schema.org/draft-04/schema#' } }, 'schema', /\$schema must be/],
    'a reference to elsewhere': [{ schema: { $ref: 'https://evil.example/schema' } }, 'schema', /\$ref must name a definition/],
    'a reference to itself': [{ schema: { $ref: '#' } }, 'schema', /\$ref must name a definition/],
    'a reference to nothing': [{ schema: { properties: { a: { $ref: '#/$defs/a' } } } }, 'schema', /is no JSON Schema/],
    'definitions that lead on': [{ schema: { $defs: { a: { items: { $ref: '#/$defs/a' } } } } }, 'schema', /must not have \$ref in \$defs/],
    'a dynamic reference': [{ schema: { $dynamicRef: '#a' } }, 'schema', /must not have \$dynamicRef/],
    'another address': [{ schema: { properties: { a: { $id: 'https://a.example/' } } } }, 'schema', /must not have \$id/],
    'a validator that waits': [{ schema: { $async: true } }, 'schema', /must not have \$async/],
    'a pattern with a look back': [{ schema: { properties: { a: { pattern: '(a)\\1' } } } }, 'schema', /RE2 regular expression/],
    'a pattern that is too large': [
      { schema: { properties: { a: { pattern: '((a{99}){99}){9}' } } } },
      'schema',
      /regular expression|too large/,
    ],
    'an unknown format': [{ schema: { properties: { a: { format: 'iban' } } } }, 'schema', /unknown format/],
    'too deep': [{ schema: nested(15) }, 'schema', /nested too deeply/],
    'too long': [{ schema: { description: 'x'.repeat(16_400) } }, 'schema', /longer than 16384/],
    'a closed object without its type': [{ schema: { additionalProperties: false } }, 'schema', /must have type among its properties/],
  };
  for (const [what, [body, field, why]] of Object.entries(REFUSED)) {
    it(`refuses ${what}, naming the field`, async () => {
      const refused = await api.call<ErrorObject>('POST', path, { name: 'refused', ...body });
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      const told = causes(refused).join('; ');
      assert.match(told, why);
      assert.ok(told.startsWith(field), told);
    });
  }

  it('refuses a prototype in a schema', async () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}');
    const refused = await api.call<ErrorObject>('POST', path, { name: 'refused', schema });
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
  });
});
