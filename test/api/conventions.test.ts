/** What all calls of the management API have in common ("Conventions"): errors, limits, ids of requests, repeatable calls, methods. */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { Role } from '../../src/features/administrators/administration.policy.ts';
import { createApiToken } from '../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { randomToken } from '../../src/platform/crypto/secrets.ts';
import { moveClock } from '../support/clock.ts';
import { type Answer, causes, type ErrorObject, type ManagementApi, serve, startManagementApi } from '../support/management-api.ts';
import { API_TOKEN, startService } from '../support/service.ts';

const asToken = (token: string) => ({ authorization: `SSWS ${token}` });

async function tokenOf(api: ManagementApi, ...roles: Role[]): Promise<string> {
  const { id } = await createUser(api.services, { profile: { login: randomToken() }, activate: true, roles }, SYSTEM);
  return (await createApiToken(api.services, { name: 'x', userId: id }, SYSTEM)).value;
}

describe('errors and limits ("Conventions")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const calls: [what: string, status: number, make: (headers?: Record<string, string>) => Promise<Answer<ErrorObject>>][] = [
    ['an invalid field', 400, (headers) => api.call('POST', '/api-tokens', {}, headers)],
    ['a malformed body', 400, (headers) => api.call('POST', '/api-tokens', '{', headers)],
    ['no token', 401, (headers) => api.call('GET', '/users', undefined, { ...headers, authorization: '' })],
    [
      'a caller whose roles do not reach so far',
      403,
      async (headers) => api.call('POST', '/groups', {}, { ...headers, ...asToken(await tokenOf(api, { type: 'READ_ONLY_ADMIN' })) }),
    ],
    ['a resource that does not exist', 404, (headers) => api.call('GET', '/users/nobody', undefined, headers)],
    ['a path that does not exist', 404, (headers) => api.call('GET', '/nothing', undefined, headers)],
    ['the bare address', 404, (headers) => api.call('GET', '', undefined, headers)],
    ['a wrong method', 405, (headers) => api.call('DELETE', '/logs', undefined, headers)],
    ['a taken login', 409, (headers) => api.call('POST', '/users', { profile: { login: 'root' } }, headers)],
  ];
  for (const [what, status, make] of calls) {
    it(`answers ${what} with ${status}, the error object, and as Problem Details (RFC 9457) to who asks for them`, async () => {
      const answer = await make();
      assert.equal(answer.status, status);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      const { errorCode, errorSummary, errorLink, errorId, errorCauses, ...rest } = answer.body;
      assert.match(errorCode, /^E00000\d\d$/);
      assert.ok(errorSummary.length > 0 && errorId.length > 0 && Array.isArray(errorCauses));
      assert.deepEqual([errorLink, rest], [errorCode, {}]);

      const asked = await make({ accept: 'application/problem+json' });
      assert.equal(asked.headers.get('content-type'), 'application/problem+json');
      const { title, errorId: _, ...problem } = asked.body as unknown as Record<string, unknown>;
      assert.equal(typeof title, 'string');
      assert.deepEqual(problem, { type: 'about:blank', status, detail: errorSummary, errorCode, errorCauses });
      for (const accept of ['*/*', 'application/json', 'text/html', 'application/json, application/problem+json;q=0.5']) {
        assert.match((await make({ accept })).headers.get('content-type') ?? '', /^application\/json/, accept);
      }
    });

    it(`tells the limit with ${status} for ${what}`, async () => {
      const { headers } = await make();
      const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-rate-limit-${name}`)));
      assert.equal(limit, 20_000);
      assert.ok(remaining !== undefined && remaining < 20_000 && remaining > 19_000);
      const now = Date.now() / 1000;
      assert.ok(reset !== undefined && reset >= Math.floor(now) && reset <= now + 61);
    });
  }

  it('tells the limit on every success, too, and counts each call of a token once', async () => {
    const token = await tokenOf(api, { type: 'SUPER_ADMIN' });
    const remaining = async (method: string, path: string, body?: unknown) => {
      const answer = await api.call(method, path, body, asToken(token));
      assert.ok(answer.status < 300);
      return Number(answer.headers.get('x-rate-limit-remaining'));
    };
    const { id } = await createUser(api.services, { profile: { login: randomToken() }, activate: true }, SYSTEM);
    const seen = [
      await remaining('GET', '/users'),
      await remaining('POST', '/api-tokens', { name: 'x' }),
      await remaining('PUT', '/settings/password', {}),
      await remaining('DELETE', `/users/${id}`),
    ];
    assert.deepEqual(seen, [19_999, 19_998, 19_997, 19_996]);
    const open = await fetch((await serveBeside(api)).openapi);
    assert.match(open.headers.get('x-rate-limit-remaining') ?? '', /^\d+$/);
  });
});

async function serveBeside({ services }: ManagementApi): Promise<{ openapi: string }> {
  const server = await serve(services);
  after(() => server.close());
  return { openapi: `${server.base}/openapi.json` };
}

describe('more calls than the limit ("Conventions")', () => {
  const LIMIT = 5;
  const refusedAs429 = (answer: Answer<ErrorObject>) => {
    assert.deepEqual([answer.status, answer.body.errorCode], [429, 'E0000047']);
    const wait = Number(answer.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 60, `${wait}`);
    assert.equal(answer.headers.get('x-rate-limit-remaining'), '0');
    assert.equal(answer.headers.get('x-rate-limit-limit'), String(LIMIT));
  };

  it('are 429 E0000047 with Retry-After, and have no effect; other tokens go on', async (t) => {
    const api = await startManagementApi({ callsPerMinute: LIMIT });
    t.after(() => api.close());
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call('POST', '/api-tokens', { name: 'one of twenty' })));
    assert.equal(answers.filter(({ status }) => status === 200).length, LIMIT);
    for (const answer of answers) if (answer.status !== 200) refusedAs429(answer);
    const made = await api.services.database.knex('api_tokens').where({ name: 'one of twenty' });
    assert.equal(made.length, LIMIT);
    assert.equal((await api.call('GET', '/users', undefined, asToken(await tokenOf(api, { type: 'SUPER_ADMIN' })))).status, 200);
  });

  it('without a token count for the address', async (t) => {
    const api = await startManagementApi({ callsPerMinute: LIMIT });
    t.after(() => api.close());
    const guess = () => api.call('GET', '/users', undefined, asToken(randomToken()));
    for (let turn = 0; turn < LIMIT; turn += 1) assert.equal((await guess()).status, 401);
    refusedAs429(await guess());
    refusedAs429(await api.call('GET', '/openapi.json', undefined, { authorization: '' }));
    assert.equal((await api.call('GET', '/users')).status, 200, 'who has a token is not kept out by who shares his address');
  });

  it('pass where limits are off for a load test (RATE_LIMITS)', async (t) => {
    const api = await startManagementApi();
    const config = { ...api.services.config, rateLimits: false };
    const server = await serve({ ...api.services, config }, { callsPerMinute: LIMIT });
    t.after(async () => {
      server.close();
      await api.close();
    });
    for (let turn = 0; turn <= LIMIT; turn += 1) {
      assert.equal((await fetch(`${server.base}/users`, { headers: asToken(api.admin.token) })).status, 200);
    }
  });
});

test('X-Request-Id is taken over, told back, and stands in errors and the audit log ("Conventions")', async (t) => {
  const service = await startService(t);
  const call = async (path: string, id?: string, body?: object) => {
    const headers = { ...asToken(API_TOKEN), 'content-type': 'application/json', ...(id === undefined ? {} : { 'x-request-id': id }) };
    const response = await fetch(`${service.baseUrl}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { id: response.headers.get('x-request-id') ?? '', body: (await response.json()) as Record<string, unknown> };
  };
  const given = 'order-4711.retry_2';
  const created = await call('/api-tokens', given, { name: 'x' });
  assert.equal(created.id, given);
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent(`transaction.id eq "${given}"`)}`);
  assert.deepEqual(
    events.map((event: { eventType: string; target: { id: string }[] }) => [event.eventType, event.target[0]?.id]),
    [['system.api_token.create', created.body.id]],
  );
  const refused = await call('/users/nobody', given);
  assert.deepEqual([refused.id, refused.body.errorId], [given, given]);
  const own = await call('/users/nobody');
  assert.match(own.id, /^[0-9a-f-]{36}$/);
  assert.equal(own.body.errorId, own.id);
  for (const bad of ['<script>', 'a b', 'x'.repeat(300)]) {
    const answer = await call('/users/nobody', bad);
    assert.notEqual(answer.id, bad);
    assert.equal(answer.body.errorId, answer.id);
  }
});

describe('Idempotency-Key on POST ("Conventions")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const withKey = (key: string, headers: Record<string, string> = {}) => ({ 'idempotency-key': key, ...headers });
  const tokensNamed = async (name: string): Promise<number> => (await api.services.database.knex('api_tokens').where({ name })).length;

  it('answers a repeated call as the first time, and carries it out once', async () => {
    const key = randomToken();
    const first = await api.call('POST', '/users', { profile: { login: 'once' } }, withKey(key));
    const second = await api.call('POST', '/users', { profile: { login: 'once' } }, withKey(key));
    assert.deepEqual([first.status, second.status, second.body], [200, 200, first.body]);
    assert.deepEqual([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')], [null, 'true']);
    const events = await api.services.database.knex('audit_events').whereRaw("target->0->>'displayName' = 'once'");
    assert.equal(events.length, 1);
  });

  it('carries one of twenty calls at once out, and answers all the same', async () => {
    const key = randomToken();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.call<{ id: string; token: string }>('POST', '/api-tokens', { name: 'twenty' }, withKey(key))),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ body }) => body.token)).size, 1);
    assert.equal(await tokensNamed('twenty'), 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
  });

  it('repeats an answer without body, and its status', async () => {
    const { body: server } = await api.call<{ id: string }>('POST', '/authorizationServers', { name: 'repeated' }, withKey('create'));
    assert.equal((await api.call('POST', '/authorizationServers', { name: 'repeated' }, withKey('create'))).status, 201);
    const path = `/authorizationServers/${server.id}/lifecycle/deactivate`;
    for (const replayed of [null, 'true']) {
      const answer = await api.call('POST', path, undefined, withKey('deactivate'));
      assert.deepEqual([answer.status, answer.body, answer.headers.get('idempotency-replayed')], [204, undefined, replayed]);
    }
  });

  it('refuses the key for another body, query or path: 409', async () => {
    const key = randomToken();
    await api.call('POST', '/api-tokens', { name: 'first' }, withKey(key));
    const others: [string, object][] = [
      ['/api-tokens', { name: 'second' }],
      ['/api-tokens?x=1', { name: 'first' }],
      ['/users', { name: 'first' }],
    ];
    for (const [path, body] of others) {
      const answer = await api.call('POST', path, body, withKey(key));
      assert.deepEqual([answer.status, answer.body.errorCode], [409, 'E0000014']);
      assert.deepEqual(causes(answer), ['Idempotency-Key: was already used for another request. Send a new key']);
    }
    assert.equal(await tokensNamed('second'), 0);
  });

  it('keeps no call that failed: it may be sent again, right', async () => {
    const key = randomToken();
    assert.equal((await api.call('POST', '/api-tokens', {}, withKey(key))).status, 400);
    assert.equal((await api.call('POST', '/users', { profile: { login: 'root' } }, withKey(key))).status, 409);
    const answer = await api.call('POST', '/api-tokens', { name: 'at last' }, withKey(key));
    assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [200, null]);
  });

  it('gives each caller keys of his own: nobody is told another’s secret', async () => {
    const other = asToken(await tokenOf(api, { type: 'SUPER_ADMIN' }));
    const key = randomToken();
    const create = (headers: Record<string, string>) =>
      api.call<{ id: string; token: string }>('POST', '/api-tokens', { name: 'own' }, withKey(key, headers));
    const mine = await create({});
    const his = await create(other);
    assert.notEqual(his.body.token, mine.body.token);
    assert.equal(his.headers.get('idempotency-replayed'), null);
    assert.equal((await create({})).body.token, mine.body.token);
    assert.equal((await create(other)).body.token, his.body.token);
    assert.equal((await create(asToken(randomToken()))).status, 401);
    const kept = await api.services.database.knex('idempotent_calls').select('*');
    assert.ok(!JSON.stringify(kept).includes(mine.body.token));
  });

  it('asks for the right to call each time', async () => {
    const token = await tokenOf(api, { type: 'SUPER_ADMIN' });
    const create = () => api.call('POST', '/groups', { profile: { name: 'kept' } }, withKey('right', asToken(token)));
    assert.equal((await create()).status, 200);
    const { user_id } = await api.services.database.knex('api_tokens').orderBy('seq', 'desc').first('user_id');
    const roles = () => api.services.database.knex('roles').where({ user_id });
    await roles().update({ type: 'READ_ONLY_ADMIN' });
    assert.equal((await create()).status, 403);
    await roles().delete();
    assert.equal((await create()).status, 401);
  });

  it('tells of a change only when it can be seen', async () => {
    const { body: server } = await api.call<{ id: string }>('POST', '/authorizationServers', { name: 'announced' });
    const { knex } = api.services.database;
    const { notifications } = api.services;
    // PostgreSQL delivers in the order of the commits: after this one, nothing of the creation is on its way any more.
    await new Promise<void>((resolve, reject) => {
      const last = randomToken();
      notifications.subscribe((change) => void (change !== 'everything' && change.id === last && resolve()));
      notifications.publish(knex, { kind: 'server', id: last }).catch(reject);
    });
    const seen = new Promise<string>((resolve, reject) => {
      notifications.subscribe((change) => {
        if (change === 'everything' || change.id !== server.id) return;
        knex('authorization_servers')
          .where({ id: server.id })
          .first('status')
          .then((row) => resolve(row.status), reject);
      });
    });
    await api.call('POST', `/authorizationServers/${server.id}/lifecycle/deactivate`, undefined, withKey(randomToken()));
    assert.equal(await seen, 'INACTIVE');
  });

  it('forgets a call after 24 hours', async (t) => {
    const key = randomToken();
    const create = () => api.call('POST', '/api-tokens', { name: 'daily' }, withKey(key));
    await create();
    moveClock(t, 24 * 3600 - 60);
    assert.equal((await create()).headers.get('idempotency-replayed'), 'true');
    moveClock(t, 120);
    assert.equal((await create()).headers.get('idempotency-replayed'), null);
    assert.equal(await tokensNamed('daily'), 2);
  });

  for (const key of ['', 'a b', 'x'.repeat(256), 'ключ'.normalize().replace(/./g, '\u00e9')]) {
    it(`refuses the key ${key.slice(0, 10)}`, async () => {
      const answer = await api.call('POST', '/api-tokens', { name: 'bad key' }, withKey(key));
      assert.equal(answer.status, 400);
      assert.match(causes(answer)[0] ?? '', /^Idempotency-Key: must be/);
      assert.equal(await tokensNamed('bad key'), 0);
    });
  }

  it('means nothing on other methods', async () => {
    for (const minLength of [9, 10]) {
      const answer = await api.call<{ minLength: number }>('PUT', '/settings/password', { minLength }, withKey('put'));
      assert.deepEqual([answer.body.minLength, answer.headers.get('idempotency-replayed')], [minLength, null]);
    }
  });
});

describe('methods that no endpoint names (RFC 9110 section 9.3)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('HEAD answers as GET does, without the body', async () => {
    for (const path of ['/users', '/users/root', '/users/nobody', '/openapi.json']) {
      const get = await api.call('GET', path);
      const head = await api.call('HEAD', path);
      assert.deepEqual([head.status, head.body], [get.status, undefined]);
      for (const name of ['content-type', 'x-rate-limit-limit', 'cache-control']) {
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
      }
    }
    assert.equal((await api.call('HEAD', '/users', undefined, { authorization: '' })).status, 401);
  });

  for (const method of ['OPTIONS', 'PATCH', 'PUT', 'DELETE']) {
    it(`${method} where it is not offered is 405 and names what is`, async () => {
      const answer = await api.call(method, '/api-tokens');
      assert.deepEqual([answer.status, answer.body.errorCode], [405, 'E0000022']);
      assert.deepEqual(new Set(answer.headers.get('allow')?.split(', ')), new Set(['HEAD', 'GET', 'POST']));
    });
  }
});
