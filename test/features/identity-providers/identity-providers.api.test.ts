/** `idps`: what an identity provider can be, and what of it stays inside (management API, "Resources"; the nesting of Okta's IdentityProvider). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getIdentityProvider, openClientSecret } from '../../../src/features/identity-providers/identity-providers.service.ts';
import { eventsOf, type Named, nextPage } from '../../api/administrators.ts';
import { codeBlocks } from '../../support/docs.ts';
import { type Answer, causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Idp {
  id: string;
  name: string;
  type: string;
  status: string;
  created: string;
  lastUpdated: string;
  protocol: Record<string, unknown> & { credentials: { client: Record<string, unknown> }; scopes: string[] };
  policy: Record<string, unknown> & { attributeMap: Record<string, string> };
  _links: unknown;
}

type Changes = { readonly [field: string]: Changes | unknown };

const SECRET = 'the-secret-that-only-the-provider-knows';

/** @returns the body with fields replaced at any depth; undefined takes one away */
function changed(body: Changes, changes: Changes): Changes {
  const merged = { ...body } as Record<string, unknown>;
  for (const [name, value] of Object.entries(changes)) {
    const before = merged[name];
    const isDeeper = typeof value === 'object' && value !== null && !Array.isArray(value) && typeof before === 'object';
    merged[name] = isDeeper ? changed(before as Changes, value as Changes) : value;
  }
  return merged;
}

