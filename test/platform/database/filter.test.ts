import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AttributeColumns, applyFilter, attributeTypes } from '../../../src/platform/database/filter.ts';
import { parseFilter } from '../../../src/platform/database/filter-syntax.ts';
import { ApiError } from '../../../src/platform/errors/errors.ts';
import { testServices } from '../../support/management-api.ts';

const COLUMNS: AttributeColumns = {
  login: { sql: 'login', type: 'text' },
  'profile.nickName': { sql: "profile->>'nickName'", type: 'text' },
  'profile.tag': { sql: 'element', type: 'text', among: "jsonb_array_elements_text(profile->'tags') AS element" },
  lastLogin: { sql: 'last_login', type: 'time' },
  emailVerified: { sql: 'email_verified', type: 'boolean' },
};

const PEOPLE = [
  { login: 'Ada', profile: { nickName: 'a_d%a', tags: ['red', 'blue'] }, last_login: '2026-01-01T00:00:00.000Z', email_verified: true },
  { login: 'bob', profile: { nickName: 'back\\slash "quoted"', tags: ['Red'] }, last_login: '2026-02-01T12:00:00.000Z' },
  { login: 'Cid', profile: { nickName: '' }, email_verified: true },
  { login: 'émile', profile: { tags: ['green'] }, last_login: '2026-03-01T00:00:00.000Z' },
];

