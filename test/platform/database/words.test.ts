/** Search by words, as the database does it (migrations/025-search-words.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { USER_ORDERS } from '../../../src/features/users/user-orders.store.ts';
import { inPages } from '../../../src/platform/database/paging.ts';
import { inAlphabet, matchesWords } from '../../../src/platform/database/words.ts';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';

test('typed words match the beginnings of words, whatever case, accents and punctuation', async (t) => {
  const service = await startService(t);
  await onServer(service.database.url, async (client) => {
    const matches = async (typed: string, ...names: (string | null)[]): Promise<boolean | null> =>
      (await client.query('SELECT search_words(VARIADIC $2::text[]) @@ search_query($1) AS is_match', [typed, names])).rows[0].is_match;
    for (const [typed, ...names] of [
      ['anna mull', 'Anna', 'Müller'],
      ['MÜLLER anna', 'Anna', 'Muller'],
      ['mu\u0308l', 'Müller'],
      ['example.com', 'ada@example.com'],
      ['ada@exa', 'ada@example.com'],
      ["o'br", 'O’Brien, O.'.replace('’', "'")],
      ['strasse lukasz ors', 'Straße', 'Łukasz', 'Ørsted'],
      ['王', '王小明'],
      ['иван', 'Иван'],
      ['berg', 'Müller-Berg'],
    ] as const) {
      assert.equal(await matches(typed, ...names), true, `${typed} in ${names}`);
      assert.equal(matchesWords(names, typed), true, `in memory: ${typed} in ${names}`);
    }
    for (const [typed, ...names] of [
      ['nna', 'Anna'],
      ['anna smith', 'Anna', 'Müller'],
      ['%', '100%'],
      ['a & b | !c', 'Anna'],
    ] as const) {
      assert.notEqual(await matches(typed, ...names), true, `${typed} in ${names}`);
      assert.equal(matchesWords(names, typed), false, `in memory: ${typed} in ${names}`);
    }
    assert.equal(await matches('ada', 'Ada', null, ''), true, 'absent names do not matter');
  });
});

test('a search uses the index, and finds what is in no other order', async (t) => {
  const service = await startService(t);
  for (const lastName of ['Müller', 'Smith', 'Müller-Berg']) await service.createUser({ firstName: 'Anna', lastName });
  const { body } = await service.api('GET', `/users?q=${encodeURIComponent('muller ANNA')}`);
  assert.deepEqual(
    body.map(({ profile }: { profile: { lastName: string } }) => profile.lastName),
    ['Müller', 'Müller-Berg'],
  );
  await onServer(service.database.url, async (client) => {
    await client.query('SET enable_seqscan = off');
    const names = ['firstName', 'middleName', 'lastName', 'displayName', 'nickName'].map((name) => `profile->>'${name}'`);
    const { rows } = await client.query(
      `EXPLAIN SELECT id FROM users WHERE search_words(users.login, users.email, ${names.join(', ')}) @@ search_query('anna')`,
    );
    assert.match(JSON.stringify(rows), /users_by_words/);
  });
});

test('names are sorted without regard to case and accents, in the database as in memory, by an index', async (t) => {
  const names = ['Zoë', 'émile', 'Emilia', 'Ångström', 'Straße', 'strasse 2', 'Øre', 'Óscar', 'łukasz', 'Mary', '王'];
  const inOrder = ['Ångström', 'émile', 'Emilia', 'łukasz', 'Mary', 'Øre', 'Óscar', 'Straße', 'strasse 2', 'Zoë', '王'];
  const service = await startService(t);
  const sort = { by: 'name', descending: false, isText: true };
  const inMemory = inPages(
    names.filter((name) => !/[ßø]/i.test(name)).map((name) => ({ name })),
    { limit: 20, page: 1, sort },
  );
  assert.deepEqual(
    inMemory.items.map(({ name }) => name),
    inOrder.filter((name) => !/[ßø]/i.test(name)),
  );
  await onServer(service.database.url, async (client) => {
    const { rows } = await client.query(`SELECT name FROM unnest($1::text[]) AS name ORDER BY ${inAlphabet('name')}`, [names]);
    assert.deepEqual(
      rows.map(({ name }) => name),
      inOrder,
    );
    await client.query('SET enable_seqscan = off');
    await client.query('SET enable_sort = off');
    for (const [by, order] of [
      ['login', USER_ORDERS.login],
      ['name', USER_ORDERS.name],
    ]) {
      const plan = await client.query(`EXPLAIN SELECT id FROM users ORDER BY ${order} ASC NULLS LAST, seq ASC LIMIT 20`);
      assert.match(JSON.stringify(plan.rows), new RegExp(`users_by_sorted_${by}`));
      const search = await client.query(`EXPLAIN SELECT id FROM users ORDER BY (SELECT ${order}) ASC NULLS LAST, seq ASC LIMIT 20`);
      assert.doesNotMatch(JSON.stringify(search.rows), /users_by_sorted/, 'a search that finds one user would go through all');
    }
  });
});
