/** Names that two users get at once: what one signs in by must not be the other's other name. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { administrator, organization, unique } from '../api/people.ts';
import { type ManagementApi, startManagementApi } from '../support/management-api.ts';

describe('names given at once', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('a login and another user’s e-mail address do not become the same, nor do two e-mail addresses', async () => {
    const orgId = await organization(api);
    const admin = await administrator(api, { type: 'ORG_ADMIN', orgId });
    const create = (profile: Record<string, string>) => admin.call('POST', '/users', { profile, orgId });
    for (let turn = 0; turn < 8; turn += 1) {
      const name = `${unique('name')}@example.com`;
      const pairs = [
        [create({ login: name }), create({ login: unique('user'), email: name.toUpperCase() })],
        [create({ login: unique('user'), email: `2${name}` }), create({ login: unique('user'), email: `2${name}` })],
      ];
      for (const pair of pairs) assert.deepEqual((await Promise.all(pair)).map(({ status }) => status).sort(), [200, 409]);
    }
  });
});
