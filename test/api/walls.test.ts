/**
 * The walls between organizations (docs/explanation/walls.md), swept over every operation of the management API with two tenants: who administers one,
 * by whatever role, sees, counts, finds and changes nothing of the other, and cannot tell what exists there, not by the time either: the database gets the same
 * statements. What they read is the same before there is another tenant and after.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../src/api/index.ts';
import { ORGANIZATION_PERMISSIONS } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { type Answer, type ErrorObject, type ManagementApi, startManagementApi } from '../support/management-api.ts';
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

/** Both tenants claim and invite them. */
const DISPUTED = { domain: 'disputed.example', email: 'disputed@example.com' };

type Caller = <T = ErrorObject>(method: string, path: string, body?: unknown) => Promise<Answer<T>>;

describe('walls between organizations', () => {
  let api: ManagementApi;
  let make: Make;
  /** Of the callers. */
  let own: string;
  let ownIds: Readonly<Record<string, string>>;
  let readBefore: ReadonlyMap<string, unknown>;
  let statements: string[] = [];
  const callers = new Map<string, Caller>();

  before(async () => {
    api = await startManagementApi({ sessions: { current: async () => undefined, forget: async () => undefined } });
    make = makeWith(api);
    api.services.database.knex.on('query', ({ sql }: { sql: string }) => {
      // Once a minute, whatever is called.
      if (!sql.includes('"last_used"')) statements.push(sql);
    });
    await make.ownAddress();
    own = await organization(api);
    const { id: userId } = await person(api, { orgId: own });
    ownIds = { userId, depId: await make.department(own), domain: DISPUTED.domain, idpId: await make.orgIdp(own) };
    for (const { status, body } of await claim(own)) assert.ok(status < 300, JSON.stringify(body));
    for (const name of ['owner', 'admin', ...SINGLE]) {
      const { id } = await person(api, { orgId: own });
      if (name === name.toUpperCase()) await api.call('POST', `/account/org/${own}/role`, { name, permissions: [name] });
      const given = await api.call('PUT', `/account/org/${own}/member/${id}/role`, { roles: [name] });
      assert.equal(given.status, 200, JSON.stringify(given.body));
      if (name === 'owner') await setPassword(api, id);
      const { value } = await createApiToken(api.services, { name, userId: id }, SYSTEM);
      callers.set(name, (method, path, body) => api.call(method, path, body, { authorization: `SSWS ${value}` }));
    }
    readBefore = await readAll();
    await plant();
  });
  after(() => api.close());

  /** What every caller reads of the own organization and of lists, without what is new at each call. */
  async function readAll(): Promise<ReadonlyMap<string, unknown>> {
    const ids: Readonly<Record<string, string>> = { ...ownIds, orgId: own };
    const reads = ENDPOINTS.filter(({ method, access }) => method === 'GET' && (access === 'organizations' || access === 'own'))
      .map(({ path }) =>
        path.replace(/:(\w+)/g, (name, key: string) => (path.startsWith('/users/:id') && key === 'id' ? ids.userId : ids[key]) ?? name),
      )
      .filter((path) => !path.includes(':'));
    const read = new Map<string, unknown>();
    for (const [who, call] of callers) {
      for (const path of reads) {
        const { status, body, headers } = await call<unknown>('GET', path);
        const text = JSON.stringify(body ?? '').replaceAll(/"(errorId|lastUsed)":"[^"]*"/g, '');
        read.set(`${who} ${path}`, [status, text, headers.get('link')]);
      }
    }
    return read;
  }

  /** The other tenant, whose every name has the mark, with one of all that the service has beside it. */
  async function plant(): Promise<void> {
    const { body } = await api.call<{ orgId: string }>('POST', `/account/org?orgName=${MARK}%20org`);
    const { orgId } = body;
    await Promise.all([make.inlineHook(), make.delivery(), make.server(), make.app(), make.token(), make.stream(), make.orgIdp(orgId)]);
    await Promise.all([make.lockedUser(), make.waitingUser(), make.trustedBrowser(), make.grant(), make.factor()]);
    const made = await Promise.all([
      ...(await claim(orgId)),
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

  /** A domain and an invitation that another organization has, too. */
  const claim = (orgId: string) =>
    Promise.all([
      api.call('POST', `/account/org/${orgId}/domain`, { domain: DISPUTED.domain }),
      api.call('POST', `/account/org/${orgId}/invitation`, { email: DISPUTED.email }),
    ]);

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

  /** @returns the answer, and what the database was asked for it */
  async function asked<T>(ask: () => Promise<T>): Promise<[answer: T, statements: readonly string[]]> {
    statements = [];
    const answer = await ask();
    return [answer, statements];
  }

  for (const declared of ENDPOINTS.filter(({ access, path }) => access !== 'anyone' && path.includes(':'))) {
    const { method, path, access } = declared;
    it(`${nameOf(declared)}: what is another organization's is as if it were not there, and is not changed`, async () => {
      const valid = await story(declared);
      const { params = {} } = valid;
      const nowhere = Object.fromEntries(Object.entries(params).map(([name, id]) => [name, `${id.slice(0, 4)}nowhere`]));
      const before = await eventCount();
      const ask = (call: Caller, used: Readonly<Record<string, string>>) =>
        asked(() => call(method, addressOf(path, { ...valid, params: used }), valid.body));
      for (const [who, call] of callers) {
        await ask(call, nowhere);
        const [missing, forMissing] = await ask(call, nowhere);
        const [real, forReal] = await ask(call, params);
        assert.deepEqual(
          [real.status, real.body.errorCode],
          access === 'service' ? [403, 'E0000006'] : [404, 'E0000007'],
          `${who}: ${JSON.stringify(real.body)}`,
        );
        assert.deepEqual(told(real, Object.values(params)), told(missing, Object.values(nowhere)), who);
        assert.deepEqual(forReal, forMissing, `${who}: the time would tell`);
        if (params.orgId === undefined || Object.keys(params).length === 1) continue;
        // By way of the own organization.
        const [within, forWithin] = await ask(call, { ...params, orgId: own });
        const [without, forWithout] = await ask(call, { ...nowhere, orgId: own });
        assert.ok([403, 404].includes(within.status), `${who}: ${JSON.stringify(within.body)}`);
        assert.deepEqual(told(within, Object.values(params)), told(without, Object.values(nowhere)), who);
        assert.deepEqual(forWithin, forWithout, `${who}: the time would tell`);
      }
      assert.equal(await eventCount(), before, 'nothing was changed');
    });
  }

  it('what they read, count and list is the same before there is another tenant and after', async () => {
    const now = await readAll();
    for (const [what, answer] of now) assert.deepEqual(answer, readBefore.get(what), what);
    const seen = [...now].filter(([what, answer]) => what.startsWith('owner') && (answer as [number])[0] === 200);
    assert.ok(seen.length > 15, seen.map(([what]) => what).join());
  });

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
          const find = (value: string) => {
            const expression = name === 'q' ? value : `profile.firstName eq "${value}"`;
            return asked(() => call<unknown>('GET', `${path}?${new URLSearchParams({ [name]: expression, limit: '200' })}`));
          };
          await find('zznothing');
          const [[found, forFound], [nothing, forNothing]] = [await find(MARK), await find('zznothing')];
          const without = (body: unknown) => JSON.stringify(body ?? '').replaceAll(/zzforeign|zznothing|"errorId":"[^"]*"/g, '');
          assert.deepEqual([found.status, without(found.body)], [nothing.status, without(nothing.body)], `${who} ${name}`);
          assert.deepEqual(forFound, forNothing, `${who} ${name}: the time would tell`);
        }
      }
    });
  }

  it('a search of the log of one organization finds nothing of another one, takes no longer for it, and refuses hidden fields', async () => {
    const log = (call: Caller, query: Record<string, string>) =>
      asked(() => call<unknown>('GET', `/account/org/${own}/log?${new URLSearchParams(query)}`));
    const readers = [...callers].filter(([who]) => who !== 'MANAGE_MEMBERS');
    for (const [who, call] of readers) {
      for (const attribute of ['actor.displayName', 'actor.id', 'target.displayName', 'target.id', 'eventType', 'outcome.reason']) {
        for (const op of ['eq', 'co', 'sw']) {
          const find = (value: string) => log(call, { filter: `${attribute} ${op} "${value}"`, limit: '200' });
          await find('zznothing');
          const [[found, forFound], [nothing, forNothing]] = [await find(MARK), await find('zznothing')];
          assert.deepEqual([found.status, found.body], [200, []], `${who} ${attribute} ${op}`);
          assert.deepEqual([nothing.status, nothing.body], [200, []], `${who} ${attribute} ${op}`);
          assert.deepEqual(forFound, forNothing, `${who} ${attribute} ${op}: the time would tell`);
        }
      }
      for (const filter of ['client.ipAddress sw "1"', 'client.ipAddress pr', 'debugContext pr'])
        assert.equal((await log(call, { filter }))[0].status, 400, `${who} ${filter}`);
    }
    assert.equal(readers.length, callers.size - 1);
  });

  it('a new user, member, role or token of an organization cannot reach into another one', async () => {
    const foreign = await make.org();
    const victim = await make.user('ACTIVE');
    await api.call('PUT', `/account/org/${foreign}/member/${victim}`, {});
    const before = await eventCount();
    for (const [who, call] of callers) {
      const tries = [
        await call('POST', '/users', { profile: { login: `made-by-${who}` }, orgId: foreign }),
        await call('PUT', `/account/org/${own}/member/${victim}`, {}),
        await call('PUT', `/account/org/${own}/member/${victim}/role`, { roles: ['admin'] }),
        await call('POST', `/users/${victim}/roles`, { type: 'ORG_ADMIN', orgId: own }),
      ];
      for (const { status, body } of tries) assert.ok([400, 403, 404].includes(status), `${who}: ${status} ${JSON.stringify(body)}`);
    }
    assert.equal(await eventCount(), before, 'nothing was changed');
  });
});
