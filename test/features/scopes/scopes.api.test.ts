import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { rememberConsent } from '../../../src/features/consents/consents.service.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Scope {
  id: string;
  name: string;
  displayName: string;
  description: string;
  consent: string;
  default: boolean;
  optional: boolean;
  system: boolean;
  metadataPublish: string;
}

describe('authorizationServers/{id}/scopes (management API, "Resources"; Okta’s OAuth2Scope)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());
  const server = async (name: string): Promise<string> => {
    const { body } = await api.call<{ id: string }>('POST', '/authorizationServers', { name, signingAlg: 'ES256' });
    return `/authorizationServers/${body.id}/scopes`;
  };
  const standard = async (path: string, name: string): Promise<Scope> => {
    const { body } = await api.call<Scope[]>('GET', `${path}?q=${name}`);
    return body.find((scope) => scope.name === name) ?? assert.fail(name);
  };
  const lastEvent = async (type: string) => {
    const { body } = await api.call<{ debugContext: Record<string, unknown>; target: unknown[] }[]>(
      'GET',
      `/logs?filter=${encodeURIComponent(`eventType eq "${type}"`)}&sortOrder=DESCENDING&limit=1`,
    );
    return body[0];
  };

  it('creates with defaults, reads, lists, replaces and deletes, each change with its audit event', async () => {
    const path = await server('Scopes');
    const created = await api.call<Scope>('POST', path, { name: 'orders:read' });
    assert.equal(created.status, 201);
    const { id, ...rest } = created.body;
    const settings = {
      name: 'orders:read',
      displayName: '',
      consent: 'IMPLICIT',
      optional: false,
      system: false,
      metadataPublish: 'ALL_CLIENTS',
      translations: {},
    };
    const _links = { self: { href: `${api.services.config.baseUrl}/api/v1${path}/${id}` } };
    assert.deepEqual(rest, { ...settings, default: false, _links });
    assert.deepEqual((await lastEvent('oauth2.scope.created'))?.debugContext, {
      after: { id, ...settings, description: '', isDefault: false },
    });
    assert.deepEqual((await api.call('GET', `${path}/${id}`)).body, created.body);
    assert.deepEqual((await api.call<Scope[]>('GET', path)).body.at(-1), created.body);

    const changed = {
      name: 'orders',
      displayName: '<b>Orders</b>',
      description: 'طلبات',
      consent: 'REQUIRED',
      default: true,
      optional: true,
      metadataPublish: 'NO_CLIENTS',
      translations: { de: { displayName: 'Bestellungen', description: 'Alle Bestellungen' }, 'zh-Hans': { displayName: '订单' } },
    };
    const replaced = await api.call<Scope>('PUT', `${path}/${id}`, { ...created.body, ...changed });
    assert.equal(replaced.status, 200);
    assert.deepEqual(replaced.body, { ...created.body, ...changed });
    const { default: isDefault, ...others } = changed;
    assert.deepEqual((await lastEvent('oauth2.scope.updated'))?.debugContext, {
      before: { id, ...settings, description: '', isDefault: false },
      after: { id, ...settings, ...others, isDefault },
    });

    assert.equal((await api.call('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await api.call('GET', `${path}/${id}`)).status, 404);
    assert.deepEqual((await lastEvent('oauth2.scope.deleted'))?.target, [{ id, type: 'OAuth2Scope', displayName: 'orders' }]);
  });

  it('takes the characters of RFC 6749 section 3.3 and tells every field that is not valid', async () => {
    const path = await server('Names');
    for (const name of ['a', "!#[]^~'", 'https://example.com/read'])
      assert.equal((await api.call('POST', path, { name })).status, 201, name);
    for (const name of ['', 'a b', 'a"b', 'a\\b', 'ä', 'a\u0000', '*', 'x'.repeat(10_000)]) {
      const answer = await api.call('POST', path, { name });
      assert.deepEqual([answer.status, causes(answer)[0]?.split(':')[0]], [400, 'name'], name.slice(0, 20));
    }
    const wrong: readonly [Record<string, unknown>, string][] = [
      [{ consent: 'ADMIN' }, 'consent: must be IMPLICIT or REQUIRED or FLEXIBLE'],
      [{ metadataPublish: 'SOME' }, 'metadataPublish: must be NO_CLIENTS or ALL_CLIENTS'],
      [{ default: 'yes' }, 'default: must be of type boolean'],
      [{ displayName: 'a\u0007' }, 'displayName: must not contain control characters'],
      [{ translations: { fr: {} } }, 'translations.fr: is not a field of this resource'],
      [{ translations: { de: { displayName: 'a\u0007' } } }, 'translations.de.displayName: must not contain control characters'],
      [{ colour: 'red' }, 'colour: is not a field of this resource'],
    ];
    for (const [fields, cause] of wrong) assert.deepEqual(causes(await api.call('POST', path, { name: 'new', ...fields })), [cause]);
  });

  it('changes a standard scope in all but its name, `openid` in its consent neither, and deletes none', async () => {
    const path = await server('Standard');
    const email = await standard(path, 'email');
    const changed = await api.call<Scope>('PUT', `${path}/${email.id}`, {
      ...email,
      consent: 'REQUIRED',
      displayName: 'Mail',
      optional: true,
    });
    assert.deepEqual(
      [changed.status, changed.body.consent, changed.body.displayName, changed.body.system],
      [200, 'REQUIRED', 'Mail', true],
    );
    const openid = await standard(path, 'openid');
    assert.equal((await api.call('PUT', `${path}/${openid.id}`, { ...openid, displayName: 'You' })).status, 200);
    for (const [method, scope, body] of [
      ['PUT', email, { ...email, name: 'mail' }],
      ['PUT', openid, { ...openid, consent: 'REQUIRED' }],
      ['DELETE', email, undefined],
    ] as const) {
      const answer = await api.call(method, `${path}/${scope.id}`, body);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038'], `${method} ${scope.name}`);
    }
    assert.equal((await api.call<Scope>('GET', `${path}/${openid.id}`)).body.consent, 'IMPLICIT');
  });

  it('changes of the built-in server’s scopes the consent alone', async () => {
    const path = '/authorizationServers/built-in/scopes';
    // The API alone has no servers; the first start makes this one.
    const { seedAuthorizationServer } = await import('../../../src/features/authorization-servers/authorization-servers.service.ts');
    const scopes = ['email', 'openid'].map((name) => ({ name, displayName: name, description: '' }));
    await seedAuthorizationServer(api.services, { id: 'built-in', name: 'Built-in', system: true, scopes }, SYSTEM);
    const [email, openid] = [await standard(path, 'email'), await standard(path, 'openid')];
    for (const [method, at, body] of [
      ['POST', path, { name: 'mine' }],
      ['PUT', `${path}/${email.id}`, { ...email, displayName: 'Mail' }],
      ['PUT', `${path}/${email.id}`, { ...email, metadataPublish: 'NO_CLIENTS' }],
      ['PUT', `${path}/${openid.id}`, { ...openid, consent: 'REQUIRED' }],
      ['DELETE', `${path}/${email.id}`, undefined],
    ] as const) {
      const answer = await api.call(method, at, body);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038'], method);
    }
    const changed = await api.call<Scope>('PUT', `${path}/${email.id}`, { ...email, consent: 'REQUIRED' });
    assert.deepEqual([changed.status, changed.body.consent], [200, 'REQUIRED']);
    const claim = { name: 'plan', claimType: 'RESOURCE', valueType: 'STATIC', value: 'gold' };
    const answer = await api.call('POST', '/authorizationServers/built-in/claims', claim);
    assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
  });

  it('neither deletes nor renames what a claim or a rule names', async () => {
    const path = await server('Named');
    const { body: scope } = await api.call<Scope>('POST', path, { name: 'orders' });
    const claims = path.replace('/scopes', '/claims');
    const { body: claim } = await api.call<{ id: string }>('POST', claims, {
      name: 'plan',
      claimType: 'RESOURCE',
      valueType: 'STATIC',
      value: 'gold',
      conditions: { scopes: ['orders'] },
    });
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { ...scope, name: 'purchases' }],
    ] as const) {
      const answer = await api.call(method, `${path}/${scope.id}`, body);
      assert.deepEqual([answer.status, ...causes(answer)], [409, 'name: is used in conditions: claim plan. Remove it there first']);
    }
    assert.equal((await api.call('PUT', `${path}/${scope.id}`, { ...scope, consent: 'REQUIRED' })).status, 200, 'anything else may change');
    await api.call('DELETE', `${claims}/${claim.id}`);

    const { knex } = api.services.database;
    const conditions = { scopes: { include: ['orders', 'email'] } };
    const rules = () =>
      knex('policy_rules').whereIn(
        'policy_id',
        knex('policies')
          .select('id')
          .where({ server_id: path.split('/')[2] }),
      );
    await rules().update({ name: 'Shop', conditions });
    assert.deepEqual(causes(await api.call('DELETE', `${path}/${scope.id}`)), [
      'name: is used in conditions: rule Shop. Remove it there first',
    ]);
    await rules().update({ conditions: {} });
    assert.equal((await api.call('DELETE', `${path}/${scope.id}`)).status, 204);
  });

  it('of a claim that comes to name a scope and the deletion of that scope, one succeeds', async () => {
    const path = await server('Race');
    for (let turn = 0; turn < 10; turn += 1) {
      const { body: scope } = await api.call<Scope>('POST', path, { name: `scope-${turn}` });
      const claim = { name: `claim-${turn}`, claimType: 'RESOURCE', valueType: 'STATIC', value: 'x', conditions: { scopes: [scope.name] } };
      const [made, gone] = await Promise.all([
        api.call('POST', path.replace('/scopes', '/claims'), claim),
        api.call('DELETE', `${path}/${scope.id}`),
      ]);
      assert.ok((made.status === 201) !== (gone.status === 204), `${made.status} ${gone.status}`);
    }
  });

  it('of ten rules that come to name a scope and ten deletions of it at once, either all rules are made or one deletion', async () => {
    const path = await server('Races');
    const policies = path.replace('/scopes', '/policies');
    const { body: found } = await api.call<{ id: string }[]>('GET', policies);
    const outcomes = new Set<string>();
    for (let turn = 0; turn < 6; turn += 1) {
      const { body: scope } = await api.call<Scope>('POST', path, { name: `scope-${turn}` });
      const conditions = { scopes: { include: [scope.name] } };
      const make = () =>
        Array.from({ length: 10 }, (_, ask) =>
          api.call('POST', `${policies}/${found[0]?.id}/rules`, { name: `rule-${turn}-${ask}`, conditions }),
        );
      const remove = () => Array.from({ length: 10 }, () => api.call('DELETE', `${path}/${scope.id}`));
      // All at once, or the others when the first rule or deletion is there.
      const [begun, others] = turn % 2 === 0 ? [make, remove] : [remove, make];
      const first = begun();
      if (turn >= 2) await Promise.race(first);
      const statuses = (await Promise.all([...first, ...others()])).map(({ status }) => status).sort();
      const [rules, deletion] = [
        [...Array(10).fill(201), ...Array(10).fill(409)],
        [204, ...Array(10).fill(400), ...Array(9).fill(404)],
      ];
      const outcome = [rules, deletion].find((expected) => expected.join() === statuses.join());
      assert.ok(outcome, statuses.join());
      outcomes.add(outcome === rules ? 'rules' : 'deletion');
    }
    assert.equal(outcomes.size, 2, 'both happen');
  });

  it('forgets with a scope what users allowed of it', async () => {
    const path = await server('Consents');
    const serverId = path.split('/')[2] ?? '';
    const { body: user } = await api.call<{ id: string }>('POST', '/users', { profile: { login: 'consenting' } });
    const redirects = { settings: { oauthClient: { redirect_uris: ['https://app.example/callback'] } } };
    const { body: app } = await api.call<{ id: string }>('POST', '/apps', { label: 'Consenting', ...redirects });
    const key = { userId: user.id, applicationId: app.id, serverId };
    for (const change of ['delete', 'rename'] as const) {
      const { body: scope } = await api.call<Scope>('POST', path, { name: `orders-${change}`, consent: 'REQUIRED' });
      await rememberConsent(api.services, key, { requested: [scope.name, 'email'], allowed: [scope.name, 'email'] }, SYSTEM);
      if (change === 'delete') await api.call('DELETE', `${path}/${scope.id}`);
      else await api.call('PUT', `${path}/${scope.id}`, { ...scope, name: 'purchases' });
      const { body: grants } = await api.call<{ scopeId?: string; scope?: string }[]>('GET', `/users/${user.id}/grants`);
      assert.ok(!JSON.stringify(grants).includes(scope.name), change);
      assert.ok(JSON.stringify(grants).includes('email'));
    }
  });

  it('has one scope of a name: of twenty at once one is created, and no other is renamed to it', async () => {
    const path = await server('Conflict');
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call<Scope & ErrorObject>('POST', path, { name: 'orders' })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
    const { body } = await api.call<Scope>('POST', path, { name: 'other' });
    const renamed = await api.call('PUT', `${path}/${body.id}`, { ...body, name: 'orders' });
    assert.deepEqual(
      [renamed.status, ...causes(renamed)],
      [409, 'name: another scope of this authorization server has this name. Choose another name'],
    );
  });

  it('knows neither the scope of another server nor an unknown server', async () => {
    const path = await server('Mine');
    const other = await server('Other');
    const { body } = await api.call<Scope>('POST', path, { name: 'orders' });
    for (const [method, at] of [
      ['GET', `${other}/${body.id}`],
      ['PUT', `${other}/${body.id}`],
      ['DELETE', `${other}/${body.id}`],
      ['GET', '/authorizationServers/nowhere/scopes'],
      ['POST', '/authorizationServers/nowhere/scopes'],
    ] as const) {
      const answer = await api.call(method, at, method === 'GET' || method === 'DELETE' ? undefined : { name: 'x' });
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007'], `${method} ${at}`);
    }
  });

  it('lists in pages, and those of whose names q is a part', async () => {
    const path = await server('Pages');
    const first = await api.call<Scope[]>('GET', `${path}?limit=5`);
    assert.deepEqual(
      first.body.map(({ name }) => name),
      ['openid', 'profile', 'email', 'address', 'phone'],
    );
    const next = /after=([\w.-]+)/.exec(first.headers.get('link') ?? '')?.[1];
    assert.deepEqual(
      (await api.call<Scope[]>('GET', `${path}?after=${next}`)).body.map(({ name }) => name),
      ['offline_access', 'groups', 'organization'],
    );
    assert.deepEqual(
      (await api.call<Scope[]>('GET', `${path}?q=P`)).body.map(({ name }) => name),
      ['openid', 'profile', 'address', 'phone', 'groups'],
    );
    assert.deepEqual((await api.call<Scope[]>('GET', `${path}?q=%25`)).body, []);
  });
});
