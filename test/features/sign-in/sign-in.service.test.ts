import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RequestContext, SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { hashPassword, isOutdated } from '../../../src/features/passwords/passwords.service.ts';
import { authenticatePassword, noteSignIn } from '../../../src/features/sign-in/sign-in.service.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { testServices } from '../../support/management-api.ts';

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
    // As from before such an address was refused.
    await create('shadow', 'shadow@example.com', PASSWORD);
    await services.database.knex('users').where({ login: 'shadow' }).update({ email: 'ada' });
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
      assert.equal((await authenticatePassword(services, { username, password }, REQUEST))?.login, login);
    });
  }

  it('notes the sign-in, with its event, under the user who signed in', async () => {
    const user = await authenticatePassword(services, { username: 'twin-one', password: PASSWORD }, REQUEST);
    assert.ok(user);
    const { knex } = services.database;
    const lastLogin = async () => (await knex('users').where({ id: user.id }).first()).last_login;
    assert.equal(await lastLogin(), null, 'by the password alone nobody has signed in yet');
    await services.database.transaction((trx) => noteSignIn(services, trx, user, { amr: ['pwd'] }, REQUEST));
    assert.ok((await lastLogin()) >= user.authenticatedAt);
    const event = await knex('audit_events').orderBy('seq', 'desc').first();
    assert.equal(event.event_type, 'user.session.start');
    assert.deepEqual(event.actor, { id: user?.id, type: 'User', displayName: 'twin-one' });
    assert.deepEqual(event.client, { ipAddress: '192.0.2.1', userAgent: 'test' });
    assert.equal(event.transaction_id, 'request-1');
  });

  const LEGACY = [
    ['bcrypt', '$2b$05$abcdefghijklmnopqrstuuFiPhXf1sVd3pCCRO.uVh34H/qI/ZsuS'],
    ['PBKDF2', '$pbkdf2-sha256$i=10000$AAECAwQFBgcICQoLDA0ODw==$2flfZcLfnShdJogjAMpb4p4+1QBVZmODXExi4nBRUCI='],
    ['salted SHA-256', '$sha256$o=prefix$AAECAwQFBgcICQoLDA0ODw==$PT7NB1B2A4OlzWox1NgpSt0YKawNe+BkcIP3OEfdMl4='],
    ['Argon2id of other parameters', '$argon2id$v=19$m=4096,t=3,p=1$AAECAwQFBgcICQoLDA0ODw$VTsSHiMxkq48zEo8LUSymjr7JjaRSgsxGX2Z8HQE9Cw'],
  ] as const;
  for (const [what, passwordHash] of LEGACY) {
    it(`accepts a hash of ${what} at once, and hashes the password anew; when it was changed stays as it was`, async () => {
      const { knex } = services.database;
      const login = `legacy ${what}`;
      const { id } = await createUser(services, { profile: { login }, password: 'the first of them', activate: true }, SYSTEM);
      await knex('users').where({ id }).update({ password_hash: passwordHash });
      const before = await knex('users').where({ id }).first();

      assert.equal(await authenticatePassword(services, { username: login, password: 'wrong' }, REQUEST), undefined);
      assert.equal((await knex('users').where({ id }).first()).password_hash, passwordHash, 'a wrong password changes nothing');

      const signedIn = await Promise.all(
        Array.from({ length: 20 }, () => authenticatePassword(services, { username: login, password: PASSWORD }, REQUEST)),
      );
      assert.deepEqual(new Set(signedIn.map((user) => user?.id)), new Set([id]), 'twenty at once all get in');
      const after = await knex('users').where({ id }).first();
      assert.match(after.password_hash, /^\$argon2id\$/);
      assert.equal(isOutdated(after.password_hash), false);
      assert.deepEqual(after.password_changed, before.password_changed);
      assert.deepEqual(after.last_updated, before.last_updated);

      assert.equal((await authenticatePassword(services, { username: login, password: PASSWORD }, REQUEST))?.id, id);
      assert.equal((await knex('users').where({ id }).first()).password_hash, after.password_hash, 'hashed anew once');
    });
  }

  it('refuses a password that was changed while it was compared, and does not bring it back', async () => {
    const { knex } = services.database;
    const { id } = await createUser(services, { profile: { login: 'changing' }, password: 'x'.repeat(8), activate: true }, SYSTEM);
    await knex('users').where({ id }).update({ password_hash: LEGACY[1][1] });
    const anew = await hashPassword('the new password');
    const change = await knex.transaction();
    await change('users')
      .where({ id })
      .update({ password_hash: anew, password_changed: new Date(1) });
    const signIn = authenticatePassword(services, { username: 'changing', password: PASSWORD }, REQUEST);
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await knex.raw(waits)).rows.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await change.commit();
    assert.equal(await signIn, undefined);
    assert.equal((await knex('users').where({ id }).first()).password_hash, anew);
  });

  it('notes a failure without what was typed', async () => {
    const { knex } = services.database;
    await authenticatePassword(services, { username: 'my-password-by-mistake', password: 'another-secret' }, REQUEST);
    const event = await knex('audit_events').orderBy('seq', 'desc').first();
    assert.equal(event.event_type, 'user.authentication.failure');
    assert.deepEqual(event.outcome, { result: 'FAILURE', reason: 'UNKNOWN_USER' });
    assert.doesNotMatch(JSON.stringify(event), /by-mistake|another-secret/);
  });
});
