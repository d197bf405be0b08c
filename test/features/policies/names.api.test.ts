/** What becomes of policies and rules when what they name is deleted: the name goes, and a list that becomes empty means nobody. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Make, makeWith } from '../../api/stories.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Policy {
  id: string;
  conditions: Record<string, unknown>;
}
type Rule = Policy;
const forAll = { clients: { include: ['ALL_CLIENTS'] } };

describe('names in policies and rules that are deleted', () => {
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
  /** The newest of a thing. */
  const lastEvent = async (eventType: string, targetId: string) => {
    const filter = encodeURIComponent(`eventType eq "${eventType}" and target.id eq "${targetId}"`);
    const found = await api.call<{ debugContext: { before?: unknown; after?: unknown } }[]>(
      'GET',
      `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`,
    );
    return found.body[0];
  };

  it('takes deleted people out of rules: a list that becomes empty means nobody, and the change is in the audit log', async () => {
    const [path, other] = [await atRules(), await atRules()];
    const [user, group] = [await make.user(), await make.group()];
    const conditions = {
      people: { users: { include: [user] }, groups: { include: [group] } },
      grantTypes: { include: ['implicit'] },
    };
    const { id } = await make.call('POST', path, { name: 'R', conditions });
    const { id: elsewhere } = await make.call('POST', other, { name: 'R', conditions: { people: { users: { include: [user] } } } });
    const untouched = await make.call('POST', other, { name: 'S', conditions: { people: { groups: { include: ['EVERYONE'] } } } });
    const conditionsAt = async (address: string) => (await api.call<Rule>('GET', address)).body.conditions;

    await make.call('DELETE', `/users/${user}`);
    assert.deepEqual(await conditionsAt(`${path}/${id}`), conditions, 'a deactivated user may come back');
    await make.call('DELETE', `/users/${user}`);
    assert.deepEqual(await conditionsAt(`${path}/${id}`), {
      ...conditions,
      people: { users: { include: [] }, groups: { include: [group] } },
    });
    assert.deepEqual(await conditionsAt(`${other}/${elsewhere}`), { people: { users: { include: [] } } });

    await make.call('DELETE', `/groups/${group}`);
    const left = { ...conditions, people: { users: { include: [] }, groups: { include: [] } } };
    assert.deepEqual(await conditionsAt(`${path}/${id}`), left);
    const event = await lastEvent('policy.rule.update', String(id));
    assert.deepEqual(event?.debugContext, {
      before: { conditions: { ...conditions, people: { users: { include: [] }, groups: { include: [group] } } } },
      after: { conditions: left },
    });
    // What is left may be sent back and still means nobody.
    const { body } = await api.call<Rule>('GET', `${path}/${id}`);
    assert.deepEqual((await api.call<Rule>('PUT', `${path}/${id}`, body)).body.conditions, left);
    assert.deepEqual((await api.call('GET', `${other}/${untouched.id}`)).body, untouched);
  });

  it('takes deleted applications out of policies, so that a later one of the same id has nothing of theirs', async () => {
    const path = await at();
    const [app, named] = [await make.app(), { credentials: { oauthClient: { client_id: 'chosen-id' } } }];
    const create = () =>
      make.call('POST', '/apps', { label: 'A', ...named, settings: { oauthClient: { redirect_uris: ['https://app.example/cb'] } } });
    await create();
    const policy = await make.call('POST', path, { name: 'P', conditions: { clients: { include: ['chosen-id', app] } } });
    const only = await make.call('POST', path, { name: 'Only', conditions: { clients: { include: ['chosen-id'] } } });
    await make.call('DELETE', '/apps/chosen-id');
    await create();
    const clientsOf = async ({ id }: Record<string, unknown>) => (await api.call<Policy>('GET', `${path}/${id}`)).body.conditions;
    assert.deepEqual(await clientsOf(policy), { clients: { include: [app] } });
    assert.deepEqual(await clientsOf(only), { clients: { include: [] } });
    const told = await lastEvent('policy.lifecycle.update', String(only.id));
    assert.deepEqual(told?.debugContext, { before: { clients: ['chosen-id'] }, after: { clients: [] } });
  });

  it('does not take the word for all clients away with an application that is called so', async () => {
    const path = await at();
    await make.call('POST', '/apps', {
      label: 'A',
      credentials: { oauthClient: { client_id: 'ALL_CLIENTS' } },
      settings: { oauthClient: { redirect_uris: ['https://app.example/cb'] } },
    });
    await make.call('DELETE', '/apps/ALL_CLIENTS');
    assert.deepEqual((await api.call<Policy[]>('GET', path)).body[0]?.conditions, forAll);
  });

  it('never holds a name that is gone, when rules are written while what they name is deleted', async () => {
    const path = await atRules();
    const { id: first } = await make.call('POST', path, { name: 'R', conditions: {} });
    for (let round = 0; round < 5; round += 1) {
      const groups = await Promise.all(Array.from({ length: 4 }, () => make.group()));
      const writes = groups.flatMap((group, turn) => [
        api.call('POST', path, { name: `${round}-${turn}`, conditions: { people: { groups: { include: groups } } } }),
        api.call('DELETE', `/groups/${group}`),
        api.call('PUT', `${path}/${first}`, { name: 'R', conditions: { people: { groups: { include: [group] } } } }),
      ]);
      const statuses = (await Promise.all(writes)).map(({ status }) => status);
      assert.ok(
        statuses.every((status) => [200, 201, 204, 400].includes(status)),
        statuses.join(),
      );
      const rules = JSON.stringify((await api.call('GET', path)).body);
      for (const group of groups) assert.doesNotMatch(rules, new RegExp(group));
    }
  });
});
