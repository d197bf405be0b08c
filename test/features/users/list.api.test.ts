import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { person, type User, unique } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

describe('the list of users (management API, "users" and "Conventions")', () => {
  let api: ManagementApi;
  const people: Record<string, User> = {};
  before(async () => {
    api = await startManagementApi();
    const make = async (name: string, profile: Record<string, string>) => {
      people[name] = await person(api, { profile: { login: name, ...profile } });
    };
    await make('ada', { email: 'countess@example.com', firstName: 'Ada', lastName: 'Lovelace', nickName: 'The Enchantress' });
    await make('grace', { email: 'grace@navy.example', firstName: 'Grace', lastName: 'Hopper' });
    await make('percent', { firstName: '100% true', lastName: 'under_score', nickName: "Robert'); DROP TABLE users;--" });
    await make('back\\slash', { firstName: 'Ünïcode', lastName: 'مرحبا' });
    await make('gone', { firstName: 'Adalbert' });
    await api.call('DELETE', `/users/${people.gone?.id}`);
  });
  after(() => api.close());

  const list = (query: Record<string, string>) => api.call<User[]>('GET', `/users?${new URLSearchParams(query)}`);
  const logins = async (query: Record<string, string>): Promise<string[]> => {
    const { status, body } = await list(query);
    assert.equal(status, 200, JSON.stringify(body));
    return body.map(({ profile }) => profile.login ?? '');
  };

  it('holds users as they are read one by one, oldest first, without the deactivated', async () => {
    const { body } = await list({});
    assert.deepEqual(
      body.map(({ profile }) => profile.login),
      ['root', 'ada', 'grace', 'percent', 'back\\slash'],
    );
    assert.deepEqual(body[1], people.ada);
  });

  const beginnings: [q: string, expected: string[]][] = [
    ['ada', ['ada']],
    ['ADA', ['ada']],
    ['countess@', ['ada']],
    ['love', ['ada']],
    ['g', ['grace']],
    ['hopper', ['grace']],
    ['opper', []],
    ['100%', ['percent']],
    ['%', []],
    ['_', []],
    ['under_', ['percent']],
    ['underX', []],
    ['back\\', ['back\\slash']],
    ['\\', []],
    ['üNÏ', ['back\\slash']],
    ['مرح', ['back\\slash']],
    ["' OR 1=1 --", []],
    // Punctuation does not count.
    ['$1', ['percent']],
    ['$2', []],
    ['?', []],
    ['x'.repeat(255), []],
  ];
  for (const [q, expected] of beginnings) {
    it(`q=${q.slice(0, 20)} finds ${expected.join(' and ') || 'nobody'}, by what login, email, firstName or lastName begins with`, async () => {
      assert.deepEqual(await logins({ q }), expected);
    });
  }

  const searches: [expression: string, expected: string[]][] = [
    ['profile.firstName eq "ada"', ['ada']],
    ['profile.firstName sw "Ada"', ['ada', 'gone']],
    ['profile.nickName pr', ['ada', 'percent']],
    ['profile.email ew "navy.example" or profile.lastName co "_sc"', ['grace', 'percent']],
    ['status eq "DEPROVISIONED"', ['gone']],
    ['status ne "ACTIVE"', ['gone']],
    ['not (profile.firstName pr)', ['root']],
    [`created lt "2000-01-01T00:00:00Z"`, []],
    ['lastLogin pr', []],
    ['passwordChanged pr and profile.login sw "a"', ['ada']],
    [`profile.nickName eq "Robert'); DROP TABLE users;--"`, ['percent']],
    [`profile.login eq "x') OR 1=1 --"`, []],
    ['profile.login co "%"', []],
    ['profile.login co "\\\\"', ['back\\slash']],
  ];
  for (const [expression, expected] of searches) {
    it(`search and filter ${expression} find ${expected.join(' and ') || 'nobody'}`, async () => {
      assert.deepEqual(await logins({ search: expression }), expected);
      assert.deepEqual(await logins({ filter: expression }), expected);
    });
  }

  it('finds by id and by each of the times', async () => {
    const { grace } = people;
    assert(grace);
    assert.deepEqual(await logins({ search: `id eq "${grace.id}"` }), ['grace']);
    for (const time of ['created', 'activated', 'statusChanged', 'lastUpdated', 'passwordChanged'] as const) {
      assert.deepEqual(await logins({ search: `${time} eq "${grace[time]}" and profile.login eq "grace"` }), ['grace'], time);
    }
  });

  it('keeps those who fit q, search and filter together', async () => {
    assert.deepEqual(await logins({ q: 'ada', search: 'profile.nickName pr' }), ['ada']);
    assert.deepEqual(await logins({ q: 'ada', search: 'status eq "DEPROVISIONED"' }), ['gone']);
    assert.deepEqual(await logins({ search: 'profile.firstName sw "ada"', filter: 'status eq "ACTIVE"' }), ['ada']);
  });

  const refused: [query: Record<string, string>, cause: RegExp][] = [
    [{ search: 'password_hash pr' }, /^search: password_hash is not an attribute/],
    [{ search: 'profile.shoeSize pr' }, /^search: profile.shoeSize is not an attribute/],
    [{ filter: 'profile.login eq' }, /^filter: must be a filter/],
    [{ filter: '1=1; DROP TABLE users' }, /^filter: must be a filter/],
    [{ search: `profile->>'login' eq "a"` }, /^search: /],
    [{ search: 'created gt "yesterday"' }, /^search: created must be compared with a time/],
    [{ search: `profile.login eq "${'x'.repeat(10_000)}"` }, /^search: must have at most/],
    [{ q: 'x'.repeat(10_000) }, /^q: must have at most 255 characters/],
    [{ q: '\u0000' }, /^q: must not contain control characters/],
    [{ q: '' }, /^q: must not be empty/],
    [{ limit: '0' }, /^limit: must be a whole number from 1 to 200/],
    [{ limit: '201' }, /^limit: /],
    [{ after: 'usr_1' }, /^after: must come from the link/],
  ];
  for (const [query, cause] of refused) {
    it(`refuses ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const answer = await api.call('GET', `/users?${new URLSearchParams(query)}`);
      assert.equal(answer.status, 400);
      assert.match(causes(answer)[0] ?? '', cause);
    });
  }

  it('shows everybody once while users come and go between the pages', async () => {
    const mark = unique('page');
    const made: User[] = [];
    const add = async () => void made.push(await person(api, { profile: { firstName: mark } }));
    for (let turn = 0; turn < 7; turn += 1) await add();
    const staying = made.filter((_, index) => index !== 1 && index !== 4);
    const seen: string[] = [];
    let path: string | undefined = `/users?q=${mark}&limit=2`;
    for (let page = 0; path !== undefined; page += 1) {
      const { headers, body }: { headers: Headers; body: User[] } = await api.call<User[]>('GET', path);
      assert.ok(body.length <= 2);
      seen.push(...body.map(({ id }) => id));
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      path = next?.slice(next.indexOf('/users'));
      if (path !== undefined) assert.match(path, new RegExp(`q=${mark}`));
      if (page < 3) await add();
      // Seen, and at the seam of two pages; not seen yet.
      const leaving = page === 0 ? made[1] : page === 1 ? made[4] : undefined;
      for (const _ of leaving ? [1, 2] : []) await api.call('DELETE', `/users/${leaving?.id}`);
    }
    assert.equal(new Set(seen).size, seen.length);
    for (const { id } of [...staying, ...made.slice(7)]) assert.ok(seen.includes(id));
    assert.ok(!seen.includes(made[4]?.id ?? ''));
  });

  it('looks q up in the index made for it', async () => {
    const { knex } = api.services.database;
    let asked: { sql: string; bindings: string[] } | undefined;
    const listen = (query: { sql: string; bindings: string[] }) => {
      if (query.sql.includes('search_query')) asked = query;
    };
    knex.on('query', listen);
    await list({ q: 'ad' });
    knex.removeListener('query', listen);
    assert(asked);
    const trx = await knex.transaction();
    await trx.raw('SET LOCAL enable_seqscan = off');
    const { rows } = await trx.raw<{ rows: unknown[] }>(`EXPLAIN ${asked.sql.replace(/\$\d+/g, '?')}`, asked.bindings);
    await trx.rollback();
    const plan = JSON.stringify(rows);
    assert.match(plan, /users_by_words/, plan);
  });
});
