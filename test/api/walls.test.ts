/**
 * The walls between organizations (docs/explanation/walls.md), swept over every operation of the management API with two tenants: who administers one,
 * by whatever role, sees, counts, finds and changes nothing of the other, and cannot tell what exists there.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { ORGANIZATION_PERMISSIONS } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { type ErrorObject, type ManagementApi, startManagementApi } from '../support/management-api.ts';
import { organization, person, setPassword } from './people.ts';
import { type Make, makeWith, STORIES, type ValidCall } from './stories.ts';

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
const addressOf = (path: string, { params = {}, query = {} }: ValidCall): string => {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
};

/** One permission for people, one for something else: which one opens what is tested with the roles. */
const SINGLE = ORGANIZATION_PERMISSIONS.filter((permission) => permission === 'MANAGE_MEMBERS' || permission === 'READ_LOG');

/** In every name of the other tenant. */
const MARK = 'zzforeign';

describe('walls between organizations', () => {
  let api: ManagementApi;
  let make: Make;
  const callers = new Map<string, <T = ErrorObject>(method: string, path: string, body?: unknown) => ReturnType<typeof api.call<T>>>();

  before(async () => {
    api = await startManagementApi({ sessions: { current: async () => undefined, forget: async () => undefined } });
    make = makeWith(api);
    const own = await organization(api);
    for (const name of ['owner', 'admin', ...SINGLE]) {
      const { id } = await person(api, { orgId: own });
      if (name === name.toUpperCase()) await api.call('POST', `/account/org/${own}/role`, { name, permissions: [name] });
      const given = await api.call('PUT', `/account/org/${own}/member/${id}/role`, { roles: [name] });
      assert.equal(given.status, 200, JSON.stringify(given.body));
      if (name === 'owner') await setPassword(api, id);
      const { value } = await createApiToken(api.services, { name, userId: id }, SYSTEM);
      callers.set(name, (method, path, body) => api.call(method, path, body, { authorization: `SSWS ${value}` }));
    }
    await plant();
  });
  after(() => api.close());

  /** The other tenant, whose every name has the mark. */
  async function plant(): Promise<void> {
    const { body } = await api.call<{ orgId: string }>('POST', `/account/org?orgName=${MARK}%20org`);
    const { orgId } = body;
    const made = await Promise.all([
      api.call('POST', `/account/org/${orgId}/department`, { name: `${MARK} department` }),
      api.call('POST', `/account/org/${orgId}/role`, { name: `${MARK} role` }),
      api.call('POST', '/groups', { profile: { name: `${MARK} group` } }),
      api.call('POST', '/users', {
        profile: { login: `${MARK}-user`, email: `${MARK}@example.com`, firstName: MARK, lastName: MARK },
        credentials: { password: { value: 'correct horse battery' } },
        orgId,
      }),
    ]);
    for (const answer of made) assert.ok(answer.status < 300, JSON.stringify(answer.body));
  }

  const eventCount = async (): Promise<number> => Number((await api.services.database.knex('audit_events').count({ n: '*' }).first())?.n);
  const story = (declared: Endpoint): Promise<ValidCall> => {
    const found = STORIES[nameOf(declared)];
    assert(found, `test/api/stories.ts has a valid call of ${nameOf(declared)}`);
    return found(make);
  };
  /** What of a refusal does not name the request. */
  const told = ({ status, body }: { status: number; body: ErrorObject }, ids: readonly string[]) => {
    const text = JSON.stringify({ ...body, errorId: '' });
    return [status, ids.reduce((rest, id) => rest.replaceAll(JSON.stringify(id).slice(1, -1), 'ID'), text)];
  };

  for (const declared of ENDPOINTS.filter(({ access, path }) => access !== 'anyone' && path.includes(':'))) {
    const { method, path, access } = declared;
    it(`${nameOf(declared)}: what is another organization's is as if it were not there, and is not changed`, async () => {
      const valid = await story(declared);
      const ids = Object.values(valid.params ?? {});
      const nowhere = Object.fromEntries(Object.entries(valid.params ?? {}).map(([name, id]) => [name, `${id.slice(0, 4)}nowhere`]));
      const before = await eventCount();
      for (const [who, call] of callers) {
        const real = await call(method, addressOf(path, valid), valid.body);
        assert.deepEqual(
          [real.status, real.body.errorCode],
          access === 'service' ? [403, 'E0000006'] : [404, 'E0000007'],
          `${who}: ${JSON.stringify(real.body)}`,
        );
        const missing = await call(method, addressOf(path, { ...valid, params: nowhere }), valid.body);
        assert.deepEqual(told(real, ids), told(missing, Object.values(nowhere)), who);
      }
      assert.equal(await eventCount(), before, 'nothing was changed');
    });
  }

  for (const declared of ENDPOINTS.filter(({ access, path, method }) => access !== 'anyone' && method === 'GET' && !path.includes(':'))) {
    const { path, access } = declared;
    it(`${nameOf(declared)}: lists, counts and searches are cut to the own organization`, async () => {
      for (const [who, call] of callers) {
        const answer = await call<unknown>('GET', path);
        if (access === 'service') {
          assert.equal(answer.status, 403, who);
          continue;
        }
        assert.equal(JSON.stringify(answer.body ?? '').includes(MARK), false, who);
        for (const name of ['q', 'search', 'filter']) {
          const asked = (value: string) => {
            const expression = name === 'q' ? value : `profile.firstName eq "${value}"`;
            return call<unknown>('GET', `${path}?${new URLSearchParams({ [name]: expression, limit: '200' })}`);
          };
          const [found, nothing] = [await asked(MARK), await asked('zznothing')];
          const without = (body: unknown) => JSON.stringify(body ?? '').replaceAll(/zzforeign|zznothing|"errorId":"[^"]*"/g, '');
          assert.deepEqual([found.status, without(found.body)], [nothing.status, without(nothing.body)], `${who} ${name}`);
        }
      }
    });
  }

  it('a new user, member, role or token of an organization cannot reach into another one', async () => {
    const foreign = await make.org();
    const victim = await make.user('ACTIVE');
    await api.call('PUT', `/account/org/${foreign}/member/${victim}`, {});
    const [own] = (await callers.get('admin')?.<{ organizations: { orgId: string }[] }>('GET', '/account/org'))?.body.organizations ?? [];
    assert.ok(own);
    const before = await eventCount();
    for (const [who, call] of callers) {
      const tries = [
        await call('POST', '/users', { profile: { login: `made-by-${who}` }, orgId: foreign }),
        await call('PUT', `/account/org/${own.orgId}/member/${victim}`, {}),
        await call('PUT', `/account/org/${own.orgId}/member/${victim}/role`, { roles: ['admin'] }),
        await call('POST', `/users/${victim}/roles`, { type: 'ORG_ADMIN', orgId: own.orgId }),
      ];
      for (const { status, body } of tries) assert.ok([400, 403, 404].includes(status), `${who}: ${status} ${JSON.stringify(body)}`);
    }
    assert.equal(await eventCount(), before, 'nothing was changed');
  });
});
