import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Server {
  id: string;
  name: string;
  description: string;
  audiences: string[];
  issuer: string;
  profile: string;
  accessTokenFormat: string;
  accessTokenLifetimeMinutes: number;
  refreshTokenLifetimeMinutes: number;
  signingAlg: string;
  status: string;
}

describe('authorizationServers (management API, "Resources"; decisions, "Authorization servers")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('creates a server with what is said, and defaults for the rest', async () => {
    const given = {
      id: 'orders',
      name: 'Orders',
      audiences: ['https://orders.example'],
      accessTokenLifetimeMinutes: 5,
      signingAlg: 'ES256',
    };
    const created = await api.call<Server>('POST', '/authorizationServers', given);
    assert.equal(created.status, 201);
    const {
      id,
      audiences,
      issuer,
      profile,
      accessTokenFormat,
      accessTokenLifetimeMinutes,
      refreshTokenLifetimeMinutes,
      signingAlg,
      status,
    } = created.body;
    assert.deepEqual(
      { id, audiences, issuer, profile, accessTokenFormat, accessTokenLifetimeMinutes, refreshTokenLifetimeMinutes, signingAlg, status },
      {
        id: 'orders',
        audiences: ['https://orders.example'],
        issuer: `${api.services.config.baseUrl}/oauth/v1/orders`,
        profile: 'service',
        accessTokenFormat: 'jwt',
        accessTokenLifetimeMinutes: 5,
        refreshTokenLifetimeMinutes: 129_600,
        signingAlg: 'ES256',
        status: 'ACTIVE',
      },
    );
    assert.deepEqual((await api.call('GET', '/authorizationServers/orders')).body, created.body);
    assert.deepEqual((await api.call<Server[]>('GET', '/authorizationServers')).body.at(-1), created.body);
  });

  it('replaces the settings by a whole answer sent back, and changes what was changed', async () => {
    const { body: created } = await api.call<Server>('POST', '/authorizationServers', { name: 'Round trip', description: 'x' });
    const replaced = await api.call<Server>('PUT', `/authorizationServers/${created.id}`, {
      ...created,
      description: 'y',
      profile: 'openid',
    });
    assert.equal(replaced.status, 200);
    assert.deepEqual([replaced.body.description, replaced.body.profile, replaced.body.name], ['y', 'openid', 'Round trip']);
    assert.deepEqual((await api.call('GET', `/authorizationServers/${created.id}`)).body, replaced.body);
  });

  it('deactivates and activates', async () => {
    const { body: created } = await api.call<Server>('POST', '/authorizationServers', { name: 'Switch' });
    const path = `/authorizationServers/${created.id}`;
    for (const [step, status] of [
      ['deactivate', 'INACTIVE'],
      ['activate', 'ACTIVE'],
    ]) {
      const answer = await api.call<undefined>('POST', `${path}/lifecycle/${step}`);
      assert.deepEqual([answer.status, answer.body], [204, undefined]);
      assert.equal((await api.call<Server>('GET', path)).body.status, status);
    }
  });

  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no name', {}, ['name: is required']],
    ['the same audience twice', { name: 'x', audiences: ['a', 'a'] }, ['audiences: must not contain duplicate audiences']],
    [
      'unknown values',
      { name: 'x', profile: 'own', accessTokenFormat: 'xml', accessTokenLifetimeMinutes: 0.5, signingAlg: 'none', description: null },
      [
        'accessTokenFormat: must be opaque or jwt',
        'accessTokenLifetimeMinutes: must be a whole number',
        'description: must be of type string',
        'profile: must be service or openid or fapi2',
        'signingAlg: must be RS256 or ES256 or PS256 or EdDSA',
      ],
    ],
    [
      'an endpoint as id',
      { id: 'token', name: 'x' },
      ['id: is reserved for an endpoint of the built-in authorization server. Choose another ID'],
    ],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, with a cause for each field`, async () => {
      const answer = await api.call('POST', '/authorizationServers', body);
      assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
    });
  }

  it('refuses an id or a name that is taken: 409', async () => {
    await api.call('POST', '/authorizationServers', { id: 'taken', name: 'Taken' });
    for (const body of [
      { id: 'taken', name: 'Other' },
      { id: 'other', name: 'Taken' },
    ]) {
      const answer = await api.call('POST', '/authorizationServers', body);
      assert.deepEqual([answer.status, answer.body.errorCode], [409, 'E0000014']);
    }
  });

  it('lists the servers in pages, and those whose name or audience contains a text, whatever the case of its letters', async () => {
    for (const turn of [1, 2, 3]) {
      await api.call('POST', '/authorizationServers', {
        name: `Paging_100% ${turn}`,
        audiences: [`api://paged-${turn}`],
        signingAlg: 'ES256',
      });
    }
    const list = (query: string) => api.call<Server[]>('GET', `/authorizationServers?${query}`);
    const names = async (q: string) => (await list(`q=${encodeURIComponent(q)}`)).body.map(({ name }) => name);
    const all = ['Paging_100% 1', 'Paging_100% 2', 'Paging_100% 3'];
    assert.deepEqual([await names('g_100%'), await names('PAGED-2'), await names('nothing')], [all, [all[1]], []]);
    const first = await list('q=paging&limit=2');
    assert.deepEqual(
      first.body.map(({ name }) => name),
      all.slice(0, 2),
    );
    const next = /<[^?]*\?([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await list(next);
    assert.deepEqual([second.body.map(({ name }) => name), second.headers.get('link')], [all.slice(2), null]);
  });

  it('says in Okta’s names where everything is that belongs to a server', async () => {
    const { body } = await api.call<Server & { default: boolean; issuerMode: string; _links: unknown }>('POST', '/authorizationServers', {
      id: 'linked',
      name: 'Linked',
    });
    const { baseUrl } = api.services.config;
    const href = `${baseUrl}/api/v1/authorizationServers/linked`;
    assert.deepEqual([body.default, body.issuerMode], [false, 'ORG_URL']);
    assert.deepEqual(body._links, {
      self: { href },
      deactivate: { href: `${href}/lifecycle/deactivate`, hints: { allow: ['POST'] } },
      metadata: ['oauth-authorization-server', 'openid-configuration'].map((name) => ({
        name,
        href: `${baseUrl}/oauth/v1/linked/.well-known/${name}`,
      })),
      scopes: { href: `${href}/scopes` },
      claims: { href: `${href}/claims` },
      policies: { href: `${href}/policies` },
      rotateKey: { href: `${href}/credentials/lifecycle/keyRotate`, hints: { allow: ['POST'] } },
    });
  });

  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['POST', '/lifecycle/activate'],
  ] as const) {
    it(`answers 404 to ${method} …/nowhere${path}`, async () => {
      const answer = await api.call<ErrorObject>(
        method,
        `/authorizationServers/nowhere${path}`,
        method === 'PUT' ? { name: 'x' } : undefined,
      );
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
    });
  }
});
