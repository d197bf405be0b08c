/** Every list of the management API comes in pages ("Conventions": `limit`, the cursor `after`, `Link`), also those whose order others decide. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { ENDPOINTS } from '../../src/api/index.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

interface Item {
  readonly id: string;
  readonly name: string;
}

describe('lists ("Conventions": limit, after, Link)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
    await api.call('POST', '/authorizationServers', { id: 'lists', name: 'Lists', signingAlg: 'ES256' });
  });
  after(() => api.close());

  /** @returns the ids page by page */
  async function pages(path: string, limit: number): Promise<string[][]> {
    const found: string[][] = [];
    let next: string | undefined = `${path}?limit=${limit}`;
    while (next !== undefined) {
      const answer: Awaited<ReturnType<typeof api.call<Item[]>>> = await api.call<Item[]>('GET', next);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      found.push(answer.body.map((one) => one.id ?? (one as unknown as { kid: string }).kid));
      const link: string | undefined = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      next = link && `${path}${new URL(link).search}`;
    }
    return found;
  }

  it('has no list without pages', () => {
    const lists = ENDPOINTS.filter(({ method, response }) => method === 'GET' && response instanceof z.ZodArray);
    assert.ok(lists.length > 20);
    const whole = lists.filter(({ query }) => !(query instanceof z.ZodObject && 'limit' in query.shape && 'after' in query.shape));
    assert.deepEqual(
      whole.map(({ path }) => path),
      [],
    );
  });

  it('gives policies and rules by priority, page by page; each page goes on behind the place of the one before', async () => {
    const server = '/authorizationServers/lists';
    const clients = { include: ['ALL_CLIENTS'] };
    for (const name of ['a', 'b', 'c', 'd']) await api.call('POST', `${server}/policies`, { name, priority: 1, conditions: { clients } });
    const { body: policies } = await api.call<Item[]>('GET', `${server}/policies`);
    const ids = policies.map(({ id }) => id);
    assert.deepEqual(policies.map(({ name }) => name).slice(0, 4), ['d', 'c', 'b', 'a']);
    assert.deepEqual(await pages(`${server}/policies`, 2), [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    assert.deepEqual(await pages(`${server}/policies`, 5), [ids]);

    const rules = `${server}/policies/${ids[0]}/rules`;
    for (const name of ['a', 'b', 'c']) assert.equal((await api.call('POST', rules, { name, priority: 1, conditions: {} })).status, 201);
    const { body: found } = await api.call<Item[]>('GET', rules);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['c', 'b', 'a'],
    );
    assert.deepEqual(
      (await pages(rules, 1)).flat(),
      found.map(({ id }) => id),
    );
    const { status, body } = await api.call('GET', `${rules}?limit=201`);
    assert.deepEqual([status, body.errorCauses?.[0]?.errorSummary], [400, 'limit: must be a whole number from 1 to 200']);
  });

  it('gives signing keys, secrets of an application and roles of a user in pages', async () => {
    assert.ok((await pages('/authorizationServers/lists/credentials/keys', 1)).length > 1);
    const { body: app } = await api.call<Item>('POST', '/apps', {
      ...{ name: 'oidc_client', label: 'Shop', signOnMode: 'OPENID_CONNECT' },
      ...{ credentials: { oauthClient: {} }, settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'] } } },
    });
    await api.call('POST', `/apps/${app.id}/credentials/secrets`);
    assert.deepEqual(
      (await pages(`/apps/${app.id}/credentials/secrets`, 1)).map(({ length }) => length),
      [1, 1],
    );

    const roles = `/users/${api.admin.userId}/roles`;
    await api.call('POST', roles, { type: 'READ_ONLY_ADMIN' });
    assert.deepEqual(
      (await pages(roles, 1)).map(({ length }) => length),
      [1, 1],
    );
  });
});
