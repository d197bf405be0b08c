import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RequestContext, SYSTEM } from '../../src/services/audit.ts';
import type { Services } from '../../src/services/dependencies.ts';
import { authenticate } from '../../src/services/sign-in.ts';
import { createUser } from '../../src/services/users.ts';
import { testServices } from '../support/management-api.ts';

const PASSWORD = 'correct horse battery staple';
const REQUEST: RequestContext = {
  actor: { id: 'unknown', type: 'User', displayName: 'unknown' },
  ipAddress: '192.0.2.1',
  userAgent: 'test',
  requestId: 'request-1',
};

describe('sign-in (decisions, "Users sign in")', () => {
  let services: Services;
  let close: () => Promise<void>;
  before(async () => {
    ({ services, close } = await testServices());
    const create = (login: string, email: string, password: string | undefined, activate = true) =>
      createUser(services, { profile: { login, email }, password, activate }, SYSTEM);
    await create('Ada', 'ada@example.com', PASSWORD);
    await create('twin-one', 'twins@example.com', PASSWORD);
    await create('twin-two', 'Twins@example.com', PASSWORD);
    await create('shadow', 'ada', PASSWORD);
    await create('staged', 'staged@example.com', PASSWORD, false);
    await create('without', 'without@example.com', undefined);
  });
  after(() => close());

  const attempts: [what: string, username: string, password: string, login: string | undefined][] = [
    ['login', 'Ada', PASSWORD, 'Ada'],
    ['login in another case, with spaces around', ' aDA ', PASSWORD, 'Ada'],
    ['e-mail address', 'ADA@example.com', PASSWORD, 'Ada'],
    ['login of a user who shares his address', 'twin-two', PASSWORD, 'twin-two'],
    ['an address that two users share', 'twins@example.com', PASSWORD, undefined],
    ['a wrong password', 'Ada', 'wrong', undefined],
    ['no password', 'Ada', '', undefined],
    ['no name', '', '', undefined],
    ['an unknown name', 'nobody', PASSWORD, undefined],
    ['a user who is not active', 'staged', PASSWORD, undefined],
    ['a user without a password', 'without', '', undefined],
    ['a name that cannot be one', 'Ada\u0000', PASSWORD, undefined],
    ['SQL', "' OR 1=1 --", PASSWORD, undefined],
  ];
  for (const [what, username, password, login] of attempts) {
    it(`${login === undefined ? 'refuses' : 'accepts'} ${what}`, async () => {
      assert.equal((await authenticate(services, { username, password }, REQUEST))?.login, login);
    });
  }

  it('notes the sign-in, with its event, under the user who signed in', async () => {
    const user = await authenticate(services, { username: 'twin-one', password: PASSWORD }, REQUEST);
    const { knex } = services.database;
    const row = await knex('users').where({ id: user?.id }).first();
    assert.deepEqual(row.last_login, user?.authenticatedAt);
    const event = await knex('audit_events').orderBy('seq', 'desc').first();
    assert.equal(event.event_type, 'user.session.start');
    assert.deepEqual(event.actor, { id: user?.id, type: 'User', displayName: 'twin-one' });
    assert.deepEqual(event.client, { ipAddress: '192.0.2.1', userAgent: 'test' });
    assert.equal(event.transaction_id, 'request-1');
  });

  it('notes a failure without what was typed', async () => {
    const { knex } = services.database;
    await authenticate(services, { username: 'my-password-by-mistake', password: 'another-secret' }, REQUEST);
    const event = await knex('audit_events').orderBy('seq', 'desc').first();
    assert.equal(event.event_type, 'user.authentication.failure');
    assert.deepEqual(event.outcome, { result: 'FAILURE', reason: 'UNKNOWN_USER' });
    assert.doesNotMatch(JSON.stringify(event), /by-mistake|another-secret/);
  });
});
