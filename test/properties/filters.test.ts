/** Properties of the filters and pages of lists (RFC 7644 section 3.4.2.2): read as they were written, and found by SQL what JavaScript finds. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { foundUsers } from '../../src/features/users/user-search.store.ts';
import { userAttributes } from '../../src/features/users/users.store.ts';
import { type AttributeColumns, applyFilter, attributeTypes, type Filter } from '../../src/platform/database/filter.ts';
import { parseFilter } from '../../src/platform/database/filter-syntax.ts';
import { inPages, readPage } from '../../src/platform/database/paging.ts';
import { ApiError } from '../../src/platform/errors/errors.ts';
import { testServices } from '../support/management-api.ts';
import { anyText, endless, of, tried } from './checking.ts';

const COLUMNS: AttributeColumns = {
  login: { sql: 'login', type: 'text' },
  'profile.nickName': { sql: "profile->>'nickName'", type: 'text' },
  'profile.tag': { sql: 'element', type: 'text', among: "jsonb_array_elements_text(profile->'tags') AS element" },
  lastLogin: { sql: 'last_login', type: 'time' },
  emailVerified: { sql: 'email_verified', type: 'boolean' },
};
const TYPES = attributeTypes(COLUMNS);

/** Small letters beyond ASCII only: what the small one of others is depends on the database. */
const word = fc.string({ unit: fc.constantFrom(...'aAbB%_\\"\'* .', 'é', '漢', '😀', 'ß'), maxLength: 4 });
const day = fc.date({ min: new Date('2026-01-01'), max: new Date('2026-01-05'), noInvalidDate: true });

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  of({ op: fc.constant('pr' as const), attribute: fc.constantFrom(...Object.keys(TYPES)) }),
  of({
    op: fc.constantFrom(...(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const)),
    attribute: fc.constantFrom('login', 'profile.nickName', 'profile.tag'),
    value: word,
  }),
  of({ op: fc.constantFrom(...(['eq', 'ne', 'gt', 'ge', 'lt', 'le'] as const)), attribute: fc.constant('lastLogin'), value: day }),
  of({ op: fc.constantFrom(...(['eq', 'ne'] as const)), attribute: fc.constant('emailVerified'), value: fc.boolean() }),
);

const filterOf = (one: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      one,
      of({ op: fc.constant('not' as const), filter: tie('filter') }),
      of({ op: fc.constantFrom('and' as const, 'or' as const), filters: fc.array(tie('filter'), { minLength: 2, maxLength: 3 }) }),
    ),
  })).filter;
const filter = filterOf(leaf);

/** As RFC 7644 writes it. */
function written(one: Filter): string {
  if ('filters' in one) return one.filters.map((part) => `(${written(part)})`).join(` ${one.op} `);
  if (one.op === 'not') return `not (${written(one.filter)})`;
  if (one.op === 'any') throw new Error('no value path is made here');
  if (one.op === 'pr') return `${one.attribute} pr`;
  return `${one.attribute} ${one.op} ${JSON.stringify(one.value)}`;
}

interface Person {
  readonly login: string;
  readonly nickName: string | undefined;
  readonly tags: readonly string[];
  readonly lastLogin: Date | null;
  readonly emailVerified: boolean;
}

const small = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** What the filter means, told anew. A missing value is compared with nothing, and `ne` is what `eq` is not. */
function fits(one: Filter, person: Person): boolean {
  if ('filters' in one)
    return one.op === 'and' ? one.filters.every((part) => fits(part, person)) : one.filters.some((part) => fits(part, person));
  if (one.op === 'not') return !fits(one.filter, person);
  if (one.op === 'any') throw new Error('no value path is made here');
  if (one.op === 'ne') return !fits({ ...one, op: 'eq' }, person);
  const values: Readonly<Record<string, readonly unknown[]>> = {
    login: [person.login],
    'profile.nickName': [person.nickName],
    'profile.tag': person.tags,
    lastLogin: [person.lastLogin],
    emailVerified: [person.emailVerified],
  };
  return holds(one, values[one.attribute] ?? []);
}

