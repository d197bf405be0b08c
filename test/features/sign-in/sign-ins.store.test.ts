/** The plain case of a sign-in: what it writes, and that it writes nothing where anything is in the way (decisions, "Users sign in"). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Knex } from 'knex';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { findCandidate, signInPlainly } from '../../../src/features/sign-in/sign-ins.store.ts';
import type { User } from '../../../src/features/users/users.resource.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { testServices } from '../../support/management-api.ts';

const NOW = new Date();
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);
/** Seconds. At none that a user of these tests was made at. */
const A_DAY = 86_400;
const ADDRESS = { key: 'sign-in:192.0.2.1', most: 3 };
const DEVICE = 'the digest of a browser';
const NOTICE = { kind: 'mail', orderingKey: '1', objectKey: null, payload: { for: 'him' }, created: NOW };
const FAILURES = { failed_sign_ins: 4, sign_in_locks: 1, locked_until: at(-1) };

let services: Services;
let close: () => Promise<void>;
let knex: Knex;
describe('sign-ins in the database', () => {
  before(async () => {
    ({ services, close } = await testServices());
    knex = services.database.knex;
  });
  after(() => close());

  let users = 0;
  async function someone(): Promise<User> {
    users += 1;
    const profile = { login: `someone-${users}`, email: `someone-${users}@example.com` };
    const user = await createUser(services, { profile, password: 'correct horse battery staple', activate: true }, SYSTEM);
    await knex('users').where({ id: user.id }).update(FAILURES);
    return user;
  }

  const signIn = (user: User) =>
    signInPlainly(services.database.pool, {
      ...{ user, deviceHash: DEVICE, deviceExpires: at(1000), address: ADDRESS, now: NOW, notice: NOTICE },
      event: {
        ...{ published: NOW, eventType: 'user.session.start', severity: 'INFO', displayMessage: 'User login' },
        ...{ actor: { id: user.id, type: 'User', displayName: user.login }, client: {}, outcome: { result: 'SUCCESS' } },
        ...{ target: [{ id: user.id, type: 'User', displayName: user.login }], debugContext: {} },
      },
    });

  /** All that a sign-in writes. */
  async function written({ id }: User) {
    const row = await knex('users')
      .where({ id })
      .first('last_login', ...Object.keys(FAILURES));
    const devices = await knex('user_devices').where({ user_id: id }).orderBy('device_hash').select();
    const events = await knex('audit_events')
      .whereRaw(`target->0->>'id' = ? AND event_type = 'user.session.start'`, [id])
      .select('actor', 'published');
    return { row, devices, events, notices: await knex('outbox').where({ kind: NOTICE.kind }).select('payload', 'due') };
  }

  const NONE = { failed_sign_ins: 0, sign_in_locks: 0, locked_until: null };
  const device = (user: User, more: object = {}) =>
    knex('user_devices').insert({ user_id: user.id, device_hash: DEVICE, expires_at: at(10), ...more });

  test('a first sign-in, a new browser, and one that is known', async () => {
    const user = await someone();
    const device = { user_id: user.id, device_hash: DEVICE, ...NONE, expires_at: at(1000), told: true };
    assert.equal(await signIn(user), true);
    const first = await written(user);
    assert.deepEqual(first.row, { last_login: NOW, ...NONE });
    assert.deepEqual(first.devices, [device]);
    assert.deepEqual(first.events, [{ actor: { id: user.id, type: 'User', displayName: user.login }, published: NOW }]);
    assert.deepEqual(first.notices, [], 'of his very first sign-in he is told nothing');

    await knex('user_devices').where({ user_id: user.id }).update({ device_hash: 'another' });
    assert.equal(await signIn(user), true);
    const second = await written(user);
    assert.equal(second.devices.length, 2);
    assert.deepEqual(second.notices, [{ payload: NOTICE.payload, due: NOW }]);

    await knex('user_devices')
      .where({ user_id: user.id })
      .update({ ...FAILURES, expires_at: at(10) });
    await knex('users').where({ id: user.id }).update(FAILURES);
    assert.equal(await signIn(user), true);
    const third = await written(user);
    assert.deepEqual(third.row, { last_login: NOW, ...FAILURES }, 'a known browser has a count of its own');
    assert.deepEqual(
      third.devices.find(({ device_hash: hash }) => hash === DEVICE),
      device,
    );
    assert.equal(third.notices.length, 1);
    await knex('outbox').delete();
  });

  test('of more than twenty browsers those that were seen longest ago are forgotten, and his is not', async () => {
    const user = await someone();
    const many = Array.from({ length: 25 }, (_, n) => ({ user_id: user.id, device_hash: `${n}`, expires_at: at(2000 + n), told: true }));
    await knex('user_devices').insert(many);
    assert.equal(await signIn(user), true);
    const kept = (await written(user)).devices.map(({ device_hash: hash }) => hash);
    assert.deepEqual(new Set(kept), new Set([DEVICE, ...many.slice(-19).map(({ device_hash: hash }) => hash)]));
  });

  const change = (changes: object) => (user: User) => knex('users').where({ id: user.id }).update(changes);
  const OBSTACLES: [what: string, make: (user: User) => PromiseLike<unknown>][] = [
    ['he was suspended', change({ status: 'SUSPENDED' })],
    ['he has another password', change({ password_changed: at(A_DAY) })],
    ['he was changed since', change({ last_updated: at(A_DAY) })],
    ['his password is locked', change({ locked_until: at(1) })],
    ['it is locked in this browser', (user) => device(user, { locked_until: at(1) })],
    [
      'it is locked, and this browser is his no more',
      async (user) => {
        await change({ locked_until: at(1) })(user);
        await device(user, { expires_at: at(-1) });
      },
    ],
    ['he has not been told of this browser', (user) => device(user, { told: false })],
    [
      'he has an authenticator app',
      (user) =>
        knex('user_factors').insert({
          id: `factor of ${user.id}`,
          user_id: user.id,
          type: 'TOTP',
          name: 'app',
          created: NOW,
          sealed_secret: '',
          last_step: 0,
        }),
    ],
    [
      'he has a passkey',
      (user) =>
        knex('passkeys').insert({
          ...{ id: `passkey of ${user.id}`, user_id: user.id, credential_id: user.id, public_key: Buffer.alloc(1), transports: [] },
          ...{ multi_device: false, backed_up: false, aaguid: '', name: 'key', created: NOW, sign_count: 0 },
        }),
    ],
    ['the address is barred', () => knex('failures_by_address').insert({ key: ADDRESS.key, points: 3, expire: at(1).getTime() })],
    ['there is no such user any more', (user) => knex('users').where({ id: user.id }).delete()],
  ];
  for (const [what, make] of OBSTACLES) {
    test(`nothing is written where ${what}`, async () => {
      const user = await someone();
      await make(user);
      const before = await written(user);
      assert.equal(await signIn(user), false);
      assert.deepEqual(await written(user), before);
      await knex('failures_by_address').delete();
    });
  }

  test('what is in the way no more is not in the way', async () => {
    const user = await someone();
    await device(user, { told: true, locked_until: NOW });
    await change({ locked_until: at(100) })(user);
    await knex('failures_by_address').insert({ key: ADDRESS.key, points: 3, expire: NOW.getTime() });
    assert.equal(await signIn(user), true, 'only the lock of this browser counts, and it has passed');
    await knex('failures_by_address').insert({ key: 'sign-in:192.0.2.2', points: 2, expire: at(1).getTime() });
    assert.equal(await signIn(await someone()), true, 'not too many yet');
    await knex('failures_by_address').delete();
  });

  test('twenty at once in one browser that is new: each signs in, and he is told once', async () => {
    const user = await someone();
    await change({ last_login: at(-100) })(user);
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => signIn(user))), Array(20).fill(true));
    const { devices, events, notices } = await written(user);
    assert.deepEqual([devices.length, events.length, notices.length], [1, 20, 1]);
    await knex('outbox').delete();
  });

  /** Another one holds the user's row, and writes what is given, while the sign-in waits for it. */
  async function signInBehind(user: User, write: (trx: Knex) => PromiseLike<unknown>): Promise<boolean> {
    const trx = await knex.transaction();
    await trx('users').where({ id: user.id }).forUpdate();
    await write(trx);
    const waiting = signIn(user);
    const isWaiting = () =>
      knex('pg_stat_activity')
        .whereRaw(`datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'WITH held%'`)
        .first('pid');
    while ((await isWaiting()) === undefined);
    await trx.commit();
    return waiting;
  }

  const MEANWHILE: [what: string, write: (trx: Knex, user: User) => PromiseLike<unknown>][] = [
    [
      'his password was locked',
      (trx, { id }) =>
        trx('users')
          .where({ id })
          .update({ locked_until: at(1) }),
    ],
    [
      'it was locked in this browser',
      (trx, { id }) =>
        trx('user_devices')
          .where({ user_id: id })
          .update({ locked_until: at(1) }),
    ],
    [
      'he got another one',
      (trx, { id }) =>
        trx('users')
          .where({ id })
          .update({ password_changed: at(A_DAY) }),
    ],
    ['he was suspended', (trx, { id }) => trx('users').where({ id }).update({ status: 'SUSPENDED' })],
  ];
  for (const [what, write] of MEANWHILE) {
    test(`it is seen that ${what} while the sign-in waited for the user’s row`, async () => {
      const user = await someone();
      if (what.includes('browser')) await device(user);
      assert.equal(await signInBehind(user, (trx) => write(trx, user)), false);
    });
  }

  test('a wrong password that was counted while the sign-in waited is forgotten with those before', async () => {
    const user = await someone();
    assert.equal(await signInBehind(user, (trx) => trx('users').where({ id: user.id }).update({ failed_sign_ins: 5 })), true);
    assert.deepEqual((await written(user)).row, { last_login: NOW, ...NONE });
  });

  test('he is told of a browser that another sign-in, which did not come to its end, began to know while this one waited', async () => {
    const user = await someone();
    await change({ last_login: at(-100) })(user);
    const row = { user_id: user.id, device_hash: DEVICE, expires_at: at(10), told: false };
    assert.equal(await signInBehind(user, (trx) => trx('user_devices').insert(row)), true);
    const { devices, notices } = await written(user);
    assert.deepEqual([devices.map(({ told }) => told), notices.length], [[true], 1]);
    assert.equal(await signIn(user), true);
    assert.equal((await written(user)).notices.length, 1, 'once');
    await knex('outbox').delete();
  });

  test('who is asked for is found by his login before an address, with what he has beside', async () => {
    const user = await someone();
    const find = (name: string | undefined, deviceHash?: string, address = ADDRESS) =>
      findCandidate(services.database.pool, { name, deviceHash, address, now: NOW.getTime() });
    const alone = (await find(user.login.toUpperCase())).candidate;
    assert.deepEqual([alone?.id, alone?.enrolled, alone?.deviceNotified], [user.id, false, null]);
    await device(user, { told: false, locked_until: at(5) });
    const known = (await find(user.email ?? '', DEVICE)).candidate;
    assert.deepEqual([known?.deviceNotified, known?.deviceLockedUntil, known?.deviceExpires], [false, at(5), at(10)]);
    assert.deepEqual(await find(undefined), { blockedSeconds: undefined, candidate: undefined });

    const other = await someone();
    await change({ email: user.login })(other);
    assert.equal((await find(user.login)).candidate?.id, user.id);
    await change({ email: user.email })(other);
    assert.equal((await find(user.email ?? '')).candidate, undefined, 'an address that two share names nobody');

    await knex('failures_by_address').insert({ key: ADDRESS.key, points: 3, expire: at(90).getTime() });
    assert.equal((await find('nobody')).blockedSeconds, 90);
    assert.equal((await find('nobody', undefined, { ...ADDRESS, most: 4 })).blockedSeconds, undefined);
    await knex('failures_by_address').delete();
  });
});