describe('idps (management API, "Resources")', () => {
  let api: ManagementApi;
  let count = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const oidc = (changes: Changes = {}): Changes => {
    count += 1;
    const client = { client_id: 'gatehouse', client_secret: SECRET };
    const protocol = { issuer: { url: 'https://idp.example/tenant' }, credentials: { client } };
    return changed({ name: `Provider ${count}`, type: 'OIDC', protocol }, changes);
  };
  const endpoints = {
    authorization: { url: 'https://idp.example/authorize' },
    token: { url: 'https://idp.example/token' },
    userInfo: { url: 'https://idp.example/me' },
  };
  const jwks = { url: 'https://idp.example/keys' };
  const create = async (changes: Changes = {}): Promise<Idp> => {
    const { status, body } = await api.call<Idp>('POST', '/idps', oidc(changes));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const read = async (id: string): Promise<Idp> => (await api.call<Idp>('GET', `/idps/${id}`)).body;
  const isRefused = (answer: Answer<ErrorObject>, status: number, ...expected: string[]) => {
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.deepEqual(causes(answer), expected);
  };
  const createUser = async (login: string): Promise<string> => (await api.call<Named>('POST', '/users', { profile: { login } })).body.id;
  const secretOf = async (id: string) => openClientSecret(api.services, await getIdentityProvider(api.services, id));

  it('creates one with the defaults: found by discovery, and nobody made a user or linked', async () => {
    const made = await create({ name: 'Partner' });
    const { baseUrl } = api.services.config;
    assert.match(made.id, /^idp_\w{20}$/);
    assert.deepEqual(made, {
      id: made.id,
      name: 'Partner',
      type: 'OIDC',
      status: 'ACTIVE',
      created: made.created,
      lastUpdated: made.created,
      protocol: {
        type: 'OIDC',
        issuer: { url: 'https://idp.example/tenant' },
        scopes: ['openid', 'email', 'profile'],
        credentials: { client: { client_id: 'gatehouse', token_endpoint_auth_method: 'client_secret_basic', pkce_required: true } },
        settings: { authorizationParameters: {} },
      },
      policy: {
        provisioning: { action: 'DISABLED', groups: { action: 'NONE', assignments: [] }, profileMaster: false },
        accountLink: { action: 'DISABLED', filter: null },
        subject: { userNameTemplate: { template: 'idpuser.email' }, matchType: 'EMAIL' },
        attributeMap: { email: 'email', firstName: 'given_name', lastName: 'family_name', displayName: 'name' },
        trust: { assertions: false },
        maxClockSkew: 60000,
      },
      _links: {
        self: { href: `${baseUrl}/api/v1/idps/${made.id}` },
        users: { href: `${baseUrl}/api/v1/idps/${made.id}/users` },
        clientRedirectUri: { href: `${baseUrl}/interaction/upstream/${made.id}/callback` },
      },
    });
    assert.deepEqual(await read(made.id), made);
  });

  it('takes the examples of the how-to as they stand, one of each type', async () => {
    const page = 'how-to/add-an-identity-provider';
    const [, body = ''] = /-d '([^']*)'/.exec(codeBlocks(page, 'sh').join('')) ?? [];
    const examples = [body, ...codeBlocks(page, 'json')].map((text) => JSON.parse(text)).filter(({ type }) => type !== undefined);
    assert.deepEqual(examples.map(({ type }) => type).sort(), ['GITHUB', 'GOOGLE', 'MICROSOFT', 'OIDC']);
    for (const example of examples) {
      const answer = await api.call<Idp>('POST', '/idps', example);
      assert.equal(answer.status, 200, `${example.type}: ${JSON.stringify(answer.body)}`);
      assert.equal(answer.body.id, example.id ?? answer.body.id);
    }
  });

  it('keeps everything that is said', async () => {
    const { orgId } = (await api.call<{ orgId: string }>('POST', '/account/org?orgName=Partners')).body;
    const { id: groupId } = (await api.call<Named>('POST', '/groups', { profile: { name: 'From partners' } })).body;
    const said = {
      protocol: {
        type: 'OIDC',
        issuer: { url: 'https://idp.example/tenant' },
        endpoints: { ...endpoints, jwks },
        scopes: ['openid', 'https://idp.example/scope'],
        credentials: { client: { client_id: 'gatehouse', token_endpoint_auth_method: 'client_secret_post', pkce_required: true } },
        settings: { authorizationParameters: { hd: 'example.com', prompt: 'select_account' } },
      },
      policy: {
        provisioning: { action: 'AUTO', orgId, groups: { action: 'ASSIGN', assignments: [groupId] }, profileMaster: true },
        accountLink: { action: 'AUTO', filter: { groups: { include: [groupId] } } },
        subject: {
          userNameTemplate: { template: 'idpuser.preferred_username' },
          matchType: 'USERNAME_OR_EMAIL',
          emailDomains: ['example.com'],
        },
        attributeMap: { email: 'mail', zoneinfo: 'zoneinfo' },
        trust: { assertions: true },
        maxClockSkew: 0,
      },
    };
    const { protocol, policy } = await create(said);
    const binding = (name: string) => (name === 'token' ? 'HTTP-POST' : 'HTTP-REDIRECT');
    const told = Object.fromEntries(
      Object.entries({ ...endpoints, jwks }).map(([name, { url }]) => [name, { url, binding: binding(name) }]),
    );
    assert.deepEqual({ protocol, policy }, { ...said, protocol: { ...said.protocol, endpoints: told } });
  });

  for (const [type, expected] of [
    ['GOOGLE', { type: 'OIDC', issuer: { url: 'https://accounts.google.com' }, scopes: ['openid', 'email', 'profile'] }],
    [
      'MICROSOFT',
      { type: 'OIDC', issuer: { url: 'https://login.microsoftonline.com/common/v2.0' }, scopes: ['openid', 'email', 'profile'] },
    ],
    [
      'GITHUB',
      {
        type: 'OAUTH2',
        endpoints: {
          authorization: { url: 'https://github.com/login/oauth/authorize', binding: 'HTTP-REDIRECT' },
          token: { url: 'https://github.com/login/oauth/access_token', binding: 'HTTP-POST' },
          userInfo: { url: 'https://api.github.com/user', binding: 'HTTP-REDIRECT' },
        },
        scopes: ['read:user', 'user:email'],
      },
    ],
  ] as const) {
    it(`knows of ${type} what is not said, and takes what is`, async () => {
      const made = await create({ type, protocol: { issuer: undefined } });
      const { credentials: _, settings: __, ...protocol } = made.protocol;
      assert.deepEqual(protocol, expected);
      const { type: ___, ...addresses } = expected;
      const own =
        type === 'GITHUB'
          ? { endpoints: { ...endpoints, token: { url: 'https://github.example/token' } } }
          : { issuer: { url: 'https://login.microsoftonline.com/tenant-id/v2.0' } };
      const other = await create({ type, protocol: { issuer: undefined, ...own, scopes: ['openid', 'User.Read'] } });
      assert.deepEqual(other.protocol.scopes, ['openid', 'User.Read']);
      assert.notDeepEqual(other.protocol, { ...made.protocol, ...addresses });
    });
  }

  it('answers 200 to what it has answered itself, and changes nothing but the time', async () => {
    for (const changes of [{}, { type: 'GITHUB', protocol: { issuer: undefined } }, { protocol: { endpoints: { ...endpoints, jwks } } }]) {
      const made = await create(changes);
      const sentBack = await api.call<Idp>('PUT', `/idps/${made.id}`, { ...made, id: 'another', status: 'INACTIVE' });
      assert.equal(sentBack.status, 200, JSON.stringify(sentBack.body));
      assert.deepEqual(sentBack.body, { ...made, lastUpdated: sentBack.body.lastUpdated });
      assert.equal(await secretOf(made.id), SECRET);
    }
  });

  describe('the client secret', () => {
    it('is in no answer, no event, no row and no log of the database, and opens for the sign-in', async () => {
      const made = await create();
      const replaced = await api.call(
        'PUT',
        `/idps/${made.id}`,
        oidc({ protocol: { credentials: { client: { client_secret: `${SECRET}-2` } } } }),
      );
      const answers = [made, replaced.body, await read(made.id), (await api.call('GET', '/idps?limit=200')).body];
      await api.call('POST', `/idps/${made.id}/lifecycle/deactivate`);
      const rowsOf = async (table: string) =>
        (await api.services.database.knex(table).select(api.services.database.knex.raw('??::text', [table]))) as unknown[];
      const events = await rowsOf('audit_events');
      const rows = [...events, ...(await rowsOf('identity_providers'))];
      const everything = JSON.stringify([answers, rows]);
      assert.ok(everything.includes(made.id) && rows.length > 10, 'there is something to search in');
      for (const writing of [SECRET, Buffer.from(SECRET).toString('base64').slice(0, 40), Buffer.from(SECRET).toString('hex')]) {
        assert.ok(!everything.includes(writing), writing);
      }
      assert.ok(!JSON.stringify(answers).includes('client_secret"'), 'not even the field');
      const { sealedSecret } = await getIdentityProvider(api.services, made.id);
      assert.ok(sealedSecret !== null && !JSON.stringify([answers, events]).includes(sealedSecret), 'nor is it told as it is sealed');
      assert.equal(await secretOf(made.id), `${SECRET}-2`);
    });

    it('opens in its own row only', async () => {
      const [one, other] = [await create(), await create()];
      const [a, b] = [await getIdentityProvider(api.services, one.id), await getIdentityProvider(api.services, other.id)];
      assert.throws(() => openClientSecret(api.services, { ...a, sealedSecret: b.sealedSecret }));
    });

    it('is kept where PUT leaves it out, and replaced where not', async () => {
      const { id } = await create();
      const without = oidc({ protocol: { credentials: { client: { client_secret: undefined, client_id: 'renamed' } } } });
      assert.equal((await api.call('PUT', `/idps/${id}`, without)).status, 200);
      assert.equal(await secretOf(id), SECRET);
      await api.call('PUT', `/idps/${id}`, changed(without, { protocol: { credentials: { client: { client_secret: 'another' } } } }));
      assert.equal(await secretOf(id), 'another');
      const [, kept, replaced] = (await eventsOf(api, id)).map(([, , after]) => (after as Record<string, unknown>).clientSecretReplaced);
      assert.deepEqual([kept, replaced], [undefined, true]);
    });

    for (const [where, protocol] of [
      ['another issuer', { issuer: { url: 'https://reader.example' } }],
      ['another token endpoint', { endpoints: { ...endpoints, jwks, token: { url: 'https://reader.example/token' } } }],
    ] as const) {
      it(`is not sent to ${where} by who does not know it`, async () => {
        const { id } = await create();
        const body = oidc({ protocol: { ...protocol, credentials: { client: { client_secret: undefined } } } });
        const why = 'protocol.credentials.client.client_secret: is required when the issuer or the token endpoint changes';
        isRefused(await api.call('PUT', `/idps/${id}`, body), 400, why);
        assert.equal((await api.call('PUT', `/idps/${id}`, oidc({ protocol }))).status, 200);
      });
    }

    it('is demanded, unless the client has none; it then goes away', async () => {
      const absent = { credentials: { client: { client_secret: undefined } } };
      isRefused(await api.call('POST', '/idps', oidc({ protocol: absent })), 400, 'protocol.credentials.client.client_secret: is required');
      const none = { credentials: { client: { client_secret: undefined, token_endpoint_auth_method: 'none' } } };
      assert.equal(await secretOf((await create({ protocol: none })).id), undefined);
      const both = oidc({ protocol: { credentials: { client: { token_endpoint_auth_method: 'none' } } } });
      const why = 'protocol.credentials.client.client_secret: cannot be used with token_endpoint_auth_method none';
      isRefused(await api.call('POST', '/idps', both), 400, why);
      const { id } = await create();
      assert.equal((await api.call('PUT', `/idps/${id}`, oidc({ protocol: none }))).status, 200);
      assert.equal(await secretOf(id), undefined);
      isRefused(
        await api.call('PUT', `/idps/${id}`, oidc({ protocol: absent })),
        400,
        'protocol.credentials.client.client_secret: is required',
      );
    });
  });

  describe('refuses with the name of the field', () => {
    const LOOPBACK = 'must use https, or http on a loopback address';
    const client = (fields: Changes) => ({ protocol: { credentials: { client: fields } } });
    const provisioning = (fields: Changes) => ({ policy: { provisioning: fields } });
    const subject = (fields: Changes) => ({ policy: { subject: fields } });
    const parameters = (authorizationParameters: Changes) => ({ protocol: { settings: { authorizationParameters } } });
    const github = { type: 'GITHUB', protocol: { issuer: undefined } };
    const cases: [field: string, message: string, changes: Changes][] = [
      ['name', 'must not be empty', { name: ' ' }],
      ['name', 'must have at most 255 characters', { name: 'x'.repeat(10_000) }],
      ['name', 'must not contain control characters', { name: 'a\u0007b' }],
      ['type', 'must be OIDC or GOOGLE or GITHUB or MICROSOFT', { type: 'SAML2' }],
      ['protocol', 'is required', { protocol: undefined }],
      ['protocol.type', 'must be OIDC with type OIDC', { protocol: { type: 'OAUTH2' } }],
      ['protocol.type', 'must be OAUTH2 with type GITHUB', changed(github, { protocol: { type: 'OIDC' } })],
      ['protocol.issuer', 'is required with type OIDC', { protocol: { issuer: undefined } }],
      ['protocol.issuer', 'cannot be used with type GITHUB', { type: 'GITHUB' }],
      ['protocol.issuer.url', LOOPBACK, { protocol: { issuer: { url: 'http://idp.example' } } }],
      ['protocol.issuer.url', LOOPBACK, { protocol: { issuer: { url: 'http://192.168.1.1' } } }],
      ['protocol.issuer.url', 'must not have a query', { protocol: { issuer: { url: 'https://idp.example?a=b' } } }],
      ['protocol.issuer.url', 'must not have a fragment', { protocol: { issuer: { url: 'https://idp.example/#a' } } }],
      ['protocol.issuer.url', 'must be an absolute URI', { protocol: { issuer: { url: 'idp.example' } } }],
      ['protocol.issuer.url', 'must not contain a user name or password', { protocol: { issuer: { url: 'https://a:b@idp.example' } } }],
      [
        'protocol.endpoints.token.url',
        LOOPBACK,
        { protocol: { endpoints: { ...endpoints, jwks, token: { url: 'http://idp.example/token' } } } },
      ],
      [
        'protocol.endpoints.userInfo.url',
        LOOPBACK,
        { protocol: { endpoints: { ...endpoints, jwks, userInfo: { url: 'ftp://idp.example' } } } },
      ],
      ['protocol.endpoints.jwks', 'is required if endpoints is set', { protocol: { endpoints } }],
      [
        'protocol.endpoints.userInfo',
        'is required if endpoints is set',
        changed(github, { protocol: { endpoints: { authorization: endpoints.authorization, token: endpoints.token } } }),
      ],
      ['protocol.endpoints.jwks', 'cannot be used with type GITHUB', changed(github, { protocol: { endpoints: { ...endpoints, jwks } } })],
      ['protocol.scopes', 'must include openid', { protocol: { scopes: ['email'] } }],
      ['protocol.scopes', 'must not be empty', { protocol: { scopes: [] } }],
      [
        'protocol.scopes.0',
        'must be a scope: printable ASCII without spaces, quotes and backslashes',
        { protocol: { scopes: ['openid email'] } },
      ],
      ['protocol.credentials.client.client_id', 'is required', client({ client_id: undefined })],
      ['protocol.credentials.client.client_secret', 'must be printable ASCII', client({ client_secret: 'a\nb' })],
      ['protocol.credentials.client.pkce_required', 'must be true', client({ pkce_required: false })],
      ['protocol.settings.authorizationParameters.state', 'is set by the service. Remove it', parameters({ state: 'x' })],
      ['protocol.settings.authorizationParameters.redirect_uri', 'is set by the service. Remove it', parameters({ redirect_uri: 'x' })],
      [
        'protocol.settings.authorizationParameters.a&state',
        'must have a name of 1 to 100 letters, digits, dots, underscores and hyphens',
        parameters({ 'a&state': 'x' }),
      ],
      ['protocol.settings.authorizationParameters.hd', 'must not contain control characters', parameters({ hd: 'a\r\nb' })],
      ['policy.provisioning.orgId', 'does not exist', provisioning({ orgId: 'org_unknown' })],
      ['policy.provisioning.groups.assignments', 'is required with action ASSIGN', provisioning({ groups: { action: 'ASSIGN' } })],
      ['policy.provisioning.groups.assignments', 'cannot be used with action NONE', provisioning({ groups: { assignments: ['grp_1'] } })],
      [
        'policy.provisioning.groups.assignments',
        'grp_unknown does not exist',
        provisioning({ groups: { action: 'ASSIGN', assignments: ['grp_unknown'] } }),
      ],
      [
        'policy.accountLink.filter.groups.include',
        'grp_unknown does not exist',
        { policy: { accountLink: { filter: { groups: { include: ['grp_unknown'] } } } } },
      ],
      ['policy.accountLink.action', 'must be AUTO or DISABLED', { policy: { accountLink: { action: 'ALWAYS' } } }],
      [
        'policy.subject.userNameTemplate.template',
        'must be idpuser. and a claim name, such as idpuser.email',
        subject({ userNameTemplate: { template: 'user.login' } }),
      ],
      ['policy.subject.emailDomains.0', 'must be a domain, such as example.com', subject({ emailDomains: ['@example.com'] })],
      ['policy.attributeMap', 'favouriteColour is not an attribute of users', { policy: { attributeMap: { favouriteColour: 'colour' } } }],
      ['policy.attributeMap', 'login is not an attribute of users', { policy: { attributeMap: { login: 'sub' } } }],
      ['policy.attributeMap.a b', 'must be the name of an attribute', { policy: { attributeMap: { 'a b': 'sub' } } }],
      ['policy.attributeMap.email', 'must not be empty', { policy: { attributeMap: { email: '' } } }],
      ['policy.maxClockSkew', 'must be at most 300000', { policy: { maxClockSkew: 300_001 } }],
      ['protocol.algorithms.token', 'is not a field of this resource', { protocol: { algorithms: { token: {} } } }],
    ];
    for (const [field, message, changes] of cases) {
      it(`${field}: ${message} (${JSON.stringify(changes).slice(0, 60)})`, async () => {
        isRefused(await api.call('POST', '/idps', oidc(changes)), 400, `${field}: ${message}`);
      });
    }

    it('what JavaScript would take for a prototype', async () => {
      const body = JSON.stringify(oidc({ policy: { attributeMap: { email: 'email' } } }));
      const { status } = await api.call('POST', '/idps', body.replace('"email":"email"', '"__proto__":{"admin":"x"}'));
      assert.equal(status, 400);
    });
  });

  it('lets http go to this machine, as other outbound addresses do', async () => {
    const { protocol } = await create({ protocol: { issuer: { url: 'http://127.0.0.1:4711' } } });
    assert.deepEqual(protocol.issuer, { url: 'http://127.0.0.1:4711' });
  });

  it('lets one of twenty have a name, at creation and at renaming', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', '/idps', oidc({ name: 'Wanted' }))));
    assert.deepEqual(made.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    const others: Idp[] = [];
    for (let index = 0; index < 20; index += 1) others.push(await create());
    const renamed = await Promise.all(others.map(({ id }) => api.call('PUT', `/idps/${id}`, oidc({ name: 'Coveted' }))));
    assert.deepEqual(renamed.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    const refused = renamed.find(({ status }) => status === 409);
    assert(refused);
    assert.equal(refused.body.errorCode, 'E0000014');
    isRefused(refused, 409, 'name: another identity provider has this name. Choose another name');
  });

  for (const name of ['<script>alert(1)</script>', 'مزوّد الهوية', '\u202eabc\u202c', "'; DROP TABLE users; --", '%_\\', 'x'.repeat(255)]) {
    it(`takes the name ${JSON.stringify(name.slice(0, 30))} as it is, and finds it by it`, async () => {
      const made = await create({ name, protocol: { credentials: { client: { client_id: name } } } });
      assert.deepEqual([made.name, made.protocol.credentials.client.client_id], [name, name]);
      const { body } = await api.call<Idp[]>('GET', `/idps?q=${encodeURIComponent(name)}`);
      assert.deepEqual(
        body.map(({ id }) => id),
        [made.id],
      );
    });
  }

  it('lists the oldest first in pages, by the beginning of the name and by type', async () => {
    const made: Idp[] = [];
    for (const name of ['List A', 'List B', 'LIST C']) made.push(await create({ name }));
    const google = await create({ name: 'List D', type: 'GOOGLE', protocol: { issuer: undefined } });
    const ids = ({ body }: Answer<Idp[]>) => body.map(({ id }) => id);
    const first = await api.call<Idp[]>('GET', '/idps?q=list&limit=3');
    assert.deepEqual(
      ids(first),
      made.map(({ id }) => id),
    );
    const second = await api.call<Idp[]>('GET', nextPage(first));
    assert.deepEqual([ids(second), second.headers.get('link')], [[google.id], null]);
    assert.deepEqual(ids(await api.call<Idp[]>('GET', '/idps?q=list&type=GOOGLE')), [google.id]);
    isRefused(await api.call('GET', '/idps?type=SAML2'), 400, 'type: must be OIDC or GOOGLE or GITHUB or MICROSOFT');
  });

  it('is made once by a call that is repeated with its Idempotency-Key', async () => {
    const body = oidc();
    const again = () => api.call<Idp>('POST', '/idps', body, { 'idempotency-key': 'an-idp' });
    const [one, other] = [await again(), await again()];
    assert.deepEqual([one.status, other.status, other.body], [200, 200, one.body]);
    assert.equal(other.headers.get('idempotency-replayed'), 'true');
  });

  it('is activated, deactivated and deleted, each told once, before and after', async () => {
    const made = await create();
    const step = async (verb: string) => (await api.call<Idp>('POST', `/idps/${made.id}/lifecycle/${verb}`)).body.status;
    assert.deepEqual([await step('deactivate'), await step('deactivate')], ['INACTIVE', 'INACTIVE']);
    assert.equal((await read(made.id)).status, 'INACTIVE');
    assert.equal(await step('activate'), 'ACTIVE');
    assert.equal((await api.call('DELETE', `/idps/${made.id}`)).status, 204);
    for (const [method, body] of [['GET'], ['PUT', oidc()], ['DELETE']] as const) {
      assert.equal((await api.call(method, `/idps/${made.id}`, body)).status, 404, method);
    }
    const events = await eventsOf(api, made.id);
    assert.deepEqual(
      events.map(([type]) => type.replace('system.idp.lifecycle.', '')),
      ['create', 'deactivate', 'activate', 'delete'],
    );
    assert.deepEqual(events[1]?.slice(1), [{ status: 'ACTIVE' }, { status: 'INACTIVE' }]);
    assert.deepEqual(events[3]?.[1], { ...(events[0]?.[2] as object), linkedUsers: 0 });
  });

  it('is what it is: its type does not change, and a change is told before and after', async () => {
    const made = await create();
    isRefused(await api.call('PUT', `/idps/${made.id}`, oidc({ type: 'GOOGLE' })), 400, 'type: cannot be changed');
    const wanted = oidc({ policy: { provisioning: { action: 'AUTO' } } });
    assert.equal((await api.call('PUT', `/idps/${made.id}`, wanted)).status, 200);
    const [, update] = await eventsOf(api, made.id);
    assert(update);
    const [type, before, after] = update as [string, Changes, Changes];
    assert.deepEqual([type, before.name, after.name], ['system.idp.lifecycle.update', made.name, wanted.name]);
    const actionOf = (event: Changes) => (event.policy as { provisioning: { action: string } }).provisioning.action;
    assert.deepEqual([actionOf(before), actionOf(after)], ['DISABLED', 'AUTO']);
  });

  describe('users', () => {
    const link = (id: string, userId: string, externalId: string) =>
      api.call<Changes>('POST', `/idps/${id}/users/${userId}`, { externalId });

    it('are linked, read, listed and unlinked', async () => {
      const { id } = await create();
      const [ada, grace] = [await createUser('link-ada'), await createUser('link-grace')];
      const linked = await link(id, 'link-ada', 'subject-1');
      const url = `${api.services.config.baseUrl}/api/v1`;
      assert.deepEqual(linked.body, {
        id: ada,
        externalId: 'subject-1',
        created: linked.body.created,
        lastUpdated: linked.body.created,
        _links: {
          self: { href: `${url}/idps/${id}/users/${ada}` },
          idp: { href: `${url}/idps/${id}` },
          user: { href: `${url}/users/${ada}` },
        },
      });
      assert.deepEqual((await link(id, ada, 'subject-1')).body, linked.body, 'who is linked so stays it');
      await link(id, grace, '<b>subject</b> ابجد');
      assert.deepEqual((await api.call('GET', `/idps/${id}/users/${ada}`)).body, linked.body);
      const first = await api.call<Changes[]>('GET', `/idps/${id}/users?limit=1`);
      const second = await api.call<Changes[]>('GET', nextPage(first));
      assert.deepEqual(
        [...first.body, ...second.body].map((one) => [one.id, one.externalId]),
        [
          [ada, 'subject-1'],
          [grace, '<b>subject</b> ابجد'],
        ],
      );
      assert.equal((await api.call('DELETE', `/idps/${id}/users/${ada}`)).status, 204);
      assert.equal((await api.call('DELETE', `/idps/${id}/users/${ada}`)).status, 404);
      const told = (await eventsOf(api, ada)).filter(([type]) => type.startsWith('user.identity_provider.'));
      const facts = { idpId: id, userId: ada, externalId: 'subject-1' };
      assert.deepEqual(told, [
        ['user.identity_provider.link', undefined, facts],
        ['user.identity_provider.unlink', facts, undefined],
      ]);
    });

    it('are one subject each, and a subject is one user, of twenty at once', async () => {
      const { id } = await create();
      const users = await Promise.all(Array.from({ length: 20 }, (_, index) => createUser(`many-${index}`)));
      const tried = await Promise.all(users.map((user) => link(id, user, 'one subject')));
      assert.deepEqual(tried.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
      const user = await createUser('one-user');
      const subjects = await Promise.all(users.map((_, index) => link(id, user, `subject ${index}`)));
      assert.deepEqual(subjects.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
    });

    it('keep the issuer from change, whose subjects are other people; without them it may change', async () => {
      const { id } = await create();
      const user = await createUser('kept');
      await link(id, user, 'subject');
      const elsewhere = oidc({ protocol: { issuer: { url: 'https://other.example' } } });
      const refused = await api.call('PUT', `/idps/${id}`, elsewhere);
      assert.deepEqual([refused.status, refused.body.errorCode], [403, 'E0000038']);
      assert.equal((await api.call('PUT', `/idps/${id}`, oidc({ protocol: { endpoints: { ...endpoints, jwks } } }))).status, 200);
      await api.call('DELETE', `/idps/${id}/users/${user}`);
      assert.equal((await api.call('PUT', `/idps/${id}`, elsewhere)).status, 200);
    });

    it('of OAuth 2.0 keep the address that says who they are', async () => {
      const { id } = await create({ type: 'GITHUB', protocol: { issuer: undefined } });
      const user = await createUser('hubber');
      await link(id, user, '4711');
      const refused = await api.call('PUT', `/idps/${id}`, oidc({ type: 'GITHUB', protocol: { issuer: undefined, endpoints } }));
      assert.deepEqual([refused.status, refused.body.errorCode], [403, 'E0000038']);
    });

    it('stay when the provider is deleted, and their links go with whichever end goes', async () => {
      const [one, other] = [await create(), await create()];
      const [ada, grace] = [await createUser('goes'), await createUser('stays')];
      for (const user of [ada, grace]) await link(one.id, user, user);
      for (const _ of [1, 2]) assert.equal((await api.call('DELETE', `/users/${ada}`)).status, 204);
      const { body } = await api.call<Changes[]>('GET', `/idps/${one.id}/users`);
      assert.deepEqual(
        body.map(({ id }) => id),
        [grace],
      );
      assert.equal((await link(other.id, ada, 'x')).status, 404);
      assert.equal((await api.call('DELETE', `/idps/${one.id}`)).status, 204);
      assert.equal((await api.call('GET', `/users/${grace}`)).status, 200);
      const deleted = (await eventsOf(api, one.id)).find(([type]) => type === 'system.idp.lifecycle.delete');
      assert.deepEqual(deleted?.[1], { ...(deleted?.[1] as object), linkedUsers: 1 });
      const left = await api.services.database.knex('identity_provider_links').where({ idp_id: one.id });
      assert.deepEqual(left, []);
    });
  });
});