/** Does one of the values fit? */
function holds(one: Extract<Filter, { attribute: string }>, values: readonly unknown[]): boolean {
  const there = values.filter((value) => value !== undefined && value !== null);
  if (one.op === 'pr') return there.some((value) => value !== '');
  const { op, value: wanted } = one;
  return there.some((value) => {
    if (value instanceof Date && wanted instanceof Date) return inOrder(op, value.getTime() - wanted.getTime());
    if (typeof value === 'number') return inOrder(op, value < Number(wanted) ? -1 : value > Number(wanted) ? 1 : 0);
    if (typeof value === 'boolean') return value === wanted;
    const [held, given] = [small(String(value)), small(String(wanted))];
    if (op === 'co') return held.includes(given);
    if (op === 'sw') return held.startsWith(given);
    if (op === 'ew') return held.endsWith(given);
    return inOrder(op, Buffer.compare(Buffer.from(held), Buffer.from(given)));
  });
}

const inOrder = (op: string, difference: number): boolean =>
  ({ eq: difference === 0, gt: difference > 0, ge: difference >= 0, lt: difference < 0, le: difference <= 0 })[op] ?? false;

/** Several of one operation are one of several, whatever their brackets. */
function flat(one: Filter): Filter {
  if (one.op === 'not') return { op: 'not', filter: flat(one.filter) };
  return 'filters' in one ? { op: one.op, filters: one.filters.map(flat) } : one;
}

test('a filter is read as it was written', () => {
  const short = filter.filter((one) => written(one).length <= 2000);
  fc.assert(
    fc.property(short, fc.mixedCase(fc.constant('login pr')), (one, other) => {
      assert.deepEqual(parseFilter(written(one), TYPES, 'filter'), flat(one));
      assert.deepEqual(parseFilter(other, TYPES, 'filter'), { op: 'pr', attribute: 'login' });
    }),
    tried(),
  );
});

test('whatever is no filter is refused by a cause that names its field, however long it is', () => {
  const broken = fc.tuple(filter.map(written), fc.nat(), anyText).map(([text, at, put]) => text.slice(0, at % text.length) + put);
  const nested = fc.integer({ min: 1, max: 400 }).map((depth) => `${'('.repeat(depth)}login pr${')'.repeat(depth)}`);
  fc.assert(
    fc.property(fc.oneof(anyText, broken, nested, endless), (text) => {
      try {
        parseFilter(text, TYPES, 'filter');
      } catch (error) {
        assert.ok(error instanceof ApiError, String(error));
        assert.equal(error.status, 400);
        assert.match(error.causes[0] ?? '', /^filter: /);
      }
    }),
    tried(300),
  );
});

async function withPeople(
  t: TestContext,
): Promise<{ knex: Awaited<ReturnType<typeof testServices>>['services']['database']['knex']; people: Person[] }> {
  const parts = await testServices();
  t.after(() => parts.close());
  const { knex } = parts.services.database;
  const person = of({
    login: fc.constant(''),
    nickName: fc.option(word, { nil: undefined }),
    tags: fc.array(word, { maxLength: 3 }),
    lastLogin: fc.option(day),
    emailVerified: fc.boolean(),
  });
  const people = fc
    .sample(person, { ...tried(), numRuns: 40 })
    .map((one, turn) => ({ ...one, login: `${'aAbB%_\\é😀'[turn % 8]}${turn}` }));
  const now = new Date();
  await knex('users').insert(
    people.map(({ login, nickName, tags, lastLogin, emailVerified }, turn) => ({
      ...{ id: `usr_${turn}`, status: 'ACTIVE', created: now, last_updated: now, login },
      profile: JSON.stringify({ ...(nickName !== undefined && { nickName }), tags }),
      ...{ last_login: lastLogin, email_verified: emailVerified },
    })),
  );
  return { knex, people };
}

test('SQL finds the rows that JavaScript finds', async (t) => {
  const { knex, people } = await withPeople(t);
  await fc.assert(
    fc.asyncProperty(filter, async (one) => {
      const query = knex('users');
      applyFilter(query, one, COLUMNS);
      const rows = await query.select<{ login: string }[]>('login').orderBy('seq');
      assert.deepEqual(
        rows.map(({ login }) => login),
        people.filter((person) => fits(one, person)).map(({ login }) => login),
        written(one),
      );
    }),
    tried(),
  );
});

/** Attributes that operators have added: these alone have terms, which must not lose anyone. */
const ADDED = userAttributes(
  [
    { name: 'code', type: 'string' },
    { name: 'labels', type: 'array' },
    { name: 'score', type: 'number' },
  ],
  new Date(),
);

