import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { insertAuditEvent } from '../../../src/features/audit/audit.store.ts';
import type { AuditEvent } from '../../../src/features/audit/events.resource.ts';
import { type Answer, causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Event {
  uuid: string;
  published: string;
  eventType: string;
  severity: string;
  displayMessage: string;
  actor: { id: string; type: string; displayName: string };
  client: { ipAddress: string | null; userAgent: { rawUserAgent: string; browser: string | null; os: string | null } | null };
  outcome: { result: string; reason: string | null };
  target: { id: string; type: string; displayName: string }[];
  transaction: { id: string | null };
  debugContext: { before?: unknown; after?: unknown };
}

const nextOf = (answer: Answer<unknown>): string | undefined =>
  /^<[^>]*\/api\/v1([^>]*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];

describe('logs (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const read = (query: Record<string, string> = {}) => api.call<Event[]>('GET', `/logs?${new URLSearchParams({ limit: '200', ...query })}`);

  it('shows a change: who, from where, to what, before and after, by the id of the request', async () => {
    const headers = { 'x-request-id': randomUUID(), 'user-agent': 'curl/8' };
    const { body: created } = await api.call<{ id: string }>('POST', '/users', { profile: { login: 'Ada' } }, headers);
    const { body } = await read({ filter: `target.id eq "${created.id}"` });
    assert.equal(body.length, 1);
    const [{ uuid, published, ...event }] = body as [Event];
    assert.match(uuid, /^[0-9a-f-]{36}$/);
    assert.match(published, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(event, {
      eventType: 'user.lifecycle.create',
      severity: 'INFO',
      displayMessage: 'Create user',
      actor: { id: api.admin.userId, type: 'User', displayName: 'root' },
      client: { ipAddress: event.client.ipAddress, userAgent: { rawUserAgent: 'curl/8', browser: null, os: null } },
      outcome: { result: 'SUCCESS', reason: null },
      target: [{ id: created.id, type: 'User', displayName: 'Ada' }],
      transaction: { id: headers['x-request-id'] },
      debugContext: { after: { status: 'ACTIVE', profile: { login: 'Ada' } } },
    });
    assert.match(event.client.ipAddress ?? '', /127\.0\.0\.1$/);
  });

  it('has the service’s own changes at its first start without an address', async () => {
    const { body } = await read({ filter: 'actor.type eq "SystemPrincipal"' });
    assert.ok(body.length > 0);
    assert.deepEqual(body[0]?.client, { ipAddress: null, userAgent: null });
    assert.deepEqual(body[0]?.transaction, { id: null });
  });

  describe('of events at known times', () => {
    const at = (minute: number, change: Partial<AuditEvent> = {}): AuditEvent => ({
      published: new Date(Date.UTC(2001, 0, 1, 0, minute)),
      eventType: 'test.event',
      severity: 'INFO',
      displayMessage: `Event ${minute}`,
      actor: { id: 'usr_1', type: 'User', displayName: 'Ada Lovelace' },
      client: { ipAddress: '192.0.2.1' },
      outcome: { result: 'SUCCESS' },
      target: [],
      transactionId: `req-${minute}`,
      debugContext: {},
      ...change,
    });
    const SPAN = { since: '2001-01-01T00:00:00Z', until: '2001-01-02T00:00:00Z' };
    const EVENTS: AuditEvent[] = [
      at(1, { target: [{ id: 'app_1', type: 'AppInstance', displayName: 'Shop' }] }),
      at(2, { severity: 'WARN', outcome: { result: 'FAILURE', reason: 'wrong password' }, eventType: 'user.session.start' }),
      // As a clock that is late writes them: after the others, but of an earlier moment.
      at(4, {
        target: [
          { id: 'usr_2', type: 'User', displayName: '<b>Bob</b>' },
          { id: 'app_1', type: 'AppInstance', displayName: 'Shop' },
        ],
      }),
      at(3, { actor: { id: 'system', type: 'SystemPrincipal', displayName: 'Gatehouse' }, client: {}, transactionId: undefined }),
      at(5, { displayMessage: '100% of_it \\ done' }),
    ];
    before(async () => {
      for (const event of EVENTS) await insertAuditEvent(api.services.database.knex, event);
    });
    /** @returns the minutes of the events found */
    const minutes = async (query: Record<string, string>) =>
      (await read({ ...SPAN, ...query })).body.map(({ published }) => new Date(published).getUTCMinutes());

    const found: [query: Record<string, string>, expected: number[]][] = [
      [{}, [1, 2, 3, 4, 5]],
      [{ sortOrder: 'ASCENDING' }, [1, 2, 3, 4, 5]],
      [{ sortOrder: 'DESCENDING' }, [5, 4, 3, 2, 1]],
      [{ since: '2001-01-01T00:02:00.000Z', until: '2001-01-01T00:04:00.000Z' }, [2, 3]],
      [{ since: '2001-01-01T02:04:00+02:00' }, [4, 5]],
      [{ since: '2001-01-01T00:04:00.001Z' }, [5]],
      [{ since: '2001-01-01T00:04:00Z', until: '2001-01-01T00:03:00Z' }, []],
      [{ filter: 'eventType sw "user."' }, [2]],
      [{ filter: 'severity eq "WARN"' }, [2]],
      [{ filter: 'published gt "2001-01-01T00:03:00Z"' }, [4, 5]],
      [{ filter: 'displayMessage co "% of_"' }, [5]],
      [{ filter: 'actor.id eq "system"' }, [3]],
      [{ filter: 'actor.type ne "User"' }, [3]],
      [{ filter: 'actor.displayName ew "LACE"' }, [1, 2, 4, 5]],
      [{ filter: 'not (client.ipAddress pr)' }, [3]],
      [{ filter: 'outcome.result eq "FAILURE" and outcome.reason co "password"' }, [2]],
      [{ filter: 'transaction.id eq "req-4"' }, [4]],
      [{ filter: 'target.id eq "app_1"' }, [1, 4]],
      [{ filter: 'target.type eq "User"' }, [4]],
      [{ filter: 'target.id ne "app_1"' }, [2, 3, 5]],
      [{ filter: 'application.id eq "app_1"' }, [1, 4]],
      [{ filter: 'application.id eq "APP_1" or application.id eq "usr_2"' }, []],
      [{ filter: 'application.id ne "app_1"' }, [2, 3, 5]],
      [{ filter: 'application.displayName co "SHO" and actor.id eq "usr_1"' }, [1, 4]],
      [{ filter: 'not (application.id pr)' }, [2, 3, 5]],
      [{ filter: 'TARGET.displayName eq "shop" and not (target.displayName co "<b>")' }, [1]],
      [{ filter: 'uuid eq "00000000-0000-0000-0000-000000000000"' }, []],
      [{ q: 'ada' }, [1, 2, 4, 5]],
      [{ q: '  ADA   shop ' }, [1, 4]],
      [{ q: 'wrong session' }, [2]],
      [{ q: '<b>bob' }, [4]],
      [{ q: '0% \\' }, [5]],
      [{ q: 'displayName' }, []],
      [{ q: 'ada nobody' }, []],
      [{ q: '' }, [1, 2, 3, 4, 5]],
    ];
    for (const [query, expected] of found) {
      it(`${JSON.stringify(query)} finds ${expected.join(', ') || 'nothing'}`, async () => {
        assert.deepEqual(await minutes(query), expected);
      });
    }

    for (const sortOrder of ['ASCENDING', 'DESCENDING']) {
      it(`goes through all pages, ${sortOrder}, without losing or repeating one`, async () => {
        const seen: number[] = [];
        let path: string | undefined = `/logs?${new URLSearchParams({ ...SPAN, sortOrder, limit: '2' })}`;
        while (path !== undefined) {
          const page: Answer<Event[]> = await api.call<Event[]>('GET', path);
          assert.ok(page.body.length <= 2);
          seen.push(...page.body.map(({ published }) => new Date(published).getUTCMinutes()));
          path = nextOf(page);
        }
        assert.deepEqual(seen, sortOrder === 'ASCENDING' ? [1, 2, 3, 4, 5] : [5, 4, 3, 2, 1]);
      });
    }

    it('orders the events of one moment as they were written, and pages within it', async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        await insertAuditEvent(api.services.database.knex, { ...at(0, { displayMessage: `same ${turn}` }), published: new Date(0) });
      }
      const seen: string[] = [];
      let path: string | undefined = '/logs?until=1970-01-02T00:00:00Z&limit=2';
      while (path !== undefined) {
        const page: Answer<Event[]> = await api.call<Event[]>('GET', path);
        seen.push(...page.body.map(({ displayMessage }) => displayMessage));
        path = nextOf(page);
      }
      assert.deepEqual(seen, ['same 0', 'same 1', 'same 2', 'same 3', 'same 4']);
    });
  });

  it('shows new events to whoever goes on from the last page', async () => {
    const since = new Date().toISOString();
    for (const login of ['p1', 'p2', 'p3']) await api.call('POST', '/users', { profile: { login } });
    const first = await api.call<Event[]>('GET', `/logs?since=${since}&limit=2`);
    await api.call('POST', '/users', { profile: { login: 'p4' } });
    const second = await api.call<Event[]>('GET', nextOf(first) ?? '');
    const names = [...first.body, ...second.body].map(({ target }) => target[0]?.displayName);
    assert.deepEqual(names, ['p1', 'p2', 'p3', 'p4']);
    assert.equal(nextOf(second), undefined);
  });

  const refused: [query: string, expected: string[]][] = [
    ['since=yesterday', ['since: must be a time like 2026-11-21T01:02:03.000Z']],
    ['until=2001-01-01', ['until: must be a time like 2026-11-21T01:02:03.000Z']],
    ['sortOrder=RANDOM', ['sortOrder: must be ASCENDING or DESCENDING']],
    ['filter=debugContext+pr', ['filter: debugContext is not an attribute that can be filtered']],
    ['filter=published+co+"2001"', ['filter: published does not support the operator co']],
    ['q=1+2+3+4+5+6+7+8+9+10+11', ['q: must have at most 10 words']],
    ['q=%00', ['q: must not contain control characters']],
    ['limit=201', ['limit: must be a whole number from 1 to 200']],
    ['after=-1', ['after: must come from the link to the next page']],
  ];
  for (const [query, expected] of refused) {
    it(`refuses ${query}`, async () => {
      const answer = await api.call('GET', `/logs?${query}`);
      assert.deepEqual([answer.status, causes(answer)], [400, expected]);
    });
  }

  it('cannot be written or erased', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await api.call(method, '/logs')).status, 405);
      assert.equal((await api.call(method, `/logs/${randomUUID()}`)).status, 404);
    }
  });

  it('begins seven days ago where nothing else is said', async () => {
    const { knex } = api.services.database;
    const { seq } = await knex('audit_events').orderBy('seq').first('seq');
    await knex('audit_events')
      .where({ seq })
      .update({ published: new Date(Date.now() - 8 * 86_400_000), display_message: 'long ago' });
    const all = async (query: string) => (await api.call<{ displayMessage: string }[]>('GET', `/logs?limit=200${query}`)).body;
    const isThere = async (query: string) => (await all(query)).some(({ displayMessage }) => displayMessage === 'long ago');
    assert.deepEqual([await isThere(''), await isThere('&since=2000-01-01T00:00:00Z')], [false, true]);
    assert.equal(await isThere(`&until=${new Date(Date.now() - 86_400_000).toISOString()}`), true);
  });

  /** Searches that wait for a locked table. */
  const blocked = async (): Promise<number> => {
    const { rows } = await api.services.database.knex.raw(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0].n;
  };

  it('lets the readers of many organizations search four at a time, so that sign-ins have connections left', async () => {
    const { knex } = api.services.database;
    const orgs: string[] = [];
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F', 'G'])
      orgs.push((await api.call<{ orgId: string }>('POST', `/account/org?orgName=Searched+${name}`)).body.orgId);
    const trx = await knex.transaction();
    await trx.raw('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
    const search = (org: string) => api.call('GET', `/account/org/${org}/log?since=2020-01-01T00:00:00Z`);
    const searches = [...orgs, ...orgs].map(search);
    const refused = await Promise.race(searches);
    while ((await blocked()) < 4);
    await delay(100);
    assert.equal(await blocked(), 4);
    await trx.rollback();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5']);
    assert.deepEqual(refused.body.errorCauses, [{ errorSummary: 'too many logs are being searched. Try again in a few seconds' }]);
    const statuses = (await Promise.all(searches)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(12).fill(200), 429, 429]);
  });

  it('lets two search at a time, so that the others have connections left; who must wait is told so', async () => {
    const { knex } = api.services.database;
    const trx = await knex.transaction();
    await trx.raw('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
    const waiting: Promise<{ status: number }>[] = [];
    const search = () => api.call('GET', '/logs?q=x');
    for (const turn of [1, 2]) {
      waiting.push(search());
      while ((await blocked()) < turn);
    }
    const refused = await search();
    assert.deepEqual([refused.status, refused.body.errorCode, refused.headers.get('retry-after')], [429, 'E0000047', '1']);
    assert.equal((await api.call('GET', '/users')).status, 200);
    await trx.rollback();
    assert.deepEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await search()).status, 200);
  });
});
