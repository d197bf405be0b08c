/** Lists in the order of their numbers of members, as the console shows them: exact in every order, before, while and after the rows are added up. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import { foldGroupCounts, selectGroupsInOrder } from '../../../src/features/groups/groups.store.ts';
import { foldMemberCounts } from '../../../src/features/organizations/memberships.store.ts';
import { selectCountedOrganizations } from '../../../src/features/organizations/organizations.store.ts';
import { type Executor, openDatabase } from '../../../src/platform/database/database.ts';
import type { NumberedPage, NumberedWindow } from '../../../src/platform/database/paging.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';

interface Counted {
  readonly id: string;
  readonly members: number;
}

interface Kind {
  readonly of: string;
  readonly members: string;
  readonly owner: string;
  select(knex: Executor, words: string | undefined, window: NumberedWindow): Promise<NumberedPage<Counted>>;
  fold(knex: Executor, limit: number): Promise<number>;
}

const KINDS: readonly Kind[] = [
  {
    ...{ of: 'organizations', members: 'memberships', owner: 'org_id', fold: foldMemberCounts },
    select: (knex, words, window) => selectCountedOrganizations(knex, { reach: 'everything', words }, window),
  },
  {
    ...{ of: 'groups', members: 'group_members', owner: 'group_id', fold: foldGroupCounts },
    select: (knex, words, window) => selectGroupsInOrder(knex, { words, filters: [] }, window),
  },
];
const OWNERS = 23;
const SIZE = 5;

async function open(t: TestContext): Promise<Knex> {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const { knex, close } = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, close);
  return knex;
}

/** All pages one after the other, and what is counted row by row. */
async function read(
  knex: Executor,
  { of, members, owner, select }: Kind,
  descending: boolean,
  words?: string,
): Promise<[Counted[], Counted[]]> {
  const shown: Counted[] = [];
  for (let page = 1; page <= Math.ceil(OWNERS / SIZE) + 1; page += 1) {
    const { items, total } = await select(knex, words, { page, size: SIZE, sort: { by: 'members', descending } });
    assert.ok(total <= OWNERS);
    shown.push(...items.map((item) => ({ id: item.id, members: item.members })));
  }
  const direction = descending ? 'DESC' : 'ASC';
  const { rows } = await knex.raw<{ rows: Counted[] }>(
    `SELECT id, (SELECT count(*)::int FROM ${members} WHERE ${owner} = ${of}.id) AS members FROM ${of} WHERE name LIKE 'Small%' ORDER BY members ${direction}, seq ${direction}`,
  );
  return [shown, rows];
}

for (const kind of KINDS) {
  test(`${kind.of} in the order of their members`, async (t) => {
    const knex = await open(t);
    const { of, members, owner, fold } = kind;
    const join = (from: number, to: number, most: number) =>
      knex.raw(`INSERT INTO ${members} (${owner}, user_id, created) SELECT 'own_' || n, 'usr_' || u, now()
        FROM generate_series(${from}, ${to}) n, generate_series(1, ${most}) u WHERE u <= n * 7 % ${most} ON CONFLICT DO NOTHING`);
    const isRight = async (when: string) => {
      for (const descending of [true, false]) {
        const [shown, expected] = await read(knex, kind, descending);
        assert.deepEqual(shown, expected, `${when}, ${descending ? 'most' : 'fewest'} first`);
        const [found] = await read(knex, kind, descending, 'small');
        assert.deepEqual(found, expected, `${when}, searched`);
      }
    };
    await knex.raw(
      `INSERT INTO ${of} (id, name, created, last_updated) SELECT 'own_' || n, 'Small ' || n, now(), now() FROM generate_series(1, ${OWNERS}) n`,
    );
    await knex.raw(`INSERT INTO users (id, login, status, profile, created, last_updated)
      SELECT 'usr_' || n, 'user-' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, 12) n`);
    await isRight('empty');
    await join(1, OWNERS, 5);
    await isRight('nothing added up');
    assert.equal(await fold(knex, 7), 7);
    await isRight('some added up');
    while ((await fold(knex, 100)) > 0);
    await isRight('all added up');
    await join(8, 12, 12);
    await knex(members).where(owner, 'own_2').delete();
    await isRight('some changed since');
    while ((await fold(knex, 100)) > 0);
    await knex(members).where(owner, 'own_9').delete();
    await knex(of).where({ id: 'own_9' }).delete();
    await isRight('one is gone');
    while ((await fold(knex, 100)) > 0);
    await isRight('and added up');
  });
}

test('of simultaneous jobs one adds up, and the totals are the sums', async (t) => {
  const knex = await open(t);
  await knex.raw(
    `INSERT INTO organizations (id, name, created, last_updated) SELECT 'own_' || n, 'Small ' || n, now(), now() FROM generate_series(1, 50) n`,
  );
  await knex.raw(`INSERT INTO users (id, login, status, profile, created, last_updated)
    SELECT 'usr_' || n, 'user-' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, 8) n`);
  for (let user = 1; user <= 8; user += 1) {
    await knex.raw(
      `INSERT INTO memberships (org_id, user_id, created) SELECT 'own_' || n, 'usr_${user}', now() FROM generate_series(1, 50) n`,
    );
    await Promise.all(Array.from({ length: 4 }, () => foldMemberCounts(knex, 30)));
  }
  while ((await foldMemberCounts(knex, 100)) > 0);
  assert.deepEqual(await knex('member_totals').distinct('n'), [{ n: 8 }]);
  assert.equal((await knex('member_counts')).length, 50, 'one row for each');
});

for (const { of, members, owner, select, fold } of KINDS) {
  test(`a page of ${of} is read by an index, with thousands of them`, async (t) => {
    const knex = await open(t);
    await knex.raw(
      `INSERT INTO ${of} (id, name, created, last_updated) SELECT 'own_' || n, 'Small ' || n, now(), now() FROM generate_series(1, 5000) n`,
    );
    await knex.raw(`INSERT INTO users (id, login, status, profile, created, last_updated)
      SELECT 'usr_' || n, 'user-' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, 9) n`);
    await knex.raw(`INSERT INTO ${members} (${owner}, user_id, created)
      SELECT 'own_' || n, 'usr_' || u, now() FROM generate_series(1, 5000) n, generate_series(1, 9) u WHERE u <= n % 10`);
    while ((await fold(knex, 5000)) > 0);
    await knex(members).where(owner, 'own_9').where('user_id', 'usr_1').delete();
    await knex.raw('VACUUM (ANALYZE)');
    let statements: { sql: string; bindings: unknown[] }[] = [];
    knex.on('query', (statement: { sql: string; bindings: unknown[] }) => statements.push(statement));
    for (const by of ['members', 'name', 'created'])
      for (const page of by === 'members' ? [1, 200] : [1]) {
        statements = [];
        assert.equal((await select(knex, undefined, { page, size: 25, sort: { by, descending: true } })).items.length, 25);
        const statement = statements.at(-1);
        const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
          `EXPLAIN ${statement?.sql.replaceAll(/\$\d+/g, '?')}`,
          statement?.bindings as string[],
        );
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        // The rows of the page are known by then, and may be found in the table itself while it is small.
        if (by === 'members')
          assert.match(plan, /Index (Only )?Scan (Backward )?using (member|group)_totals_in_order/, `page ${page}:\n${plan}`);
        else assert.doesNotMatch(plan, /Seq Scan|Sort/, `${by}:\n${plan}`);
      }
  });
}
