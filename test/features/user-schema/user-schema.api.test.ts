import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eraseRemovedAttributes } from '../../../src/features/user-schema/attribute-definitions.service.ts';
import { eventsAbout, person, type User, unique } from '../../api/people.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

const PATH = '/meta/schemas/user/default';

interface Schema {
  definitions: Record<'base' | 'custom', { properties: Record<string, Record<string, unknown>>; required: string[] }>;
}

const SELF = [{ principal: 'SELF', action: 'READ_ONLY' }];
const FIXED = { permissions: SELF, scope: 'NONE', mutability: 'READ_WRITE', master: { type: 'PROFILE_MASTER' } };

describe('attributes of one’s own (management API, "meta/schemas/user/default")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const change = (properties: Record<string, unknown>) => api.call<Schema>('POST', PATH, { definitions: { custom: { properties } } });
  const define = async (properties: Record<string, unknown>) => {
    const { status, body } = await change(properties);
    assert.equal(status, 200, JSON.stringify(body));
    return body.definitions.custom;
  };
  const refusals = async (profile: object) => {
    const answer = await api.call('POST', '/users', { profile: { login: unique('refused'), ...profile } });
    return [answer.status, ...causes(answer)];
  };
  const found = async (expression: string) => {
    const { status, body } = await api.call<User[]>('GET', `/users?search=${encodeURIComponent(expression)}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.map(({ profile }) => profile.login).sort();
  };

  it('GET shows those of the service, and POST merges: what is not named stays, null removes one', async () => {
    const before = (await api.call<Schema>('GET', PATH)).body;
    assert.deepEqual(before.definitions.base.required, ['login']);
    assert.equal(before.definitions.base.properties.nickName?.title, 'Nick name');
    await define({ tier: { title: 'Tier', type: 'string', enum: ['gold', 'silver'], required: false } });
    const { properties } = await define({ points: { title: 'Points', type: 'integer' } });
    assert.deepEqual(properties.tier, { title: 'Tier', type: 'string', required: false, enum: ['gold', 'silver'], ...FIXED });
    assert.deepEqual(properties.points, { title: 'Points', type: 'integer', required: false, ...FIXED });
    assert.deepEqual(Object.keys((await define({ tier: null, points: null })).properties), []);
    // A whole answer may be sent back.
    const { body: whole } = await api.call<Schema>('GET', PATH);
    assert.equal((await api.call('POST', PATH, whole)).status, 200);
    const other = { definitions: { base: { properties: { nickName: { title: 'Other', type: 'string' } } } } };
    const refused = await api.call('POST', PATH, other);
    assert.deepEqual(causes(refused), [
      'definitions.base.properties.nickName: cannot be changed: the attributes of the service are read-only',
    ]);
  });

  it('refuses what cannot be an attribute, naming the field, and changes nothing then', async () => {
    await define({ level: { title: 'Level', type: 'string' } });
    const at = 'definitions.custom.properties';
    for (const [wanted, cause] of [
      [{ firstName: { title: 'X', type: 'string' } }, 'firstName: is reserved for the service. Choose another name'],
      [{ FIRSTNAME: { title: 'X', type: 'string' } }, 'FIRSTNAME: is reserved for the service. Choose another name'],
      [{ constructor: { title: 'X', type: 'string' } }, 'constructor: is reserved for the service. Choose another name'],
      [{ LEVEL: { title: 'X', type: 'string' } }, 'LEVEL: differs from level only in case. Choose another name'],
      [{ 'a-b': { title: 'X', type: 'string' } }, 'a-b: must begin with a letter and have at most 59 letters, digits and underscores'],
      [{ level: { title: 'X', type: 'number' } }, 'level.type: cannot be changed from string. Remove the attribute and add another one'],
      [{ gone: null }, 'gone: does not exist, so it cannot be removed'],
      [{ a: { title: 'X', type: 'integer', maxLength: 3 } }, 'a.maxLength: cannot be used with type integer'],
      [{ a: { title: 'X', type: 'string', minLength: 9, maxLength: 3 } }, 'a.minLength: must not be greater than maxLength'],
      [{ a: { title: 'X', type: 'boolean', unique: 'UNIQUE_VALIDATED' } }, 'a.unique: cannot be used with type boolean'],
      [{ a: { title: 'X', type: 'integer', enum: [1, 'two'] } }, 'a.enum.1: must be a whole number'],
      [{ a: { title: 'X', type: 'string', enum: ['b', 'b'] } }, 'a.enum: must not contain a value twice'],
    ] as const) {
      const answer = await change({ fine: { title: 'Fine', type: 'string' }, ...wanted });
      assert.deepEqual([answer.status, causes(answer as never)], [400, [`${at}.${cause}`]]);
    }
    for (const pattern of ['(?=x)', '\\1', '(', '((((a{1000}){1000}))']) {
      const answer = await change({ a: { title: 'X', type: 'string', pattern } });
      assert.match(causes(answer as never)[0] ?? '', /properties\.a\.pattern: must be an RE2 regular expression/, pattern);
    }
    assert.deepEqual(Object.keys((await define({ level: null })).properties), []);
  });

  it('values are judged by their attributes wherever a user is written, each refusal naming its field', async () => {
    await define({
      code: { title: 'Code', type: 'string', minLength: 2, maxLength: 4, pattern: '^[A-Z]+$' },
      score: { title: 'Score', type: 'number' },
      seats: { title: 'Seats', type: 'integer' },
      vip: { title: 'VIP', type: 'boolean' },
      colours: { title: 'Colours', type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
      plan: { title: 'Plan', type: 'string', oneOf: [{ const: 'free', title: 'Free of charge' }] },
    });
    for (const [profile, cause] of [
      [{ unknown: 'x' }, 'unknown: is not an attribute of users'],
      [{ code: 7 }, 'code: must be of type string'],
      [{ code: 'A' }, 'code: must have at least 2 characters'],
      [{ code: 'ABCDE' }, 'code: must have at most 4 characters'],
      [{ code: 'abc' }, 'code: must match the pattern ^[A-Z]+$'],
      [{ score: '7' }, 'score: must be of type number'],
      [{ seats: 1.5 }, 'seats: must be a whole number'],
      [{ vip: 'true' }, 'vip: must be of type boolean'],
      [{ colours: 'red' }, 'colours: must be a list of strings'],
      [{ colours: ['green'] }, 'colours: must be red or blue'],
      [{ colours: ['red', 'red'] }, 'colours: must not contain an element twice'],
      [{ plan: 'gold' }, 'plan: must be free'],
      [{ plan: { a: 1 } }, 'plan: must be a string, a number, true, false or a list of strings'],
    ] as const) {
      assert.deepEqual(await refusals(profile), [400, `profile.${cause}`]);
    }
    const values = { code: 'ABC', score: 1.5, seats: 3, vip: false, colours: ['blue', 'red'], plan: 'free' };
    const user = await person(api, { profile: values });
    const { login } = user.profile;
    assert.deepEqual(user.profile, { login, ...values });
    const partly = await api.call<User>('POST', `/users/${login}`, { profile: { seats: 4, vip: null, colours: [] } });
    assert.deepEqual(partly.body.profile, { login, code: 'ABC', score: 1.5, seats: 4, plan: 'free' });
    const wrong = await api.call('POST', `/users/${login}`, { profile: { seats: 'many' } });
    assert.deepEqual(causes(wrong), ['profile.seats: must be a whole number']);
    const whole = await api.call<User>('PUT', `/users/${login}`, { profile: { login, score: 2 } });
    assert.deepEqual(whole.body.profile, { login, score: 2 });
    const [, , last] = await eventsAbout(api, user.id);
    assert.deepEqual(last?.debug_context, {
      before: { profile: partly.body.profile },
      after: { profile: whole.body.profile },
    });
  });

  it('one that is required must be given, and stays; users from before go on without', async () => {
    const former = await person(api);
    await define({ region: { title: 'Region', type: 'string', required: true } });
    assert.deepEqual(await refusals({}), [400, 'profile.region: is required']);
    assert.deepEqual(await refusals({ region: ' ' }), [400, 'profile.region: is required']);
    const user = await person(api, { profile: { region: 'north' } });
    const removal = await api.call('POST', `/users/${user.id}`, { profile: { region: null } });
    assert.deepEqual([removal.status, causes(removal)], [400, ['profile.region: is required']]);
    const replaced = await api.call('PUT', `/users/${user.id}`, { profile: { login: user.profile.login } });
    assert.deepEqual(causes(replaced), ['profile.region: is required']);
    assert.equal((await api.call('POST', `/users/${former.id}`, { profile: { title: 'Former' } })).status, 200);
    await define({ region: null });
  });

  it('the list of required ones can be sent back, but changes nothing', async () => {
    const send = (required: string[], properties: object) =>
      api.call('POST', '/meta/schemas/user/default', { definitions: { custom: { properties, required } } });
    const county = { title: 'County', type: 'string' };
    const refused = await send(['county'], { county });
    assert.equal(refused.status, 400);
    assert.match(causes(refused)[0] ?? '', /^definitions\.custom\.required: names county, which is not required\. Set /);
    await define({ county: { ...county, required: true } });
    assert.equal((await send(['county'], { county })).status, 200, 'as it was read');
    assert.equal((await send([], { county: null })).status, 200);
  });

  it('of many users who want one unique value at once, one gets it; it is free again when its user goes', async () => {
    await define({ number: { title: 'Number', type: 'string', unique: 'UNIQUE_VALIDATED' } });
    const wanted = () => api.call<User>('POST', '/users', { profile: { login: unique('one'), number: 'É-7' } });
    const answers = await Promise.all(Array.from({ length: 8 }, wanted));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
    const lost = answers.find(({ status }) => status === 409);
    assert.deepEqual(causes(lost as never), ['profile.number: another user has this value. Choose another one']);
    const holder = answers.find(({ status }) => status === 200)?.body as User;
    const other = await person(api, { profile: { number: 'B' } });
    const taken = await api.call('POST', `/users/${other.id}`, { profile: { number: 'e\u0301-7' } });
    assert.equal(taken.status, 409);
    assert.equal((await api.call('POST', `/users/${holder.id}`, { profile: { number: 'C', title: 'Holder' } })).status, 200);
    assert.equal((await api.call('POST', `/users/${other.id}`, { profile: { number: 'É-7' } })).status, 200);
    await api.call('DELETE', `/users/${other.id}`);
    await api.call('DELETE', `/users/${other.id}`);
    assert.equal((await wanted()).status, 200);
  });

  it('an attribute becomes unique only where no two users have the same value', async () => {
    const badge = (kind: 'UNIQUE_VALIDATED' | 'NOT_UNIQUE') => change({ badge: { title: 'Badge', type: 'integer', unique: kind } });
    await badge('NOT_UNIQUE');
    const [one] = [await person(api, { profile: { badge: 5 } }), await person(api, { profile: { badge: 5 } })];
    const refused = await badge('UNIQUE_VALIDATED');
    assert.deepEqual(
      [refused.status, causes(refused as never)],
      [409, ['definitions.custom.properties.badge: cannot be unique: some users have the same value']],
    );
    await api.call('POST', `/users/${one.id}`, { profile: { badge: 6 } });
    assert.equal((await badge('UNIQUE_VALIDATED')).status, 200);
    assert.deepEqual(await refusals({ badge: 6 }), [409, 'profile.badge: another user has this value. Choose another one']);
    assert.equal((await badge('NOT_UNIQUE')).status, 200);
    await person(api, { profile: { badge: 6 } });
    assert.equal((await badge('UNIQUE_VALIDATED')).status, 409);
  });

  it('users are found by them: eq whatever the case, sw, co, numbers by size, a list by any element', async () => {
    await define({
      team: { title: 'Team', type: 'string' },
      age: { title: 'Age', type: 'integer' },
      remote: { title: 'Remote', type: 'boolean' },
      skills: { title: 'Skills', type: 'array' },
    });
    const [a, b] = [unique('a'), unique('b')];
    const quoted = `O'Neil\\s :* & "x"`;
    await person(api, { profile: { login: a, team: `Blue ${quoted}`, age: 30, remote: true, skills: ['Go', "c'est"] } });
    await person(api, { profile: { login: b, team: `${'x'.repeat(240)}end`, age: 4, skills: ['Rust'] } });
    const text = (value: string) => JSON.stringify(value);
    for (const [expression, logins] of [
      [`profile.team eq ${text(`blue ${quoted}`.toUpperCase())}`, [a]],
      [`profile.team sw "BLUE o'"`, [a]],
      [`profile.team sw "lue"`, []],
      [`profile.team co "neil"`, [a]],
      [`profile.team eq ${text(`${'x'.repeat(240)}END`)}`, [b]],
      [`profile.team eq ${text(`${'x'.repeat(240)}other`)}`, []],
      ['profile.age eq 30', [a]],
      ['profile.age eq 3', []],
      ['profile.age gt 4 and profile.age le 30', [a]],
      ['profile.age pr', [a, b]],
      ['profile.remote eq true', [a]],
      ['profile.skills eq "go"', [a]],
      [`profile.skills sw "C'"`, [a]],
      ['profile.skills pr and not (profile.skills eq "go")', [b]],
      ['profile.team pr and profile.remote ne true', [b]],
    ] as const) {
      assert.deepEqual(await found(expression), [...logins].sort(), expression);
    }
    const wrong = await api.call('GET', `/users?search=${encodeURIComponent('profile.age eq "30"')}`);
    assert.deepEqual(causes(wrong), ['search: profile.age must be compared with a number']);
    assert.equal((await api.call('GET', '/users?search=profile.nothing%20pr')).status, 400);
  });

  it('one that is removed goes with its values, and another can have its name when they are erased', async () => {
    const kept = { title: 'Old', type: 'string', unique: 'UNIQUE_VALIDATED' };
    await define({ old: kept });
    const user = await person(api, { profile: { old: 'value' } });
    await define({ old: null });
    assert.deepEqual(await refusals({ old: 'x' }), [400, 'profile.old: is not an attribute of users']);
    const early = await change({ old: { title: 'New', type: 'number' } });
    assert.equal(early.status, 409);
    while ((await eraseRemovedAttributes(api.services, 2)) === 2);
    assert.deepEqual((await api.call<User>('GET', `/users/${user.id}`)).body.profile, { login: user.profile.login });
    await define({ old: { title: 'New', type: 'number', unique: 'UNIQUE_VALIDATED' } });
    assert.deepEqual((await person(api, { profile: { login: 'new', old: 1 } })).profile, { login: 'new', old: 1 });
  });

  it('one that a claim tells is not removed, and a claim tells no other; the event has before and after', async () => {
    await define({ plate: { title: 'Plate', type: 'string' } });
    const server = await api.call<{ id: string }>('POST', '/authorizationServers', {
      name: unique('server'),
      audiences: ['https://api.example'],
    });
    const claims = `/authorizationServers/${server.body.id}/claims`;
    const claim = (value: string) =>
      api.call<{ id: string }>('POST', claims, {
        ...{ name: unique('plate'), claimType: 'RESOURCE', valueType: 'USER_ATTRIBUTE', value },
      });
    assert.equal((await claim('user.profile.nowhere')).status, 400);
    const { status, body } = await claim('user.profile.plate');
    assert.equal(status, 201);
    const refused = await change({ plate: null });
    assert.equal(refused.status, 409);
    assert.match(causes(refused as never)[0] ?? '', /plate: is used by the claim .* of the authorization server/);
    await api.call('DELETE', `${claims}/${body.id}`);
    await define({ plate: null });
    const events = await api.services.database.knex('audit_events').where({ event_type: 'user.schema.update' }).orderBy('seq');
    const plate = { title: 'Plate', type: 'string', required: false, unique: false, self: 'READ_ONLY' };
    assert.deepEqual(
      events.slice(-2).map((event) => event.debug_context),
      [
        { before: { attributes: {} }, after: { attributes: { plate } } },
        { before: { attributes: { plate } }, after: { attributes: {} } },
      ],
    );
  });

  it('there are 200 at most, 5 of them unique, and 16 KiB of values', async () => {
    const { properties } = (await api.call<Schema>('GET', PATH)).body.definitions.custom;
    await define(Object.fromEntries(Object.keys(properties).map((name) => [name, null])));
    const many = (count: number, extra = {}) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`bulk${at}`, { title: `Bulk ${at}`, type: 'string', maxLength: 1024, ...extra }]),
      );
    assert.equal((await change(many(6, { unique: 'UNIQUE_VALIDATED' }))).status, 400);
    assert.equal((await change(many(201))).status, 400);
    await define(many(200));
    const full = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`bulk${at}`, 'x'.repeat(1000)]));
    assert.deepEqual(await refusals(full), [400, 'profile: must have at most 16384 bytes in all added attributes']);
  });
});
