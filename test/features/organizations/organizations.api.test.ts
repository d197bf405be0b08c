import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Created {
  orgId: string;
  success: boolean;
}
interface Detail {
  orgId: string;
  name: string;
  originId: string;
  type: string;
  memberCount: number;
  editable: boolean;
}
interface List {
  count: number;
  organizations: { orgId: string; name: string; originId: string }[];
}

describe('organizations ("Organization endpoints")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const search = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
  const create = <T = Created>(parameters: Record<string, string>, body?: unknown) =>
    api.call<T>('POST', `/account/org?${search(parameters)}`, body);
  const made = async (orgName: string, more: Record<string, string> = {}): Promise<string> => {
    const answer = await create({ orgName, ...more });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.orgId;
  };
  const detail = async (orgId: string) => (await api.call<Detail>('GET', `/account/org/${orgId}`)).body;
  const refusal = ({ status, body }: Answer<ErrorObject>) => [
    status,
    body.errorCode,
    ...body.errorCauses.map((cause) => cause.errorSummary),
  ];
  const eventsAbout = (orgId: string): Promise<{ event_type: string; debug_context: unknown; actor: { id: string } }[]> =>
    api.services.database.knex('audit_events').whereRaw("target->0->>'id' = ?", [orgId]).orderBy('seq').select('*');

  it('takes no octets that are not UTF-8, in the query and in the body (RFC 3986 section 2.5, RFC 8259 section 8.1)', async () => {
    for (const query of ['orgName=%B1%B1%BE%A9', 'orgName=%E4%ZZ', 'orgName=100%', 'orgName=%ED%A0%80']) {
      const answer = await api.call('POST', `/account/org?${query}`);
      assert.deepEqual(refusal(answer), [400, 'E0000001', 'orgName: must be percent-encoded UTF-8'], query);
    }
    // As a string of bytes: fetch would write text as UTF-8.
    const gbk = Buffer.from('{"orgName":"\xb1\xb1\xbe\xa9"}', 'latin1');
    const headers = { authorization: `SSWS ${api.admin.token}`, 'content-type': 'application/json' };
    const response = await fetch(`${api.base}/account/org`, { method: 'POST', headers, body: gbk });
    assert.deepEqual([response.status, ((await response.json()) as ErrorObject).errorCode], [400, 'E0000003']);
    assert.deepEqual(refusal(await api.call('POST', '/account/org?orgName=a&orgName=b')), [
      400,
      'E0000001',
      'orgName: must be given only once',
    ]);
  });

  it('creates one by the query, and answers orgId and success, no more', async () => {
    const answer = await create({ orgName: 'Acme' });
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body).sort(), ['orgId', 'success']);
    assert.match(answer.body.orgId, /^org_[0-9A-Za-z]{20}$/);
    assert.equal(answer.body.success, true);
    assert.deepEqual(await detail(answer.body.orgId), {
      orgId: answer.body.orgId,
      name: 'Acme',
      originId: '',
      type: 'LOCAL',
      memberCount: 0,
      editable: true,
    });
  });

  it('takes the same names from a JSON body; the query wins ("Organizations", parameters in)', async () => {
    const byBody = await create({}, { orgName: ' From the body ', originId: 'B-1', type: 'SCIM' });
    assert.deepEqual(await detail(byBody.body.orgId), {
      orgId: byBody.body.orgId,
      name: 'From the body',
      originId: 'B-1',
      type: 'SCIM',
      memberCount: 0,
      editable: false,
    });
    const byBoth = await create({ orgName: 'From the query' }, { orgName: 'Overruled', originId: 'B-2' });
    const { name, originId } = await detail(byBoth.body.orgId);
    assert.deepEqual([name, originId], ['From the query', 'B-2']);
  });

  it('needs no body at all, nor a content type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'application/x-www-form-urlencoded' }]) {
      const answer = await api.call<Created>(
        'POST',
        `/account/org?${search({ orgName: `No body ${Object.values(headers)}` })}`,
        undefined,
        headers,
      );
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const renamed = await api.call(
        'PUT',
        `/account/org/${answer.body.orgId}?${search({ name: `Renamed ${Object.values(headers)}` })}`,
        undefined,
        headers,
      );
      assert.equal(renamed.status, 200, JSON.stringify(renamed.body));
    }
  });

  it('treats markup, quotes, right-to-left script and 255 characters as a name like any other', async () => {
    const names = [
      '<script>alert(1)</script>',
      `'); DROP TABLE organizations;--`,
      'شركة \u202eabc',
      '株式会社 👩‍🔬',
      'x'.repeat(255),
      '%',
      'null',
    ];
    for (const name of names) assert.equal((await detail(await made(name))).name, name);
  });

  it('renames, and tells before and after in one event', async () => {
    const orgId = await made('Before', { originId: 'O-1' });
    const answer = await api.call('PUT', `/account/org/${orgId}?name=%20After%20`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { success: true, orgId });
    assert.equal((await detail(orgId)).name, 'After');
    assert.equal((await api.call('PUT', `/account/org/${orgId}`, { name: 'By the body' })).status, 200);
    assert.equal((await detail(orgId)).name, 'By the body');
    const events = await eventsAbout(orgId);
    assert.deepEqual(
      events.map(({ event_type, debug_context }) => [event_type, debug_context]),
      [
        ['org.lifecycle.create', { after: { name: 'Before', originId: 'O-1', type: 'LOCAL' } }],
        [
          'org.update',
          { before: { name: 'Before', originId: 'O-1', type: 'LOCAL' }, after: { name: 'After', originId: 'O-1', type: 'LOCAL' } },
        ],
        [
          'org.update',
          { before: { name: 'After', originId: 'O-1', type: 'LOCAL' }, after: { name: 'By the body', originId: 'O-1', type: 'LOCAL' } },
        ],
      ],
    );
    assert.ok(events.every(({ actor }) => actor.id === api.admin.userId));
  });

  it('lets an organization keep its own name, and refuses that of another with 409', async () => {
    const orgId = await made('Kept');
    await made('Taken');
    assert.equal((await api.call('PUT', `/account/org/${orgId}?name=Kept`)).status, 200);
    const taken = await api.call('PUT', `/account/org/${orgId}?name=Taken`);
    assert.deepEqual(refusal(taken), [409, 'E0000014', 'name: another organization has this name. Choose another name']);
    assert.equal((await detail(orgId)).name, 'Kept');
    assert.deepEqual(refusal(await create<ErrorObject>({ orgName: ' Taken ' })), [
      409,
      'E0000014',
      'orgName: another organization has this name. Choose another name',
    ]);
  });

  it('refuses to rename what comes from another source: it is not editable', async () => {
    for (const type of ['LDAP', 'SCIM', 'OIDC']) {
      const orgId = await made(`Of ${type}`, { type, originId: `${type}-1` });
      const { editable, type: told } = await detail(orgId);
      assert.deepEqual([editable, told], [false, type]);
      const answer = await api.call('PUT', `/account/org/${orgId}?name=Other`);
      assert.deepEqual([answer.status, answer.body.errorCode], [403, 'E0000038']);
      assert.match(answer.body.errorSummary, new RegExp(type));
      assert.equal((await detail(orgId)).name, `Of ${type}`);
    }
  });

  it('deletes an empty one', async () => {
    const orgId = await made('Short-lived');
    assert.deepEqual((await api.call('DELETE', `/account/org/${orgId}`)).body, { success: true, orgId });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/tree'],
      ['GET', '/member'],
      ['PUT', '?name=Again'],
      ['DELETE', ''],
    ] as const) {
      assert.equal((await api.call(method, `/account/org/${orgId}${path}`)).status, 404);
    }
    assert.deepEqual(
      (await eventsAbout(orgId)).map(({ event_type }) => event_type),
      ['org.lifecycle.create', 'org.lifecycle.delete'],
    );
    await made('Short-lived');
  });

  it('deletes none that has departments or members', async () => {
    const withDepartment = await made('With a department');
    const { body: dep } = await api.call<{ depId: string }>('POST', `/account/org/${withDepartment}/department`, { name: 'Sales' });
    const refused = await api.call('DELETE', `/account/org/${withDepartment}`);
    assert.deepEqual([refused.status, refused.body.errorCode], [403, 'E0000038']);
    assert.match(refused.body.errorSummary, /still has departments/);
    await api.call('DELETE', `/account/org/${withDepartment}/department/${dep.depId}`);
    assert.equal((await api.call('DELETE', `/account/org/${withDepartment}`)).status, 200);

    const withMember = await made('With a member');
    await api.call('PUT', `/account/org/${withMember}/member/${api.admin.userId}`);
    assert.match((await api.call('DELETE', `/account/org/${withMember}`)).body.errorSummary, /still has members/);
    await api.call('DELETE', `/account/org/${withMember}/member/${api.admin.userId}`);
    assert.equal((await api.call('DELETE', `/account/org/${withMember}`)).status, 200);
  });

  const refused: [why: string, query: Record<string, string>, body: unknown, expected: string[]][] = [
    ['no name', {}, undefined, ['orgName: is required']],
    ['no name in the body either', {}, {}, ['orgName: is required']],
    ['an empty name', { orgName: '' }, undefined, ['orgName: must not be empty']],
    ['an empty name in the query, which wins', { orgName: ' ' }, { orgName: 'Fine' }, ['orgName: must not be empty']],
    ['256 characters', { orgName: 'x'.repeat(256) }, undefined, ['orgName: must have at most 255 characters']],
    ['10,000 characters', {}, { orgName: 'x'.repeat(10_000) }, ['orgName: must have at most 255 characters']],
    ['a control character', { orgName: 'a\u0007b' }, undefined, ['orgName: must not contain control characters']],
    ['NUL', {}, { orgName: 'a\u0000b' }, ['orgName: must not contain control characters']],
    ['a line break', { orgName: 'a\nb' }, undefined, ['orgName: must not contain control characters']],
    ['half a surrogate pair', {}, { orgName: '\ud800' }, ['orgName: must not contain control characters']],
    [
      'several mistakes in the query',
      { orgName: '', type: 'local', originId: '\u0000' },
      undefined,
      ['orgName: must not be empty', 'originId: must not contain control characters', 'type: must be LOCAL or LDAP or SCIM or OIDC'],
    ],
    [
      'several mistakes in the body',
      { orgName: 'Fine' },
      { orgName: 7, originId: null, type: 'AD' },
      ['orgName: must be of type string', 'originId: must be of type string', 'type: must be LOCAL or LDAP or SCIM or OIDC'],
    ],
    ['unknown fields in the body', { orgName: 'Fine' }, { colour: 'red', size: 1 }, ['colour: is not a field of this resource']],
  ];
  for (const [why, query, body, expected] of refused) {
    it(`creates none with ${why}, and says which field is wrong`, async () => {
      const answer = await create<ErrorObject>(query, body);
      assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
    });
  }

  it('refuses a parameter given twice, and other content types', async () => {
    const twice = await api.call('POST', '/account/org?orgName=a&orgName=b');
    assert.deepEqual(refusal(twice), [400, 'E0000001', 'orgName: must be given only once']);
    const form = await api.call('POST', '/account/org', 'orgName=a', { 'content-type': 'application/x-www-form-urlencoded' });
    assert.deepEqual([form.status, form.body.errorCode], [400, 'E0000003']);
    const broken = await api.call('POST', '/account/org', '{"orgName":');
    assert.deepEqual([broken.status, broken.body.errorCode], [400, 'E0000003']);
  });

  it('takes back what it has told, and ignores all but the name ("Conventions")', async () => {
    const orgId = await made('Told');
    const told = await detail(orgId);
    assert.equal(
      (await api.call('PUT', `/account/org/${orgId}`, { ...told, name: 'Told anew', originId: 'other', memberCount: 7 })).status,
      200,
    );
    assert.deepEqual(await detail(orgId), { ...told, name: 'Told anew' });
  });

  it('refuses a rename without a name, and with a field that there is not', async () => {
    const orgId = await made('Fixed');
    assert.deepEqual(refusal(await api.call('PUT', `/account/org/${orgId}`)), [400, 'E0000001', 'name: is required']);
    assert.deepEqual(refusal(await api.call('PUT', `/account/org/${orgId}`, { name: 'a', nonsense: 'O-2' })), [
      400,
      'E0000001',
      'nonsense: is not a field of this resource',
    ]);
    for (const name of ['', 'x'.repeat(10_000), '\u0000']) {
      const answer = await api.call('PUT', `/account/org/${orgId}?${search({ name })}`);
      assert.equal(answer.status, 400);
      assert.match(causes(answer).join(), /^name: /);
    }
    assert.equal((await detail(orgId)).name, 'Fixed');
  });

  it('answers 405 with what is allowed', async () => {
    const orgId = await made('Methods');
    const cases: [method: string, path: string, allowed: string[]][] = [
      ['PUT', '/account/org', ['GET', 'POST']],
      ['DELETE', '/account/org', ['GET', 'POST']],
      ['PATCH', `/account/org/${orgId}`, ['DELETE', 'GET', 'PUT']],
      ['POST', `/account/org/${orgId}`, ['DELETE', 'GET', 'PUT']],
      ['POST', `/account/org/${orgId}/tree`, ['GET']],
      ['GET', `/account/org/${orgId}/department`, ['POST']],
      ['GET', `/account/org/${orgId}/department/dep_1`, ['DELETE', 'PUT']],
      ['POST', `/account/org/${orgId}/member`, ['GET']],
      ['GET', `/account/org/${orgId}/member/usr_1`, ['DELETE', 'PUT']],
    ];
    for (const [method, path, allowed] of cases) {
      const answer = await api.call(method, path);
      assert.deepEqual([answer.status, answer.body.errorCode], [405, 'E0000022'], `${method} ${path}`);
      const told = answer.headers
        .get('allow')
        ?.split(', ')
        .filter((one) => one !== 'HEAD');
      assert.deepEqual(told?.sort(), allowed);
    }
  });

  it('gives one of twenty that want the same name, and writes one event', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create<Created & ErrorObject>({ orgName: 'Wanted' })));
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    assert.ok(winner !== undefined && others.length === 0);
    const losers = answers.filter(({ status }) => status !== 200);
    assert.equal(losers.length, 19);
    for (const loser of losers) assert.deepEqual([loser.status, loser.body.errorCode], [409, 'E0000014']);
    const events = await api.services.database.knex('audit_events').whereRaw("target->0->>'displayName' = 'Wanted'");
    assert.equal(events.length, 1);
  });

  it('gives one name to one of twenty that are renamed to it', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => made(`Candidate ${at}`)));
    const answers = await Promise.all(ids.map((orgId) => api.call('PUT', `/account/org/${orgId}?name=Elected`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('creates once whatever is repeated under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once-only' };
    const send = () => api.call<Created>('POST', '/account/org?orgName=Once', undefined, headers);
    const answers = await Promise.all([send(), send(), send()]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ body }) => body.orgId)).size, 1);
  });
});

