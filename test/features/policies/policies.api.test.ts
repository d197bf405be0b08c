/** Access policies and their rules by the management API: order, names, who may be named, and what becomes of them when what they name goes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { seedAuthorizationServer } from '../../../src/features/authorization-servers/authorization-servers.service.ts';
import { type Make, makeWith } from '../../api/stories.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Placed {
  id: string;
  type: string;
  name: string;
  priority: number;
  status: string;
  system: boolean;
  created: string;
  lastUpdated: string;
  conditions: Record<string, unknown>;
  _links: Record<string, { href: string; hints?: unknown }>;
}
interface Policy extends Placed {
  description: string;
}
interface Rule extends Placed {
  actions: Record<string, unknown>;
}

const forAll = { clients: { include: ['ALL_CLIENTS'] } };

describe('policies and rules of an authorization server (management API, "Resources")', () => {
  let api: ManagementApi;
  let make: Make;
  before(async () => {
    api = await startManagementApi();
    make = makeWith(api);
  });
  after(() => api.close());

  const at = async (): Promise<string> => `/authorizationServers/${await make.server()}/policies`;
  const atRules = async (): Promise<string> => {
    const path = await at();
    return `${path}/${(await make.call('POST', path, { name: 'P', conditions: forAll })).id}/rules`;
  };
  const order = async (path: string): Promise<[string, number][]> =>
    (await api.call<Placed[]>('GET', path)).body.map(({ name, priority }): [string, number] => [name, priority]);
  const lastEvent = async (eventType: string) => {
    const found = await api.call<{ target: { id: string }[]; debugContext: { before?: unknown; after?: unknown } }[]>(
      'GET',
      `/logs?filter=${encodeURIComponent(`eventType eq "${eventType}"`)}&sortOrder=DESCENDING&limit=1`,
    );
    return found.body[0];
  };
  const refused = async (method: string, path: string, body: unknown, expected: readonly string[]) => {
    const answer = await api.call(method, path, body);
    assert.deepEqual([answer.status, causes(answer)], [400, expected], JSON.stringify(answer.body));
  };

  it('begins with one policy and one rule that allow everything', async () => {
    const path = await at();
    const [policy, ...others] = (await api.call<Policy[]>('GET', path)).body;
    assert.deepEqual([policy?.name, policy?.priority, policy?.conditions, policy?.system, others], ['Everything', 1, forAll, false, []]);
    const rules = (await api.call<Rule[]>('GET', `${path}/${policy?.id}/rules`)).body;
    assert.deepEqual(
      rules.map(({ name, priority, conditions, actions }) => [name, priority, conditions, actions]),
      [['Everyone', 1, {}, {}]],
    );
  });

  it('creates a policy in Okta’s shape, answers it as it was answered, and keeps it in the audit log', async () => {
    const [path, app] = [await at(), await make.app()];
    const given = {
      type: 'OAUTH_AUTHORIZATION_POLICY',
      name: '<b>Mobile</b> ‮سياسة',
      description: 'For phones',
      status: 'INACTIVE',
      conditions: { clients: { include: [app, app] } },
    };
    const { status, body } = await api.call<Policy>('POST', path, given);
    assert.equal(status, 201);
    assert.match(body.id, /^pol/);
    const { name, description, conditions, priority, type, system } = body;
    assert.deepEqual(
      { name, description, conditions, priority, type, system, status: body.status },
      { ...given, priority: 2, system: false, conditions: { clients: { include: [app] } } },
    );
    const href = `${api.services.config.baseUrl}/api/v1${path}/${body.id}`;
    assert.deepEqual(body._links, {
      self: { href },
      activate: { href: `${href}/lifecycle/activate`, hints: { allow: ['POST'] } },
      rules: { href: `${href}/rules` },
    });
    assert.deepEqual((await api.call('GET', `${path}/${body.id}`)).body, body);
    const event = await lastEvent('policy.lifecycle.create');
    assert.equal(event?.target[0]?.id, body.id);
    assert.deepEqual(event?.debugContext, { after: { name, description, priority: 2, status: 'INACTIVE', clients: [app] } });
  });

  it('creates a rule in Okta’s shape and answers it as it was answered', async () => {
    const [path, user, group] = [await atRules(), await make.user(), await make.group()];
    const given = {
      type: 'RESOURCE_ACCESS',
      name: 'Staff',
      conditions: {
        people: { users: { include: [user] }, groups: { include: [group, 'EVERYONE'] } },
        grantTypes: { include: ['authorization_code', '*'] },
        scopes: { include: ['openid', '*'] },
      },
      actions: { token: { accessTokenLifetimeMinutes: 1440, refreshTokenLifetimeMinutes: 0, refreshTokenWindowMinutes: 5_256_000 } },
    };
    const { status, body } = await api.call<Rule>('POST', path, given);
    assert.equal(status, 201);
    const { type, name, conditions, actions } = body;
    assert.deepEqual({ type, name, conditions, actions }, given);
    assert.deepEqual([body.priority, body.status, body.system], [1, 'ACTIVE', false]);
    assert.deepEqual(Object.keys(body._links).sort(), ['deactivate', 'self']);
    assert.deepEqual((await api.call('GET', `${path}/${body.id}`)).body, body);
    const event = await lastEvent('policy.rule.add');
    assert.deepEqual(event?.debugContext, { after: { name, priority: 1, status: 'ACTIVE', conditions, actions } });
  });

  for (const [what, begin, body] of [
    ['policies', async () => await at(), { conditions: forAll }],
    ['rules', async () => await atRules(), { conditions: {} }],
  ] as const) {
    it(`orders ${what} from 1 on without gaps: the last unless placed, those behind move on and up again`, async () => {
      const path = await begin();
      for (const { id } of (await api.call<Placed[]>('GET', path)).body) await make.call('DELETE', `${path}/${id}`);
      const create = async (name: string, priority?: number) =>
        (await make.call('POST', path, { name, ...body, ...(priority !== undefined && { priority }) })) as unknown as Placed;
      const a = await create('a');
      const b = await create('b', 7);
      const c = await create('c', 1);
      assert.deepEqual([a.priority, b.priority, c.priority], [1, 2, 1]);
      assert.deepEqual(await order(path), [
        ['c', 1],
        ['a', 2],
        ['b', 3],
      ]);
      const moved = await api.call<Placed>('PUT', `${path}/${c.id}`, { name: 'c', ...body, priority: 2 });
      assert.equal(moved.body.priority, 2);
      const kept = await api.call<Placed>('PUT', `${path}/${c.id}`, { name: 'C', ...body });
      assert.equal(kept.body.priority, 2);
      assert.deepEqual(await order(path), [
        ['a', 1],
        ['C', 2],
        ['b', 3],
      ]);
      await make.call('DELETE', `${path}/${a.id}`);
      assert.deepEqual(await order(path), [
        ['C', 1],
        ['b', 2],
      ]);
      await refused('POST', path, { name: 'z', ...body, priority: 0 }, ['priority: must be at least 1']);
    });

    it(`gives twenty ${what} that are created at once a proper order, each at the place that it asked for when its turn came`, async () => {
      const path = await begin();
      for (const { id } of (await api.call<Placed[]>('GET', path)).body) await make.call('DELETE', `${path}/${id}`);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, turn) => api.call<Placed>('POST', path, { name: `n${turn}`, ...body, priority: 1 })),
      );
      assert.ok(answers.every(({ status, body: { priority } }) => status === 201 && priority === 1));
      const created = (await order(path)).map(([, priority]) => priority);
      assert.deepEqual(
        created,
        Array.from({ length: 20 }, (_, turn) => turn + 1),
      );
      await Promise.all(answers.map(({ body: { id } }, turn) => turn % 2 === 0 && api.call('DELETE', `${path}/${id}`)));
      assert.deepEqual(
        (await order(path)).map(([, priority]) => priority),
        Array.from({ length: 10 }, (_, turn) => turn + 1),
      );
    });

    it(`has no two ${what} of one name: 409, also for twenty at once`, async () => {
      const path = await begin();
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', path, { name: 'Same', ...body })));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      const other = await make.call('POST', path, { name: 'Other', ...body });
      for (const answer of [
        answers.find(({ status }) => status !== 201),
        await api.call('PUT', `${path}/${other.id}`, { name: 'Same', ...body }),
      ]) {
        assert.deepEqual([answer?.status, answer?.body.errorCode, answer && causes(answer)[0]?.split(':')[0]], [409, 'E0000014', 'name']);
      }
      assert.equal((await api.call<Placed>('GET', `${path}/${other.id}`)).body.name, 'Other');
    });

    it(`activates, deactivates, replaces and deletes ${what}, each change with before and after in the audit log`, async () => {
      const path = await begin();
      const one = (await make.call('POST', path, { name: 'One', ...body })) as unknown as Placed;
      const type = what === 'policies' ? 'policy.lifecycle' : 'policy.rule';
      for (const [step, from, to] of [
        ['deactivate', 'ACTIVE', 'INACTIVE'],
        ['activate', 'INACTIVE', 'ACTIVE'],
      ]) {
        const answer = await api.call<undefined>('POST', `${path}/${one.id}/lifecycle/${step}`);
        assert.deepEqual([answer.status, answer.body], [204, undefined]);
        assert.equal((await api.call<Placed>('GET', `${path}/${one.id}`)).body.status, to);
        assert.deepEqual((await lastEvent(`${type}.${step}`))?.debugContext, { before: { status: from }, after: { status: to } });
      }
      const replaced = await api.call<Placed>('PUT', `${path}/${one.id}`, { ...one, name: 'Two', status: 'INACTIVE' });
      assert.deepEqual([replaced.status, replaced.body.name, replaced.body.status], [200, 'Two', 'INACTIVE']);
      const changed = (await lastEvent(`${type}.update`))?.debugContext as { before: Placed; after: Placed };
      assert.deepEqual(
        [changed.before.name, changed.before.status, changed.after.name, changed.after.status],
        ['One', 'ACTIVE', 'Two', 'INACTIVE'],
      );
      // Status and priority are left as they are where nothing is said of them.
      assert.equal((await api.call<Placed>('PUT', `${path}/${one.id}`, { name: 'Two', ...body })).body.status, 'INACTIVE');
      assert.equal((await api.call('DELETE', `${path}/${one.id}`)).status, 204);
      assert.equal((await api.call('GET', `${path}/${one.id}`)).status, 404);
      const gone = (await lastEvent(`${type}.delete`))?.debugContext as { before: Placed; after?: unknown };
      assert.deepEqual([gone.before.name, gone.after], ['Two', undefined]);
    });
  }

  it('takes nothing of one server for another’s, nor of one policy for another’s', async () => {
    const [path, other] = [await at(), await at()];
    const policy = (await make.call('POST', path, { name: 'P', conditions: forAll })).id;
    const [sibling] = (await api.call<Policy[]>('GET', path)).body;
    const rule = (await make.call('POST', `${path}/${policy}/rules`, { name: 'R', conditions: {} })).id;
    for (const [method, address] of [
      ['GET', `${other}/${policy}`],
      ['DELETE', `${other}/${policy}`],
      ['POST', `${other}/${policy}/lifecycle/deactivate`],
      ['GET', `${other}/${policy}/rules`],
      ['GET', `${other}/${policy}/rules/${rule}`],
      ['DELETE', `${other}/${policy}/rules/${rule}`],
      ['DELETE', `${path}/${sibling?.id}/rules/${rule}`],
      ['POST', `${path}/${sibling?.id}/rules/${rule}/lifecycle/deactivate`],
    ] as const) {
      assert.equal((await api.call<ErrorObject>(method, address)).status, 404, `${method} ${address}`);
    }
    assert.equal((await api.call<Rule>('GET', `${path}/${policy}/rules/${rule}`)).body.status, 'ACTIVE');
  });

  it('names only clients that are there', async () => {
    const [path, app] = [await at(), await make.app()];
    const naming = (...include: string[]) => ({ name: 'Clients', conditions: { clients: { include } } });
    await refused('POST', path, naming(app, 'nobody', 'ALL_CLIENTS', 'all_clients'), [
      'conditions.clients.include.1: does not exist',
      'conditions.clients.include.3: does not exist',
    ]);
    await refused('POST', path, { name: 'x' }, ['conditions: is required']);
    await refused('POST', path, { name: 'x', conditions: { clients: {} } }, ['conditions.clients.include: is required']);
    await refused('POST', path, { name: 'x', type: 'PASSWORD', conditions: forAll }, ['type: must be OAUTH_AUTHORIZATION_POLICY']);
    await refused('POST', path, { name: 'x', type: 'PASSWORD', conditions: { ...forAll, people: {} } }, [
      'conditions.people: is not a field of this resource',
    ]);
    const { body: created } = await api.call<Policy>('POST', path, naming(app));
    await refused('PUT', `${path}/${created.id}`, naming('nobody'), ['conditions.clients.include.0: does not exist']);
    assert.deepEqual((await api.call<Policy>('GET', `${path}/${created.id}`)).body, created);
  });

  it('refuses rules of what is not there, and what rules do not have here, by name', async () => {
    const [path, user, group] = [await atRules(), await make.user(), await make.group()];
    const conditions = (given: unknown) => ({ name: 'R', conditions: given });
    await refused(
      'POST',
      path,
      conditions({ people: { users: { include: [user, group] }, groups: { include: ['everyone', group, user] } } }),
      [
        'conditions.people.groups.include.0: does not exist',
        'conditions.people.groups.include.2: does not exist',
        'conditions.people.users.include.1: does not exist',
      ],
    );
    await refused('POST', path, conditions({ scopes: { include: ['openid', 'orders'] } }), ['conditions.scopes.include.1: does not exist']);
    await refused('POST', path, conditions({ authorizationDetails: { include: ['*', 'payment'] } }), [
      'conditions.authorizationDetails.include.1: does not exist',
    ]);
    await refused('POST', path, conditions({ actors: { include: ['*', 'nobody'] } }), ['conditions.actors.include.1: does not exist']);
    const others =
      'urn:ietf:params:oauth:grant-type:device_code or urn:openid:params:grant-type:ciba or urn:ietf:params:oauth:grant-type:token-exchange or urn:ietf:params:oauth:grant-type:jwt-bearer';
    for (const type of ['urn:ietf:params:oauth:grant-type:saml2-bearer', 'refresh_token']) {
      await refused('POST', path, conditions({ grantTypes: { include: ['implicit', type] } }), [
        `conditions.grantTypes.include.1: must be authorization_code or implicit or password or client_credentials or ${others} or *`,
      ]);
    }
    await refused('POST', path, conditions({ people: { users: { include: [], exclude: [user] } } }), [
      'conditions.people.users.exclude: is not a field of this resource',
    ]);
    await refused('POST', path, { ...conditions({}), actions: { token: { inlineHook: { id: 'x' } } } }, [
      'actions.token.inlineHook.id: x does not exist',
    ]);
    await refused('POST', path, { name: 'R' }, ['conditions: is required']);
    for (const [token, expected] of [
      [{ accessTokenLifetimeMinutes: 1441 }, 'actions.token.accessTokenLifetimeMinutes: must be at most 1440'],
      [{ accessTokenLifetimeMinutes: 0 }, 'actions.token.accessTokenLifetimeMinutes: must be at least 1'],
      [{ refreshTokenLifetimeMinutes: 5_256_001 }, 'actions.token.refreshTokenLifetimeMinutes: must be at most 5256000'],
      [{ refreshTokenWindowMinutes: 0 }, 'actions.token.refreshTokenWindowMinutes: must be at least 1'],
      [
        { refreshTokenLifetimeMinutes: 10, refreshTokenWindowMinutes: 11 },
        'actions.token.refreshTokenWindowMinutes: must not be longer than refreshTokenLifetimeMinutes',
      ],
    ] as const) {
      await refused('POST', path, { ...conditions({}), actions: { token } }, [expected]);
    }
    assert.deepEqual(await order(path), []);
  });

  it('keeps the built-in server’s policies as they are (decisions, "built-in, inactive, unknown")', async () => {
    await seedAuthorizationServer(api.services, { id: 'built-in', name: 'Built-in', system: true, scopes: [] }, SYSTEM);
    const path = '/authorizationServers/built-in/policies';
    const [policy] = (await api.call<Policy[]>('GET', path)).body;
    const [rule] = (await api.call<Rule[]>('GET', `${path}/${policy?.id}/rules`)).body;
    assert.deepEqual(
      [policy?.system, rule?.system, Object.keys(policy?._links ?? {}), Object.keys(rule?._links ?? {})],
      [true, true, ['self', 'rules'], ['self']],
    );
    const rules = `${path}/${policy?.id}/rules`;
    for (const [method, address, body] of [
      ['POST', path, { name: 'x', conditions: forAll }],
      ['PUT', `${path}/${policy?.id}`, { name: 'x', conditions: forAll }],
      ['DELETE', `${path}/${policy?.id}`, undefined],
      ['POST', `${path}/${policy?.id}/lifecycle/deactivate`, undefined],
      ['POST', rules, { name: 'x', conditions: {} }],
      ['PUT', `${rules}/${rule?.id}`, { name: 'x', conditions: {} }],
      ['DELETE', `${rules}/${rule?.id}`, undefined],
      ['POST', `${rules}/${rule?.id}/lifecycle/deactivate`, undefined],
    ] as const) {
      const answer = await api.call(method, address, body);
      assert.deepEqual([answer.status, answer.body?.errorCode], [403, 'E0000038'], `${method} ${address}`);
    }
    assert.deepEqual((await api.call<Policy[]>('GET', path)).body, [policy]);
  });
});
