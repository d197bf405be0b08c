import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import type { User } from '../../api/people.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

const digest = createHash('sha256').update('pepper').update('an old password').digest('base64');
const HASH = { algorithm: 'SHA-256', salt: Buffer.from('pepper').toString('base64'), saltOrder: 'PREFIX', value: digest };

describe('users (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('creates an active user and reads it by id and by login, whatever the case', async () => {
    const profile = { login: 'Ada@Example.com', email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' };
    const created = await api.call<User>('POST', '/users', { profile, credentials: { password: { value: 'analytical engine' } } });
    assert.equal(created.status, 200);
    assert.equal(created.body.status, 'ACTIVE');
    assert.match(created.body.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(created.body.activated, created.body.created);
    assert.deepEqual(created.body.profile as unknown, { ...profile, emailVerified: false });
    assert.deepEqual(created.body.credentials, { provider: { type: 'OKTA', name: 'GATEHOUSE' } });
    assert.equal(created.body._links.self?.href, `${api.services.config.baseUrl}/api/v1/users/${created.body.id}`);
    for (const name of [created.body.id, 'ada@example.COM']) {
      const read = await api.call<User>('GET', `/users/${encodeURIComponent(name)}`);
      assert.equal(read.status, 200);
      assert.deepEqual(read.body, created.body);
    }
  });

  it('never shows a password or its hash', async () => {
    const body = { profile: { login: 'secretive' }, credentials: { password: { value: 'do not repeat me' } } };
    const created = await api.call<User>('POST', '/users', body);
    const read = await api.call<User>('GET', `/users/${created.body.id}`);
    const events = await api.services.database.knex('audit_events').select('*');
    assert.doesNotMatch(JSON.stringify([created.body, read.body, events]), /do not repeat me|argon2/);
  });

  it('takes the hash of a password that another service made, and never shows it', async () => {
    const body = { profile: { login: 'imported' }, credentials: { password: { hash: HASH } } };
    const created = await api.call<User>('POST', '/users', body);
    assert.equal(created.status, 200);
    assert.notEqual(created.body.passwordChanged, null);
    assert.notEqual(await authenticatePassword(api.services, { username: 'imported', password: 'an old password' }, SYSTEM), undefined);
    const told = JSON.stringify([created.body, await api.services.database.knex('audit_events').select('*')]);
    assert.ok(!told.includes(digest));
  });

  it('leaves a user STAGED with activate=false, who then cannot sign in', async () => {
    const body = { profile: { login: 'staged' }, credentials: { password: { value: 'right password' } } };
    const { body: user } = await api.call<User>('POST', '/users?activate=false', body);
    assert.equal(user.status, 'STAGED');
    assert.equal(user.activated, null);
    assert.equal(await authenticatePassword(api.services, { username: 'staged', password: 'right password' }, SYSTEM), undefined);
  });

  it('takes fields of an answer back and ignores them ("Conventions")', async () => {
    const first = await api.call<User>('POST', '/users', { profile: { login: 'template' } });
    const again = await api.call<User>('POST', '/users', { ...first.body, profile: { login: 'copy' } });
    assert.equal(again.status, 200);
    assert.notEqual(again.body.id, first.body.id);
  });

  it('treats markup and right-to-left names as data', async () => {
    const profile = { login: 'names', firstName: '<b>Bobby</b>', lastName: "عمر'); DROP TABLE users;--", displayName: '\u202eabc 👩‍🔬' };
    const created = await api.call<User>('POST', '/users', { profile });
    assert.deepEqual(created.body.profile, profile);
  });

  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no profile', {}, ['profile: is required']],
    ['no login', { profile: {} }, ['profile.login: is required']],
    ['a blank login', { profile: { login: '  ' } }, ['profile.login: must not be empty']],
    ['a login of 256 characters', { profile: { login: 'x'.repeat(256) } }, ['profile.login: must have at most 255 characters']],
    ['a login with NUL', { profile: { login: 'a\u0000b' } }, ['profile.login: must not contain control characters']],
    ['half a surrogate pair', { profile: { login: 'a', firstName: '\ud800' } }, ['profile.firstName: must not contain control characters']],
    [
      'several mistakes at once',
      { profile: { login: 'a', email: 'nobody', firstName: 7, profileUrl: 'javascript:alert(1)', shoeSize: '42' } },
      [
        'profile.email: must be an e-mail address',
        'profile.firstName: must be of type string',
        'profile.profileUrl: must be a URL that begins with https:// or http://',
      ],
    ],
    [
      'an unknown field, beside other mistakes',
      { profile: { login: '' }, colour: 'red', size: 1 },
      ['colour: is not a field of this resource'],
    ],
    ['an attribute that there is not', { profile: { login: 'a', shoeSize: '42' } }, ['profile.shoeSize: is not an attribute of users']],
    [
      'a short password',
      { profile: { login: 'a' }, credentials: { password: { value: 'short' } } },
      ['credentials.password.value: must have at least 8 characters'],
    ],
    ['a department without its organization', { profile: { login: 'a' }, depId: 'dep_x' }, ['orgId: is required with depId']],
    ['an organization that does not exist', { profile: { login: 'a' }, orgId: 'org_x' }, ['orgId: does not exist']],
    ['an organization with NUL', { profile: { login: 'a' }, orgId: '\u0000' }, ['orgId: must not contain control characters']],
    ['10,000 characters', { profile: { login: 'a', title: 'x'.repeat(10_000) } }, ['profile.title: must have at most 255 characters']],
    [
      'a password and a hash',
      { profile: { login: 'a' }, credentials: { password: { value: 'long enough', hash: HASH } } },
      ['credentials.password: must contain only one of value, hash and hook'],
    ],
    [
      'a hash of a weak kind',
      { profile: { login: 'a' }, credentials: { password: { hash: { ...HASH, algorithm: 'MD5' } } } },
      ['credentials.password.hash.algorithm: must be ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512'],
    ],
    ['an array', [], ['body: must be of type object']],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, with a cause for each field`, async () => {
      const answer = await api.call('POST', '/users', body);
      assert.equal(answer.status, 400);
      assert.equal(answer.body.errorCode, 'E0000001');
      assert.deepEqual(causes(answer), expected);
    });
  }

  it('refuses a value of activate that is neither true nor false', async () => {
    const answer = await api.call('POST', '/users?activate=maybe', { profile: { login: 'a' } });
    assert.deepEqual([answer.status, causes(answer)], [400, ['activate: must be true or false']]);
  });

  it('puts a user into a department of the organization, or nowhere', async () => {
    const { knex } = api.services.database;
    const now = new Date();
    await knex('organizations').insert({ id: 'org_1', name: 'One', created: now, last_updated: now });
    await knex('departments').insert({ id: 'dep_1', org_id: 'org_1', name: 'Sales', created: now, last_updated: now });
    const member = await api.call<User>('POST', '/users', { profile: { login: 'member' }, orgId: 'org_1', depId: 'dep_1' });
    assert.equal(member.status, 200);
    const row = await knex('memberships').where({ user_id: member.body.id }).first();
    assert.deepEqual([row.org_id, row.dep_id], ['org_1', 'dep_1']);
    const lost = await api.call('POST', '/users', { profile: { login: 'lost' }, orgId: 'org_1', depId: 'dep_2' });
    assert.deepEqual([lost.status, causes(lost)], [400, ['depId: does not exist']]);
    assert.equal((await api.call('GET', '/users/lost')).status, 404);
  });

  it('lets one of twenty have a login, tells the others 409, and writes one event', async () => {
    const logins = Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? 'wanted' : 'WANTED'));
    const answers = await Promise.all(logins.map((login) => api.call('POST', '/users', { profile: { login } })));
    const refusals = answers.filter(({ status }) => status !== 200);
    assert.equal(refusals.length, 19);
    for (const refusal of refusals) assert.deepEqual([refusal.status, refusal.body.errorCode], [409, 'E0000014']);
    const events = await api.services.database.knex('audit_events').whereRaw("target->0->>'displayName' ILIKE 'wanted'");
    assert.equal(events.length, 1);
    assert.equal(events[0].event_type, 'user.lifecycle.create');
    assert.equal(events[0].actor.id, api.admin.userId);
  });

  for (const name of ['nobody', '%00', '%zz', 'a%2Fb', '..%2f', '%F0%9F']) {
    it(`answers 404 for ${name}`, async () => {
      const answer = await api.call<ErrorObject>('GET', `/users/${name}`);
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
    });
  }
});