describe('the list of organizations (decisions, "Organizations")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const list = (query = '') => api.call<List>('GET', `/account/org${query}`);
  const names = async (query = '') => (await list(query)).body.organizations.map(({ name }) => name);
  const name = (at: number) => `Org ${String(at).padStart(2, '0')}`;
  const all = Array.from({ length: 25 }, (_, at) => name(at));

  it('is empty at first', async () => {
    assert.deepEqual((await list()).body, { count: 0, organizations: [] });
  });

  it('shows twenty of all, the oldest first, with orgId, name and originId, no more', async () => {
    for (const orgName of all) await api.call('POST', '/account/org', { orgName, originId: `O ${orgName}` });
    const { status, body } = await list();
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['count', 'organizations']);
    assert.equal(body.count, 25);
    assert.deepEqual(
      body.organizations.map((found) => found.name),
      all.slice(0, 20),
    );
    for (const found of body.organizations) {
      assert.deepEqual(Object.keys(found).sort(), ['name', 'orgId', 'originId']);
      assert.equal(found.originId, `O ${found.name}`);
    }
  });

  it('goes on in pages, whatever is created or renamed meanwhile', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const { body } = await list(`?page=${page}&limit=7`);
      seen.push(...body.organizations.map(({ orgId }) => orgId));
      await api.call('POST', '/account/org', { orgName: `Meanwhile ${page}` });
      await api.call('PUT', `/account/org/${seen[0]}?name=${encodeURIComponent(`Renamed ${page}`)}`);
    }
    assert.equal(new Set(seen).size, 28);
    assert.deepEqual(await names('?page=4&limit=7'), [...all.slice(21), 'Meanwhile 1', 'Meanwhile 2', 'Meanwhile 3']);
    assert.equal((await list('?page=5&limit=7')).body.count, 29);
  });

  it('shifts no page while twenty are created at once', async () => {
    const { body: first } = await list('?limit=200');
    const creations = Promise.all(Array.from({ length: 20 }, (_, at) => api.call('POST', `/account/org?orgName=Parallel%20${at}`)));
    let known = first.organizations.map(({ orgId }) => orgId);
    for (let turn = 0; turn < 40; turn += 1) {
      const now = (await list('?limit=200')).body.organizations.map(({ orgId }) => orgId);
      assert.deepEqual(now.slice(0, known.length), known, 'what was told before stays where it was');
      known = now;
    }
    assert.ok((await creations).every(({ status }) => status === 200));
    assert.equal((await list('?limit=200')).body.organizations.length, first.count + 20);
  });

  it('ends with empty pages, however far one asks', async () => {
    const { count } = (await list()).body;
    for (const page of ['100', '4611686018427', '999999999999999']) {
      const { status, body } = await list(`?page=${page}&limit=200`);
      assert.deepEqual([status, body], [200, { count, organizations: [] }]);
    }
    assert.deepEqual(await names('?limit=1&page=25'), [all[24]]);
    assert.equal((await list('?page=1&limit=200')).body.organizations.length, count);
  });

  for (const field of ['page', 'limit']) {
    const wrong = ['0', '-1', '', 'two', '1.5', '1e2', '0x10', '+1', ' 1', '9'.repeat(30), ...(field === 'limit' ? ['201', '1000'] : [])];
    for (const value of wrong) {
      it(`refuses ${field}="${value}"`, async () => {
        const answer = await api.call('GET', `/account/org?${new URLSearchParams({ [field]: value })}`);
        assert.deepEqual([answer.status, answer.body.errorCode], [400, 'E0000001']);
        assert.match(causes(answer).join(), new RegExp(`^${field}: must be a whole number from 1`));
      });
    }
  }

  it('tells both mistakes at once, and refuses a parameter given twice', async () => {
    assert.deepEqual(causes(await api.call('GET', '/account/org?page=0&limit=0')), [
      'limit: must be a whole number from 1 to 200',
      'page: must be a whole number from 1 to 999999999999999',
    ]);
    assert.deepEqual(causes(await api.call('GET', '/account/org?page=1&page=2')), ['page: must be given only once']);
  });
});
