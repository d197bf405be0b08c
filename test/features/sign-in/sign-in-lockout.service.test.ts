import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type RequestContext, SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { countFailedSignIn, networkOf, TooManyFailures } from '../../../src/features/sign-in/failure-limits.service.ts';
import { authenticatePassword, checkPasswordOfAnyStatus } from '../../../src/features/sign-in/sign-in.service.ts';
import { takeStep } from '../../../src/features/users/user-lifecycle.service.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { loadConfig } from '../../../src/platform/config/config.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { holdHashes } from '../../support/held-hashes.ts';
import { testServices } from '../../support/management-api.ts';

const PASSWORD = 'correct horse battery staple';
const from = (ipAddress: string): RequestContext => ({ actor: { id: 'unknown', type: 'User', displayName: 'unknown' }, ipAddress });

describe('lockout and limits of sign-in (decisions, "Users sign in")', () => {
  let services: Services;
  let close: () => Promise<void>;
  before(async () => {
    ({ services, close } = await testServices());
  });
  after(() => close());

  let addresses = 0;
  const newAddress = (): RequestContext => {
    addresses += 1;
    return from(`198.51.100.${addresses}`);
  };
  const newUser = async (): Promise<{ id: string; login: string }> =>
    createUser(services, { profile: { login: `user-${randomBytes(6).toString('hex')}` }, password: PASSWORD, activate: true }, SYSTEM);
  const signIn = async (login: string, password: string, request = newAddress(), device?: string): Promise<boolean> =>
    (await authenticatePassword(services, { username: login, password, device }, request)) !== undefined;
  const fail = async (login: string, times: number, device?: string): Promise<void> => {
    for (let n = 0; n < times; n += 1) assert.equal(await signIn(login, 'wrong', newAddress(), device), false);
  };
  const locksOf = async (id: string): Promise<{ debug_context: { after: { lockedUntil: string; locks: number } } }[]> =>
    services.database
      .knex('audit_events')
      .where({ event_type: 'user.account.lock' })
      .whereRaw('target @> ?::jsonb', [JSON.stringify([{ id }])])
      .orderBy('seq');

  it('locks an account at the tenth wrong password in a row, for a minute, and tells it once', async (t) => {
    stopClock(t);
    const { id, login } = await newUser();
    await fail(login, 9);
    assert.equal(await signIn(login, PASSWORD), true, 'nine do not lock, and the right one begins anew');
    await fail(login, 10);
    assert.equal(await signIn(login, PASSWORD), false, 'the right password is refused');
    await fail(login, 15);
    assert.equal((await locksOf(id)).length, 1);
    moveClock(t, 59.999);
    assert.equal(await signIn(login, PASSWORD), false);
    moveClock(t, 0.001);
    assert.equal(await signIn(login, PASSWORD), true);
  });

  it('doubles the lock up to an hour, and begins again at a minute after a sign-in', async (t) => {
    stopClock(t);
    const { login } = await newUser();
    for (const seconds of [60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      await fail(login, 10);
      moveClock(t, seconds - 0.001);
      assert.equal(await signIn(login, PASSWORD), false, `${seconds} s`);
      moveClock(t, 0.001);
    }
    assert.equal(await signIn(login, PASSWORD), true);
    await fail(login, 10);
    moveClock(t, 60);
    assert.equal(await signIn(login, PASSWORD), true);
  });

  it('counts thirty wrong passwords at once as thirty: one lock, and the right one among them is refused after it', async () => {
    const { id, login } = await newUser();
    const address = newAddress();
    const results = await Promise.all(Array.from({ length: 30 }, () => signIn(login, 'wrong', address)));
    assert.deepEqual(new Set(results), new Set([false]));
    const events = await services.database.knex('audit_events').whereRaw('target @> ?::jsonb', [JSON.stringify([{ id }])]);
    const reasons = events.filter((event) => event.event_type === 'user.authentication.failure').map((event) => event.outcome.reason);
    assert.equal(reasons.filter((reason) => reason === 'INVALID_CREDENTIALS').length, 10);
    assert.equal(reasons.filter((reason) => reason === 'LOCKED_OUT').length, 20);
    assert.equal((await locksOf(id)).length, 1);
    const counted = await services.database
      .knex('failures_by_address')
      .where({ key: `sign-in:${address.ipAddress}` })
      .first();
    assert.equal(counted.points, 30);
    assert.equal(await signIn(login, PASSWORD), false);
  });

  it('of nine wrong ones and one right one at once the right one gets in', async () => {
    const { login } = await newUser();
    const passwords = [...Array.from({ length: 9 }, () => 'wrong'), PASSWORD];
    const results = await Promise.all(passwords.map((password) => signIn(login, password)));
    assert.deepEqual(results, [...Array.from({ length: 9 }, () => false), true]);
  });

  it('counts a browser in which the user signed in before by itself, so that nobody keeps him out', async (t) => {
    stopClock(t);
    const { id, login } = await newUser();
    const [own, another] = ['the-owners-browser', 'another-users-browser'];
    assert.equal(await signIn(login, PASSWORD, newAddress(), own), true);
    const other = await newUser();
    assert.equal(await signIn(other.login, PASSWORD, newAddress(), another), true);

    await fail(login, 10, another);
    assert.equal(await signIn(login, PASSWORD, newAddress(), another), false, "another user's browser is none of his");
    assert.equal(await signIn(login, PASSWORD), false);
    assert.equal(await signIn(login, PASSWORD, newAddress(), own), true);
    assert.equal(await signIn(login, PASSWORD), false, 'his sign-in does not end the lock for the attacker');

    moveClock(t, 60);
    await fail(login, 10, own);
    assert.equal(await signIn(login, PASSWORD, newAddress(), own), false, 'a stolen browser is locked, too');
    assert.equal(await signIn(login, PASSWORD), true, 'and by itself');
    assert.equal((await locksOf(id)).length, 2);
    const stored = await services.database.knex('user_devices');
    assert.doesNotMatch(JSON.stringify(stored), /browser/, 'the cookie is not stored');

    moveClock(t, 366 * 86_400);
    await removeExpired(services.database, 1000);
    assert.equal((await services.database.knex('user_devices')).length, 0, 'a year later it is forgotten');
    assert.equal((await services.database.knex('failures_by_address')).length, 0);
  });

  it('counts for an account that is not active, too: its right password is told; being active again forgets it', async () => {
    const { id, login } = await newUser();
    await services.database.knex('users').where({ id }).update({ status: 'SUSPENDED' });
    const told = () => checkPasswordOfAnyStatus(services, { username: login, password: PASSWORD }, newAddress());
    assert.deepEqual(await told(), { kind: 'inactive', isOverloaded: false });
    await fail(login, 12);
    assert.equal((await locksOf(id)).length, 1);
    assert.equal(await told(), undefined, 'whoever guesses learns nothing');
    assert.equal(await signIn(login, PASSWORD), false);
    await takeStep(services, id, 'unsuspend', SYSTEM);
    assert.equal(await signIn(login, PASSWORD), true);
  });

  it('refuses an address after a hundred failures in 15 minutes, whatever the password is, and no other one', async (t) => {
    stopClock(t);
    const { login } = await newUser();
    const address = newAddress();
    for (let n = 0; n < 5; n += 1) assert.equal(await signIn(login, PASSWORD, address), true, 'successes do not count');
    const barred = (error: unknown) => error instanceof TooManyFailures && error.retryAfter > 0 && error.retryAfter <= 900;
    const results = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => signIn(`nobody-${n}`, 'wrong', address)));
    assert.ok(results.every((result) => result.status === 'fulfilled'));
    await assert.rejects(signIn('nobody', 'wrong', address), barred);
    await assert.rejects(signIn(login, PASSWORD, address), barred);
    assert.equal(await signIn(login, PASSWORD), true, 'from elsewhere');
    moveClock(t, 880);
    await assert.rejects(signIn(login, PASSWORD, address), barred);
    moveClock(t, 21);
    assert.equal(await signIn(login, PASSWORD, address), true);
  });

  it('of many guesses at once only a hundred are told whether they are right', async () => {
    const address = newAddress();
    const guesses = Array.from({ length: 160 }, (_, n) => signIn(`nobody-${n}`, 'wrong', address));
    const results = await Promise.allSettled(guesses);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 100);
  });

  it('refuses a right password whose turn comes after its address was barred', async (t) => {
    const { login } = await newUser();
    const address = newAddress();
    const release = holdHashes(t);
    const found = once(services.database.pool, 'release');
    const late = signIn(login, PASSWORD, address);
    late.catch(() => undefined);
    // The user is found, and his address heard: from now on it waits for its turn.
    await found;
    for (let n = 0; n < 100; n += 1) await countFailedSignIn(services, address.ipAddress);
    await release();
    await assert.rejects(late, TooManyFailures);
  });

  it('with RATE_LIMITS=off no address is refused, and accounts are locked all the same', async () => {
    const unlimited = { ...services, config: loadConfig({ RATE_LIMITS: 'off' }) };
    const { login } = await newUser();
    const address = newAddress();
    const tryIn = (password: string) => authenticatePassword(unlimited, { username: login, password }, address);
    await Promise.all(Array.from({ length: 110 }, () => tryIn('wrong')));
    assert.equal(await tryIn(PASSWORD), undefined);
    const key = `sign-in:${address.ipAddress}`;
    assert.equal(await services.database.knex('failures_by_address').where({ key }).first(), undefined);
  });

  it('takes the 64 bits that a subscriber of IPv6 has for one address', () => {
    assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::1'));
    assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
    assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1');
    assert.equal(networkOf('fe80::1%eth0'), 'fe80::/64');
    assert.equal(networkOf('not an address'), 'not an address');
  });
});
