/** SCIM 2.0: lists, PATCH with paths, Bulk, discovery, and what is refused (RFC 7644 sections 3.4 to 3.12). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { ENTERPRISE, GROUP, PATCH, type ScimClient, scimClient, USER } from '../../support/scim.ts';
import { startService } from '../../support/service.ts';

const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

const people = [
  ['ada@example.com', 'Lovelace', 'ada@home.example', 'Engines'],
  ['bob@example.com', 'Babbage', undefined, 'Engines'],
  ['cid@example.com', 'Cantor', 'cid@home.example', undefined],
] as const;

async function createPeople(scim: ScimClient): Promise<void> {
  for (const [userName, familyName, home, department] of people) {
    await scim.create('Users', {
      userName,
      name: { familyName },
      emails: [{ value: userName, type: 'work', primary: true }, ...(home === undefined ? [] : [{ value: home, type: 'home' }])],
      ...(department !== undefined && { [ENTERPRISE]: { department } }),
    });
  }
}

test('filters become SQL: paths, extensions, value paths, dates and booleans (section 3.4.2.2)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  await createPeople(scim);
  const [ada, bob, cid] = people.map(([userName]) => userName);
  for (const [filter, found] of [
    ['emails[type eq "home"]', [ada, cid]],
    ['emails[type eq "HOME" and value sw "ada"]', [ada]],
    ['emails[type eq "work" and value co "home"]', []],
    ['emails[type eq "home"].value eq "ada@home.example"', [ada]],
    ['emails[type eq "work"].value eq "ada@home.example"', []],
    ['emails[not (type eq "work")]', [ada, cid]],
    ['emails eq "bob@example.com"', [bob]],
    ['emails.value ew "home.example" and not (name.familyName eq "Cantor")', [ada]],
    [`${USER}:name.familyName gt "b" and ${USER}:name.familyName lt "c"`, [bob]],
    [`${ENTERPRISE}:department eq "engines"`, [ada, bob]],
    [`active eq true and userName sw "c"`, [cid]],
    ['meta.created gt "2099-01-01T00:00:00Z"', []],
    ['userName eq "x\' OR 1=1 --"', []],
    ['addresses.locality pr', []],
  ] as const) {
    assert.deepEqual(await scim.find(filter), found, filter);
  }
});

test('hostile and wrong filters are refused at once, with invalidFilter', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const alternatives = Array.from({ length: 51 }, () => 'userName eq "a"').join(' or ');
  for (const filter of [
    '('.repeat(1900),
    `${'not '.repeat(400)}userName pr`,
    alternatives,
    `userName eq "${'x'.repeat(2000)}"`,
    'emails[emails[value pr]]',
    'emails[value eq "a"',
    'userName[value eq "a"]',
    'externalId[value eq "a"]',
    'password eq "a"',
    'constructor pr',
    '__proto__ pr',
    'emails[__proto__ pr]',
    'userName eq "a\\u0000b"',
    'userName eq',
    'active eq "yes"',
    'meta.created gt "yesterday"',
  ]) {
    const started = performance.now();
    const { status, body } = await scim.call('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    assert.deepEqual([status, body.scimType], [400, 'invalidFilter'], filter.slice(0, 80));
    assert.ok(performance.now() - started < 2000, 'at once');
  }
  const { id } = await scim.create('Users', { userName: 'ada@example.com', emails: [{ value: 'ada@example.com' }] });
  for (const [path, scimType] of [
    [`emails[${'('.repeat(1900)}].value`, 'invalidFilter'],
    ['emails[type eq "work"', 'invalidPath'],
    ['__proto__.polluted', 'invalidPath'],
    ['constructor', 'invalidPath'],
    ['emails[__proto__ eq "x"].value', 'invalidFilter'],
    ['emails.__proto__', 'invalidPath'],
    ['emails[type sw "z"].value', 'noTarget'],
    ['id', 'mutability'],
    ['groups', 'mutability'],
    ['meta.created', 'mutability'],
  ]) {
    const { status, body } = await scim.patch(`/Users/${id}`, [{ op: 'replace', path, value: 'x' }]);
    assert.deepEqual([status, body.scimType], [400, scimType], String(path).slice(0, 80));
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('lists are sorted and paged, and carry the attributes that are asked for (sections 3.4.2.3 to 3.4.2.5)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  await createPeople(scim);
  const names = async (query: string) =>
    (await scim.call('GET', `/Users?filter=${encodeURIComponent('name.familyName pr')}&${query}`)).body.Resources.map(
      ({ userName }: { userName: string }) => userName[0],
    );
  assert.deepEqual(await names('sortBy=name.familyName'), ['b', 'c', 'a']);
  assert.deepEqual(await names('sortBy=NAME.familyName&sortOrder=descending'), ['a', 'c', 'b']);
  assert.deepEqual(await names('sortBy=emails.value&sortOrder=descending'), ['c', 'b', 'a']);
  assert.deepEqual(await names('startIndex=2&count=1'), ['b']);
  assert.deepEqual(await names('startIndex=-7&count=2'), ['a', 'b']);
  const none = await scim.call('GET', '/Users?count=0');
  assert.deepEqual([none.body.totalResults, none.body.itemsPerPage, none.body.Resources], [4, 0, []]);
  const beyond = await scim.call('GET', '/Users?startIndex=1000000000');
  assert.deepEqual([beyond.status, beyond.body.totalResults, beyond.body.Resources], [200, 4, []]);
  const few = await scim.call(
    'GET',
    `/Users?attributes=userName,emails.value,${ENTERPRISE}:department&filter=${encodeURIComponent('userName sw "ada"')}`,
  );
  assert.deepEqual(Object.keys(few.body.Resources[0]).sort(), ['emails', 'id', 'schemas', ENTERPRISE, 'userName'].sort());
  assert.deepEqual(few.body.Resources[0].emails, [{ value: 'ada@example.com' }, { value: 'ada@home.example' }]);
  const without = await scim.call('GET', '/Users?excludedAttributes=emails,id&count=1');
  assert.ok(!('emails' in without.body.Resources[0]) && 'id' in without.body.Resources[0]);
  const searched = await scim.call('POST', '/Users/.search', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
    filter: 'userName sw "ada"',
    attributes: ['userName'],
  });
  assert.deepEqual([searched.status, searched.body.totalResults], [200, 1]);
  for (const [query, status] of [
    ['attributes=a&excludedAttributes=b', 400],
    ['sortBy=shoeSize', 400],
    ['sortOrder=upwards', 400],
    ['count=many', 400],
    ['filter=a&filter=b', 400],
  ] as const) {
    assert.equal((await scim.call('GET', `/Users?${query}`)).status, status, query);
  }
});

test('PATCH: lists by filter, a new primary value, whole extensions, and what was wrong changes nothing (section 3.5.2)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const { id } = await scim.create('Users', {
    userName: 'ada@example.com',
    emails: [
      { value: 'ada@example.com', type: 'work', primary: true },
      { value: 'ada@home.example', type: 'home' },
    ],
    [ENTERPRISE]: { department: 'Engines', costCenter: '7' },
  });
  const path = `/Users/${id}`;
  const primary = await scim.patch(path, [{ op: 'replace', path: 'emails[type eq "home"].primary', value: true }]);
  assert.deepEqual(primary.body.emails, [
    { value: 'ada@home.example', type: 'home', primary: true },
    { value: 'ada@example.com', type: 'work', primary: false },
  ]);
  assert.equal((await service.api('GET', `/users/${id}`)).body.profile.email, 'ada@home.example', 'mail goes to the primary address');
  const gone = await scim.patch(path, [{ op: 'remove', path: 'emails[type eq "home"]' }]);
  assert.deepEqual(
    gone.body.emails.map(({ value }: { value: string }) => value),
    ['ada@example.com'],
  );
  const merged = await scim.patch(path, [{ op: 'add', path: ENTERPRISE, value: { division: 'North' } }]);
  assert.deepEqual(merged.body[ENTERPRISE], { department: 'Engines', costCenter: '7', division: 'North' });
  const bare = await scim.patch(path, [{ op: 'remove', path: ENTERPRISE }]);
  assert.deepEqual([ENTERPRISE in bare.body, bare.body.schemas], [false, [USER]]);
  const version = bare.body.meta.version;
  for (const [operations, scimType] of [
    [
      [
        { op: 'replace', path: 'title', value: 'x' },
        { op: 'replace', path: 'shoeSize', value: 7 },
      ],
      'invalidPath',
    ],
    [
      [
        { op: 'replace', path: 'title', value: 'x' },
        { op: 'replace', path: 'active', value: 'perhaps' },
      ],
      'invalidValue',
    ],
    [[{ op: 'replace', path: 'userName', value: '' }], 'invalidValue'],
    [[{ op: 'remove', path: 'userName' }], 'mutability'],
    [[{ op: 'remove' }], 'noTarget'],
    [[{ op: 'add', path: 'title' }], 'invalidValue'],
    [[{ op: 'move', path: 'title', value: 'x' }], 'invalidSyntax'],
    [[], 'invalidSyntax'],
    [[{ op: 'replace', path: 'password', value: 'short' }], 'invalidValue'],
    [[{ op: 'replace', path: 'emails', value: [{ value: 'no address' }] }], 'invalidValue'],
  ] as const) {
    const { status, body } = await scim.patch(path, operations);
    assert.deepEqual([status, body.scimType], [400, scimType], JSON.stringify(operations));
    assert.ok(body.detail.length > 10);
  }
  assert.equal((await scim.call('GET', path)).headers.get('etag'), version, 'nothing was half done');
  const wrong = await scim.patch(path, [{ op: 'replace', path: 'emails', value: [{ value: 'no address' }] }]);
  assert.match(wrong.body.detail, /^emails\[type eq "work"\]\.value: must be an e-mail address/);
});

test('attributes that operators add are an extension, with their rules (RFC 7643 section 3.3)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const EXTENSION = 'urn:ietf:params:scim:schemas:extension:gatehouse:2.0:User';
  assert.equal((await scim.call('GET', `/Schemas/${EXTENSION}`)).status, 404);
  const properties = {
    badge: { title: 'Badge', type: 'string', unique: 'UNIQUE_VALIDATED', required: true },
    shifts: { title: 'Shifts', type: 'array', items: { type: 'string' } },
    floor: { title: 'Floor', type: 'integer' },
  };
  await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties } } });
  const schema = await scim.call('GET', `/Schemas/${EXTENSION}`);
  assert.deepEqual(
    schema.body.attributes.map((one: Record<string, unknown>) => [one.name, one.type, one.multiValued, one.required, one.uniqueness]),
    [
      ['badge', 'string', false, true, 'server'],
      ['shifts', 'string', true, false, 'none'],
      ['floor', 'integer', false, false, 'none'],
    ],
  );
  const user = await scim.create('Users', { userName: 'ada@example.com', [EXTENSION]: { badge: 'A1', shifts: ['early'], floor: 3 } });
  assert.deepEqual(user[EXTENSION], { badge: 'A1', shifts: ['early'], floor: 3 });
  const later = await scim.patch(`/Users/${user.id}`, [{ op: 'add', path: `${EXTENSION}:shifts`, value: ['late', 'early'] }]);
  assert.deepEqual(later.body[EXTENSION].shifts, ['early', 'late']);
  assert.deepEqual(await scim.find(`${EXTENSION}:shifts eq "late" and ${EXTENSION}:floor ge 3`), ['ada@example.com']);
  const twin = await scim.call('POST', '/Users', { schemas: [USER], userName: 'bob@example.com', [EXTENSION]: { badge: 'a1' } });
  assert.deepEqual(
    [twin.status, twin.body.scimType, twin.body.detail],
    [409, 'uniqueness', `${EXTENSION}:badge: another user has this value. Choose another one`],
  );
  const incomplete = await scim.call('POST', '/Users', { schemas: [USER], userName: 'bob@example.com' });
  assert.deepEqual([incomplete.status, incomplete.body.detail], [400, `${EXTENSION}:badge: is required`]);
});

test('Bulk: operations refer to each other, each stands alone, and a hundred is the most (section 3.7)', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const answer = await scim.call('POST', '/Bulk', {
    schemas: [BULK],
    Operations: [
      {
        method: 'POST',
        path: '/Groups',
        bulkId: 'g',
        data: { schemas: [GROUP], displayName: 'Engineers', members: [{ value: 'bulkId:u' }] },
      },
      { method: 'POST', path: '/Users', bulkId: 'u', data: { schemas: [USER], userName: 'ada@example.com' } },
      { method: 'POST', path: '/Users', bulkId: 'twin', data: { schemas: [USER], userName: 'ADA@example.com' } },
      {
        method: 'PATCH',
        path: '/Users/bulkId:u',
        data: { schemas: [PATCH], Operations: [{ op: 'add', path: 'title', value: 'Countess' }] },
      },
      { method: 'PATCH', path: '/Users/bulkId:nobody', data: { schemas: [PATCH], Operations: [{ op: 'add', path: 'title', value: 'x' }] } },
      { method: 'DELETE', path: '/Users/usr_nobody' },
    ],
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(
    answer.body.Operations.map((one: { status: string }) => one.status),
    ['201', '201', '409', '200', '409', '404'],
  );
  const [group, user, twin, patched] = answer.body.Operations;
  assert.equal(twin.response.scimType, 'uniqueness');
  assert.equal((await scim.call('GET', `/Groups/${group.location.split('/').at(-1)}`)).body.members[0].$ref, user.location);
  const read = await scim.call('GET', `/Users/${user.location.split('/').at(-1)}`);
  assert.deepEqual(
    [read.body.title, read.headers.get('etag') === patched.version],
    ['Countess', true],
    'what an operation waits for goes first',
  );

  const stopped = await scim.call('POST', '/Bulk', {
    schemas: [BULK],
    failOnErrors: 1,
    Operations: ['x', 'y'].map((one) => ({ method: 'DELETE', path: `/Users/usr_${one}` })),
  });
  assert.equal(stopped.body.Operations.length, 1);
  const create = (n: number) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${n}`,
    data: { schemas: [USER], userName: `user${n}@example.com` },
  });
  const many = await scim.call('POST', '/Bulk', { schemas: [BULK], Operations: Array.from({ length: 101 }, (_, n) => create(n)) });
  assert.equal(many.status, 413);
  assert.deepEqual(await scim.find('userName sw "user"'), []);
  const large = await scim.call('POST', '/Bulk', { schemas: [BULK], Operations: [create(1)], filler: 'x'.repeat(1024 * 1024) });
  assert.equal(large.status, 413);
  for (const operation of [
    { method: 'GET', path: '/Users' },
    { method: 'POST', path: '/Me', bulkId: '1' },
    { method: 'POST', path: '/Users' },
  ]) {
    const { status, body } = await scim.call('POST', '/Bulk', { schemas: [BULK], Operations: [operation] });
    assert.deepEqual([status, body.scimType], [400, 'invalidSyntax']);
  }
});

test('Bulk: data that is nested deeply is refused, and very many references are read once', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service, await createOrganization(service, 'Acme'));
  const nested = (depth: number, inner: unknown): unknown => Array.from({ length: depth }).reduce((one) => [one], inner);
  const bulk = async (data: unknown) => {
    const Operations = Array.from({ length: 100 }, (_, n) => ({ method: 'POST', path: '/Users', bulkId: `${n}`, data }));
    const started = performance.now();
    const { status, body } = await scim.call('POST', '/Bulk', { schemas: [BULK], Operations });
    return { status, body, took: performance.now() - started };
  };
  const deep = await bulk(nested(1000, ['bulkId:nobody']));
  assert.deepEqual([deep.status, deep.body.scimType], [400, 'invalidSyntax']);
  assert.match(deep.body.detail, /^Operation 1: data must not be nested more than 20 levels deep$/);
  const wide = await bulk(
    nested(
      15,
      Array.from({ length: 600 }, () => 'bulkId:nobody'),
    ),
  );
  assert.equal(wide.status, 200);
  assert.ok(wide.body.Operations.every(({ status }: { status: string }) => status === '409'));
  assert.ok(wide.took < 3000, `took ${Math.round(wide.took)} ms`);
});

test('a list of groups ends before it has too many members, and the next one goes on there', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  await onServer(service.database.url, async (sql) => {
    await sql.query(`INSERT INTO users (id, login, status, profile, created, last_updated)
      SELECT 'usr_' || n, 'login-' || n, 'ACTIVE', '{}', now(), now() FROM generate_series(1, 1000) n`);
    await sql.query(
      "INSERT INTO groups (id, name, created, last_updated) SELECT 'grp_' || n, 'Group ' || n, now(), now() FROM generate_series(1, 25) n",
    );
    await sql.query(`INSERT INTO group_members (group_id, user_id, created)
      SELECT 'grp_' || g, 'usr_' || u, now() FROM generate_series(1, 25) g, generate_series(1, 1000) u`);
  });
  const list = async (parameters: string): Promise<unknown[]> => {
    const { body } = await scim.call('GET', `/Groups?sortBy=meta.created&${parameters}`);
    const members = body.Resources.map((group: { members?: unknown[] }) => group.members?.length ?? 0);
    return [body.totalResults, body.itemsPerPage, body.Resources.length, members.reduce((sum: number, one: number) => sum + one, 0)];
  };
  assert.deepEqual(await list(''), [25, 20, 20, 20_000]);
  assert.deepEqual(await list('startIndex=21'), [25, 5, 5, 5000]);
  assert.deepEqual(await list('excludedAttributes=members'), [25, 25, 25, 0]);
});

test('discovery says what there is, and what is no request of SCIM is refused in its shape', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const { body: config } = await scim.call('GET', '/ServiceProviderConfig');
  assert.deepEqual(
    [config.patch, config.bulk, config.filter, config.sort, config.etag, config.changePassword],
    [
      { supported: true },
      { supported: true, maxOperations: 100, maxPayloadSize: 1_048_576 },
      { supported: true, maxResults: 200 },
      ...[{ supported: true }, { supported: true }, { supported: true }],
    ],
  );
  assert.equal(config.authenticationSchemes[0].type, 'oauthbearertoken');
  const { body: schemas } = await scim.call('GET', '/Schemas');
  assert.deepEqual(
    schemas.Resources.map(({ name }: { name: string }) => name),
    ['User', 'EnterpriseUser', 'Group'],
  );
  assert.equal((await scim.call('GET', `/Schemas/${USER}`)).body.id, USER);
  assert.equal((await scim.call('GET', '/ResourceTypes/Group')).body.endpoint, '/Groups');
  for (const [method, path, body, headers, status] of [
    ['GET', '/Schemas?filter=id%20pr', undefined, {}, 403],
    ['POST', '/Schemas', {}, {}, 405],
    ['DELETE', '/Users', undefined, {}, 405],
    ['GET', '/Nothing', undefined, {}, 404],
    ['GET', '/Users/%00', undefined, {}, 404],
    ['GET', '/Users/%zz', undefined, {}, 404],
    ['POST', '/.search', {}, {}, 501],
    ['POST', '/Users', 'userName=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['POST', '/Users', '{"schemas"', {}, 400],
    ['POST', '/Users', '[]', {}, 400],
    ['POST', '/Users', { userName: 'x' }, {}, 400],
    ['POST', '/Users', { schemas: [USER] }, {}, 400],
    ['POST', '/Users', { schemas: [USER], userName: ['x', 'y'] }, {}, 400],
    ['POST', '/Groups', { schemas: [GROUP], displayName: 'x', members: [{ value: 'usr_nobody' }] }, {}, 400],
    ['POST', '/Groups', { schemas: [GROUP], displayName: 'x', members: [{ value: 'x', type: 'Group' }] }, {}, 400],
  ] as const) {
    const answer = await scim.call(method, path, body, headers as Record<string, string>);
    assert.deepEqual([answer.status, answer.body.status], [status, String(status)], `${method} ${path} ${JSON.stringify(answer.body)}`);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/scim\+json/);
  }
});