describe('filters of lists (RFC 7644 section 3.4.2.2)', () => {
  let parts: Awaited<ReturnType<typeof testServices>>;
  before(async () => {
    parts = await testServices();
    const now = new Date();
    const rows = PEOPLE.map((person, turn) => ({ id: `usr_${turn}`, status: 'ACTIVE', created: now, last_updated: now, ...person }));
    await parts.services.database.knex('users').insert(rows);
  });
  after(() => parts.close());

  const found = async (expression: string): Promise<string[]> => {
    const query = parts.services.database.knex('users');
    applyFilter(query, parseFilter(expression, attributeTypes(COLUMNS), 'filter'), COLUMNS);
    const rows = await query.select<{ login: string }[]>('login').orderBy('seq');
    return rows.map(({ login }) => login);
  };

  const everybody = PEOPLE.map(({ login }) => login);
  const expected: [expression: string, logins: string[]][] = [
    ['login eq "ada"', ['Ada']],
    ['LOGIN EQ "ADA"', ['Ada']],
    ['login eq "ÉMILE"', ['émile']],
    ['login eq "\\u00e9mile"', ['émile']],
    ['login ne "ada"', ['bob', 'Cid', 'émile']],
    ['login co "I"', ['Cid', 'émile']],
    ['login sw "B"', ['bob']],
    ['login ew "D"', ['Cid']],
    ['login gt "ada" and login lt "cid"', ['bob']],
    ['login ge "ada" and login le "CID"', ['Ada', 'bob', 'Cid']],
    ['profile.nickname co "_d%"', ['Ada']],
    ['profile.nickName co "%"', ['Ada']],
    ['profile.nickName co "\\\\s"', ['bob']],
    ['profile.nickName ew "\\"quoted\\""', ['bob']],
    ['profile.nickName pr', ['Ada', 'bob']],
    ['not (profile.nickName pr)', ['Cid', 'émile']],
    ['profile.nickName ne "a_d%a"', ['bob', 'Cid', 'émile']],
    ['not (profile.nickName eq "a_d%a")', ['bob', 'Cid', 'émile']],
    ['not (profile.nickName eq "a_d%a" and login pr)', ['bob', 'Cid', 'émile']],
    ['not (profile.nickName ne "a_d%a")', ['Ada']],
    ['profile.tag eq "red"', ['Ada', 'bob']],
    ['profile.tag ne "red"', ['Cid', 'émile']],
    ['profile.tag pr', ['Ada', 'bob', 'émile']],
    ['lastLogin eq "2026-02-01T12:00:00Z"', ['bob']],
    ['lastLogin eq "2026-02-01T13:00:00.000+01:00"', ['bob']],
    ['lastLogin gt "2026-01-01T00:00:00.000Z"', ['bob', 'émile']],
    ['lastLogin ge "2026-01-01T00:00:00.000Z"', ['Ada', 'bob', 'émile']],
    ['lastLogin lt "2026-02-01T12:00:00.000Z"', ['Ada']],
    ['lastLogin le "2026-02-01T12:00:00.000Z"', ['Ada', 'bob']],
    ['lastLogin ne "2026-02-01T12:00:00Z"', ['Ada', 'Cid', 'émile']],
    ['not (lastLogin pr)', ['Cid']],
    ['emailVerified eq true', ['Ada', 'Cid']],
    ['emailVerified ne true', ['bob', 'émile']],
    ['login eq "bob" or login eq "ada" and emailVerified eq false', ['bob']],
    ['(login eq "bob" or login eq "ada") and emailVerified eq true', ['Ada']],
    ['not (login eq "bob") and not (login eq "ada")', ['Cid', 'émile']],
    [`login eq "x' OR 1=1 --"`, []],
    ['login ne "?"', everybody],
    [`${'('.repeat(300)}login eq "bob"${')'.repeat(300)}`, ['bob']],
    [Array.from({ length: 50 }, () => 'login eq "ada"').join(' or '), ['Ada']],
  ];
  for (const [expression, logins] of expected) {
    it(`${expression.slice(0, 80)} finds ${logins.join(', ') || 'nobody'}`, async () => {
      assert.deepEqual(await found(expression), logins);
    });
  }

  const NO_FILTER = 'must be a filter of RFC 7644 section 3.4.2.2, such as name sw "A" and not (name eq "Ada")';
  const refused: [expression: string, cause: string][] = [
    ['', NO_FILTER],
    ['login', NO_FILTER],
    ['login eq', NO_FILTER],
    ['login eq ada', NO_FILTER],
    ['login eq "ada', NO_FILTER],
    ['login eq "ada" and', NO_FILTER],
    ['login eq "ada" login eq "bob"', NO_FILTER],
    ['(login eq "ada"', NO_FILTER],
    ['login is "ada"', NO_FILTER],
    ['login pr not login pr', NO_FILTER],
    ['login pr constructor login pr', NO_FILTER],
    ['login eq "\\x"', NO_FILTER],
    ['login eq "ada"; DROP TABLE users', NO_FILTER],
    ['('.repeat(2000), NO_FILTER],
    ['shoeSize eq "42"', 'shoeSize is not an attribute that can be filtered'],
    ['constructor pr', 'constructor is not an attribute that can be filtered'],
    ['login eq true', 'login must be compared with text in double quotes'],
    ['login eq 7', 'login must be compared with text in double quotes'],
    ['login eq null', 'login must be compared with text in double quotes'],
    ['lastLogin gt 7', 'lastLogin must be compared with text in double quotes'],
    ['lastLogin gt "yesterday"', 'lastLogin must be compared with a time like "2026-11-21T01:02:03.000Z"'],
    ['lastLogin gt "2026-02-30T00:00:00Z"', 'lastLogin must be compared with a time like "2026-11-21T01:02:03.000Z"'],
    ['lastLogin co "2026"', 'lastLogin does not support the operator co'],
    ['emailVerified eq "true"', 'emailVerified must be compared with true or false'],
    ['emailVerified gt false', 'emailVerified does not support the operator gt'],
    ['login[value eq "ada"]', 'login does not support value filters in brackets'],
    ['login eq "a\u0000b"', 'must not contain control characters'],
    ['login eq "a\\u0000b"', 'must not contain control characters'],
    ['login eq "\\ud800"', 'must not contain control characters'],
    [Array.from({ length: 51 }, () => 'login eq "ada"').join(' or '), 'must have at most 50 comparisons'],
    [`${'not '.repeat(400)}login pr`, 'must not be nested more than 50 deep'],
    [`login eq "${'x'.repeat(2000)}"`, 'must have at most 2000 characters'],
  ];
  for (const [expression, cause] of refused) {
    it(`refuses ${JSON.stringify(expression.slice(0, 60))}: ${cause}`, () => {
      assert.throws(
        () => parseFilter(expression, attributeTypes(COLUMNS), 'search'),
        (error) => {
          assert(error instanceof ApiError);
          assert.deepEqual([error.errorCode, error.causes], ['E0000001', [`search: ${cause}`]]);
          return true;
        },
      );
    });
  }
});
