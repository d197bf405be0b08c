import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LARGEST_TOKEN } from '../../../src/features/authorization-servers/token-size.policy.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Claim {
  id: string;
  name: string;
  claimType: string;
  valueType: string;
  value: unknown;
  conditions: { scopes: string[] };
  alwaysIncludeInToken: boolean;
  status: string;
  system: boolean;
  group_filter_type?: string;
}

const PLAN = { name: 'plan', claimType: 'RESOURCE', valueType: 'STATIC', value: 'gold' };

describe('authorizationServers/{id}/claims (management API, "Resources"; Okta’s OAuth2Claim)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());
  const server = async (name: string): Promise<string> => {
    const { body } = await api.call<{ id: string }>('POST', '/authorizationServers', { name, signingAlg: 'ES256' });
    return `/authorizationServers/${body.id}/claims`;
  };
  const lastEvent = async (type: string) => {
    const { body } = await api.call<{ debugContext: { before?: unknown; after?: unknown }; target: { id: string; type: string }[] }[]>(
      'GET',
      `/logs?filter=${encodeURIComponent(`eventType eq "${type}"`)}&sortOrder=DESCENDING&limit=1`,
    );
    return body[0];
  };

  it('creates with defaults, reads, lists, replaces and deletes, each change with its audit event', async () => {
    const path = await server('Claims');
    const created = await api.call<Claim>('POST', path, PLAN);
    assert.equal(created.status, 201);
    const { id, ...rest } = created.body;
    assert.deepEqual(rest, {
      ...PLAN,
      conditions: { scopes: [] },
      alwaysIncludeInToken: true,
      status: 'ACTIVE',
      system: false,
      _links: { self: { href: `${api.services.config.baseUrl}/api/v1${path}/${id}` } },
    });
    assert.deepEqual((await api.call('GET', `${path}/${id}`)).body, created.body);
    assert.deepEqual((await api.call('GET', path)).body, [created.body]);
    const stored = { id, ...PLAN, valueFormat: 'TEXT', scopes: [], alwaysIncludeInToken: true, groupFilterType: null, status: 'ACTIVE' };
    assert.deepEqual((await lastEvent('oauth2.claim.created'))?.debugContext, { after: stored });

    const replaced = await api.call<Claim>('PUT', `${path}/${id}`, {
      ...created.body,
      name: 'teams',
      claimType: 'IDENTITY',
      valueType: 'GROUPS',
      group_filter_type: 'STARTS_WITH',
      value: ' app-',
      alwaysIncludeInToken: false,
      conditions: { scopes: ['profile', 'profile', 'email'] },
      status: 'INACTIVE',
    });
    assert.equal(replaced.status, 200);
    assert.deepEqual(replaced.body, {
      ...created.body,
      name: 'teams',
      claimType: 'IDENTITY',
      valueType: 'GROUPS',
      group_filter_type: 'STARTS_WITH',
      value: ' app-',
      alwaysIncludeInToken: false,
      conditions: { scopes: ['profile', 'email'] },
      status: 'INACTIVE',
    });
    const event = await lastEvent('oauth2.claim.updated');
    assert.deepEqual(event?.debugContext.before, stored);
    assert.deepEqual(event?.debugContext.after, {
      id,
      name: 'teams',
      claimType: 'IDENTITY',
      valueType: 'GROUPS',
      value: ' app-',
      valueFormat: 'TEXT',
      scopes: ['profile', 'email'],
      alwaysIncludeInToken: false,
      groupFilterType: 'STARTS_WITH',
      status: 'INACTIVE',
    });

    assert.equal((await api.call('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await api.call('GET', `${path}/${id}`)).status, 404);
    assert.deepEqual((await lastEvent('oauth2.claim.deleted'))?.target, [{ id, type: 'OAuth2Claim', displayName: 'teams' }]);
  });

  it('has fixed values of each type, and gives a standard claim its own (OpenID Connect Core section 5.1)', async () => {
    const path = await server('Typed values');
    for (const value of ['true', true, false, 0, -1.5, ['a', 'b'], ['a', 2, true]]) {
      const { status, body } = await api.call<Claim>('POST', path, {
        ...PLAN,
        name: `v-${JSON.stringify(value).replace(/\W/g, '.')}`,
        value,
      });
      assert.deepEqual([status, body.value], [201, value]);
      assert.deepEqual((await api.call<Claim>('GET', `${path}/${body.id}`)).body.value, value);
    }
    for (const [name, claimType, value] of [
      ['email_verified', 'IDENTITY', 'true'],
      ['phone_number_verified', 'RESOURCE', 1],
      ['updated_at', 'IDENTITY', '0'],
      ['email', 'IDENTITY', true],
      ['name', 'IDENTITY', ['Ada']],
      ['address', 'IDENTITY', 'London'],
      ['plan', 'IDENTITY', []],
    ] as const) {
      const refused = await api.call<ErrorObject>('POST', path, { name, claimType, valueType: 'STATIC', value });
      assert.deepEqual([refused.status, causes(refused)[0]?.split(':')[0]], [400, 'value'], name);
    }
    for (const [name, value] of [
      ['email_verified', true],
      ['updated_at', 0],
      ['name', 'Ada'],
    ] as const) {
      assert.equal((await api.call('POST', path, { name, claimType: 'IDENTITY', valueType: 'STATIC', value })).status, 201, name);
    }
    const listed = await api.call<ErrorObject>('POST', path, {
      name: 'dep',
      claimType: 'IDENTITY',
      valueType: 'USER_ATTRIBUTE',
      value: ['department'],
    });
    assert.equal(listed.status, 400);
  });

  it('replaces all settings: what is not given returns to its default', async () => {
    const path = await server('Replacement');
    const { body } = await api.call<Claim>('POST', path, { ...PLAN, conditions: { scopes: ['email'] }, status: 'INACTIVE' });
    const replaced = await api.call<Claim>('PUT', `${path}/${body.id}`, PLAN);
    assert.deepEqual([replaced.body.conditions.scopes, replaced.body.status], [[], 'ACTIVE']);
  });

  it('tells every field that is not valid', async () => {
    const path = await server('Mistakes');
    const wrong: readonly [Record<string, unknown>, string][] = [
      [{ ...PLAN, name: 'aud' }, 'name: is the name of a protocol claim. Choose another name'],
      [{ ...PLAN, name: 'a b' }, 'name: must be 1 to 100 printable ASCII characters without spaces, quotation marks and backslashes'],
      [
        { ...PLAN, name: 'x'.repeat(101) },
        'name: must be 1 to 100 printable ASCII characters without spaces, quotation marks and backslashes',
      ],
      [{ ...PLAN, name: 'اسم' }, 'name: must be 1 to 100 printable ASCII characters without spaces, quotation marks and backslashes'],
      [{ ...PLAN, claimType: 'OTHER' }, 'claimType: must be IDENTITY or RESOURCE'],
      [{ ...PLAN, value: 'a\u0000b' }, 'value: must not contain control characters'],
      [{ ...PLAN, value: undefined }, 'value: must not be empty'],
      [
        { ...PLAN, conditions: { scopes: ['nowhere'] } },
        'conditions.scopes: nowhere: not a scope of this authorization server. Create the scope first',
      ],
      [{ ...PLAN, alwaysIncludeInToken: false }, 'alwaysIncludeInToken: must be true for a claim of type RESOURCE'],
      [{ ...PLAN, valueType: 'GROUPS', value: '(a+)+', group_filter_type: 'REGEX' }, 'value: must not contain unescaped parentheses'],
      [
        { ...PLAN, valueType: 'USER_ATTRIBUTE', value: 'shoeSize' },
        'value: must be an attribute of the profile, such as department or user.profile.department',
      ],
      [{ ...PLAN, colour: 'red' }, 'colour: is not a field of this resource'],
    ];
    for (const [body, cause] of wrong) {
      const answer = await api.call('POST', path, body);
      assert.deepEqual(
        [answer.status, answer.body.errorCode, ...causes(answer)],
        [400, 'E0000001', cause],
        JSON.stringify(body).slice(0, 200),
      );
    }
    assert.deepEqual((await api.call('GET', path)).body, []);
  });

  it('takes markup and right-to-left script as the value that it is', async () => {
    const path = await server('Script');
    const value = '<script>alert(1)</script> مرحبا \u202e';
    assert.equal((await api.call<Claim>('POST', path, { ...PLAN, value })).body.value, value);
  });

  it('refuses a fixed value that is too large', async () => {
    const path = await server('Size');
    const tooLarge = await api.call('POST', path, { ...PLAN, value: 'x'.repeat(LARGEST_TOKEN) });
    assert.equal(tooLarge.status, 400);
    assert.match(causes(tooLarge)[0] ?? '', /^value: is too large/);
    const { body } = await api.call<Claim>('POST', path, { ...PLAN, value: 'x'.repeat(3000) });
    const second = await api.call('POST', path, { ...PLAN, name: 'second', value: 'x'.repeat(3000) });
    assert.equal(second.status, 400, 'together they are too large');
    assert.equal((await api.call('POST', path, { ...PLAN, name: 'second', value: 'x'.repeat(3000), status: 'INACTIVE' })).status, 201);
    assert.equal((await api.call('PUT', `${path}/${body.id}`, { ...PLAN, value: 'y'.repeat(4000) })).status, 200, 'it replaces itself');
  });

  it('has one claim of a name and type: the second is a conflict, of twenty at once one is created', async () => {
    const path = await server('Conflict');
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call<Claim & ErrorObject>('POST', path, PLAN)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
    assert.deepEqual(causes(answers.find(({ status }) => status === 409) ?? assert.fail()), [
      'name: another claim of this type has this name. Choose another name',
    ]);
    assert.equal((await api.call('POST', path, { ...PLAN, claimType: 'IDENTITY' })).status, 201, 'the other type is another claim');
    const { body } = await api.call<Claim>('POST', path, { ...PLAN, name: 'other' });
    assert.equal((await api.call('PUT', `${path}/${body.id}`, PLAN)).status, 409);
  });

  it('knows neither the claim of another server nor an unknown server', async () => {
    const path = await server('Mine');
    const other = await server('Other');
    const { body } = await api.call<Claim>('POST', path, PLAN);
    for (const [method, at] of [
      ['GET', `${other}/${body.id}`],
      ['PUT', `${other}/${body.id}`],
      ['DELETE', `${other}/${body.id}`],
      ['GET', '/authorizationServers/nowhere/claims'],
      ['POST', '/authorizationServers/nowhere/claims'],
    ] as const) {
      const answer = await api.call(method, at, method === 'GET' || method === 'DELETE' ? undefined : PLAN);
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${at}`);
    }
    assert.equal((await api.call('GET', `${path}/${body.id}`)).status, 200);
  });

  it('lists in pages', async () => {
    const path = await server('Pages');
    for (const name of ['a', 'b', 'c']) await api.call('POST', path, { ...PLAN, name });
    const first = await api.call<Claim[]>('GET', `${path}?limit=2`);
    assert.deepEqual(
      first.body.map(({ name }) => name),
      ['a', 'b'],
    );
    const next = /after=([\w.-]+)/.exec(first.headers.get('link') ?? '')?.[1];
    assert.deepEqual(
      (await api.call<Claim[]>('GET', `${path}?limit=2&after=${next}`)).body.map(({ name }) => name),
      ['c'],
    );
  });
});
