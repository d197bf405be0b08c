/** A change and its audit event are one transaction: where the event cannot be written, the change is not made, and the caller is not told that it was. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { person, unique } from '../../api/people.ts';
import { type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('a change whose audit event cannot be written', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('is not made, whatever kind of change it is', async () => {
    const user = await person(api, { profile: { firstName: 'Ada' } });
    const { body: group } = await api.call<{ id: string }>('POST', '/groups', { profile: { name: unique('group') } });
    const { body: token } = await api.call<{ id: string }>('POST', '/api-tokens', { name: 'kept' });
    const { knex } = api.services.database;
    const tables = ['users', 'groups', 'group_members', 'organizations', 'api_tokens', 'roles', 'settings', 'outbox'];
    const rows = () =>
      Promise.all(
        tables.map(async (table) => {
          const { rows } = await knex.raw<{ rows: unknown[] }>('SELECT md5(t::text) FROM ?? AS t ORDER BY 1', [table]);
          return [table, rows] as const;
        }),
      );
    await knex.raw(`CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no event'; END $$`);
    await knex.raw('CREATE TRIGGER refuse_event BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_event()');
    const before = await rows();
    const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['POST', '/users', { profile: { login: unique('new') } }],
      ['POST', `/users/${user.id}`, { profile: { firstName: 'Other' }, credentials: { password: { value: 'another long password 1' } } }],
      ['POST', `/users/${user.id}/lifecycle/suspend`],
      ['POST', `/users/${user.id}/roles`, { type: 'READ_ONLY_ADMIN' }],
      ['PUT', `/groups/${group.id}/users/${user.id}`],
      ['DELETE', `/groups/${group.id}`],
      ['DELETE', `/api-tokens/${token.id}`],
      ['POST', '/account/org?orgName=Never'],
      ['PUT', '/settings/sign-in', { mfa: 'EVERYONE' }],
    ];
    for (const call of calls) assert.equal((await api.call(...call)).status, 500, call.slice(0, 2).join(' '));
    assert.deepEqual(await rows(), before);

    await knex.raw('DROP TRIGGER refuse_event ON audit_events');
    for (const call of calls) {
      const { status } = await api.call(...call);
      assert.ok(status >= 200 && status < 300, `${call.slice(0, 2).join(' ')} is a valid call: ${status}`);
    }
  });
});