/** Few characters, so that parts are found; often too long for its parts to be terms. */
const label = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aAb\\\'" é😀'), minLength: 1, maxLength: 7 }),
  of({ begun: fc.integer({ min: 120, max: 140 }), ended: word }).map(({ begun, ended }) => 'ab'.repeat(begun / 2) + ended),
);
const part = fc.string({ unit: fc.constantFrom(...'aAb\\\'" é😀'), maxLength: 4 });
const number = fc.oneof(
  fc.constantFrom(0, -1, 1, 2, 998, 999, 1000, 131072, 131073, 0.1, -0.1, 1.5, 1e21, 1e299, 1e300, 5e-324, -5e-324, 2 ** 53 - 1, -1e-7),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
);

const addedLeaf: fc.Arbitrary<Filter> = fc.oneof(
  of({ op: fc.constant('pr' as const), attribute: fc.constantFrom('profile.code', 'profile.labels', 'profile.score') }),
  of({
    op: fc.constantFrom(...(['eq', 'ne', 'co', 'co', 'sw', 'ew', 'gt', 'le'] as const)),
    attribute: fc.constantFrom('profile.code', 'profile.labels'),
    value: fc.oneof(part, label),
  }),
  of({
    op: fc.constantFrom(...(['eq', 'ne', 'gt', 'ge', 'lt', 'le'] as const)),
    attribute: fc.constant('profile.score'),
    value: number,
  }),
);

test('the terms of added attributes lose nobody, whatever is searched for', async (t) => {
  const parts = await testServices();
  t.after(() => parts.close());
  const { knex } = parts.services.database;
  const profile = of({ code: fc.option(label), labels: fc.option(fc.array(label, { maxLength: 4 })), score: fc.option(number) });
  const profiles = fc.sample(profile, { ...tried(), numRuns: 60 });
  const now = new Date();
  await knex('users').insert(
    profiles.map(({ code, labels, score }, turn) => ({
      ...{ id: `usr_${turn}`, status: 'ACTIVE', created: now, last_updated: now, login: String(turn) },
      profile: JSON.stringify({ ...(code !== null && { code }), ...(labels !== null && { labels }), ...(score !== null && { score }) }),
    })),
  );
  const fitsAdded = (one: Filter, { code, labels, score }: (typeof profiles)[number]): boolean => {
    if ('filters' in one) return one.filters[one.op === 'and' ? 'every' : 'some']((within) => fitsAdded(within, { code, labels, score }));
    if (one.op === 'not') return !fitsAdded(one.filter, { code, labels, score });
    if (one.op === 'any') throw new Error('no value path is made here');
    if (one.op === 'ne') return !fitsAdded({ ...one, op: 'eq' }, { code, labels, score });
    return holds(one, one.attribute === 'profile.code' ? [code] : one.attribute === 'profile.score' ? [score] : (labels ?? []));
  };
  await fc.assert(
    fc.asyncProperty(filterOf(addedLeaf), async (one) => {
      const { users } = await foundUsers(knex, { filters: [one] }, ADDED);
      const rows: { login: string }[] = await users.select('login').orderBy('seq');
      assert.deepEqual(
        rows.map(({ login }) => Number(login)),
        profiles.flatMap((person, turn) => (fitsAdded(one, person) ? [turn] : [])),
        JSON.stringify(one),
      );
    }),
    tried(400),
  );
});

test('the pages of a list, one after the other, are the list', async (t) => {
  const { knex, people } = await withPeople(t);
  const all = people.map(({ login }) => login);
  const collect = async (
    read: (after: number | undefined) => Promise<{ items: readonly { login: string }[]; next: number | undefined }>,
    limit: number,
  ) => {
    const found: string[] = [];
    let after: number | undefined;
    do {
      const { items, next } = await read(after);
      assert.ok(items.length <= limit && (next === undefined || items.length === limit));
      found.push(...items.map(({ login }) => login));
      after = next;
    } while (after !== undefined);
    return found;
  };
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 45 }), fc.boolean(), async (limit, descending) => {
      const read = (after: number | undefined) =>
        readPage<{ login: string }>(knex('users'), { login: 'login' }, { limit, after }, { descending });
      assert.deepEqual(await collect(read, limit), descending ? all.toReversed() : all);
      assert.deepEqual(await collect(async (after) => inPages(people, { limit, after }), limit), all);
    }),
    tried(30),
  );
});
