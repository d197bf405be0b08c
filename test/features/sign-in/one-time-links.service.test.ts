import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { createPasswordLink, readPasswordLink, usePasswordLink } from '../../../src/features/sign-in/one-time-links.service.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { testServices } from '../../support/management-api.ts';

const PASSWORD = 'a password of my own';
const VISITOR = { ipAddress: '192.0.2.1', userAgent: 'test', requestId: 'request-1' };

describe('links to choose a password (OWASP Forgot Password Cheat Sheet, "URL Tokens")', () => {
  let services: Services;
  let close: () => Promise<void>;
  before(async () => {
    ({ services, close } = await testServices());
  });
  after(() => close());

  let number = 0;
  /** A user of this status, and the link's token. */
  async function invited(status: string, purpose: 'activation' | 'reset'): Promise<{ id: string; login: string; token: string }> {
    const login = `user-${number++}`;
    const { id } = await createUser(services, { profile: { login }, activate: status !== 'STAGED' }, SYSTEM);
    await services.database.knex('users').where({ id }).update({ status });
    return { id, login, token: await link(id, purpose) };
  }
  async function link(userId: string, purpose: 'activation' | 'reset'): Promise<string> {
    const url = await services.database.transaction((trx) => createPasswordLink(trx, services, userId, purpose));
    assert.ok(url.startsWith(`${services.config.baseUrl}/choose-password/`));
    return url.slice(url.lastIndexOf('/') + 1);
  }
  const use = (token: string) => usePasswordLink(services, { token, password: PASSWORD }, VISITOR);
  const row = (id: string) => services.database.knex('users').where({ id }).first();

  const table: [status: string, purpose: 'activation' | 'reset', works: boolean][] = [
    ['ACTIVE', 'reset', true],
    ['ACTIVE', 'activation', true],
    ['PASSWORD_EXPIRED', 'reset', true],
    ['PASSWORD_EXPIRED', 'activation', true],
    ['STAGED', 'activation', true],
    ['STAGED', 'reset', false],
    ['SUSPENDED', 'reset', false],
    ['SUSPENDED', 'activation', false],
    ['LOCKED_OUT', 'reset', false],
    ['DEPROVISIONED', 'reset', false],
    ['DEPROVISIONED', 'activation', false],
  ];
  for (const [status, purpose, works] of table) {
    it(`${works ? 'serves' : 'is of no use to'} a user who is ${status}, for ${purpose}`, async () => {
      const { id, login, token } = await invited(status, purpose);
      assert.equal((await readPasswordLink(services, token))?.id, works ? id : undefined);
      assert.equal((await use(token))?.id, works ? id : undefined);
      assert.equal((await row(id)).status, works ? 'ACTIVE' : status);
      const signedIn = await authenticatePassword(services, { username: login, password: PASSWORD }, SYSTEM);
      assert.equal(signedIn?.id, works ? id : undefined);
    });
  }

  it('works once: of twenty uses at once one sets its password', async () => {
    const { id, login, token } = await invited('ACTIVE', 'reset');
    const passwords = Array.from({ length: 20 }, (_, turn) => `password number ${turn}`);
    const used = await Promise.all(passwords.map((password) => usePasswordLink(services, { token, password }, VISITOR)));
    const winners = passwords.filter((_, turn) => used[turn] !== undefined);
    assert.equal(winners.length, 1);
    assert.equal((await authenticatePassword(services, { username: login, password: winners[0] ?? '' }, SYSTEM))?.id, id);
    assert.equal(await use(token), undefined);
    const events = await services.database.knex('audit_events').where({ event_type: 'user.account.update_password' });
    assert.equal(events.filter(({ actor }) => actor.id === id).length, 1);
  });

  it('is replaced by a newer one; of twenty made at once one is left', async () => {
    const { id, token } = await invited('ACTIVE', 'reset');
    const newer = await Promise.all(Array.from({ length: 20 }, () => link(id, 'reset')));
    const works = await Promise.all([token, ...newer].map((each) => readPasswordLink(services, each)));
    assert.equal(works.filter((user) => user !== undefined).length, 1);
    assert.equal(works[0], undefined);
  });

  it('is made and used at the same time without a deadlock', async () => {
    const { id, token } = await invited('ACTIVE', 'reset');
    await Promise.all([use(token), ...Array.from({ length: 10 }, () => link(id, 'reset'))]);
  });

  for (const [purpose, seconds] of [
    ['reset', 3600],
    ['activation', 7 * 86_400],
  ] as const) {
    it(`lives ${seconds} seconds for ${purpose}, then it is swept away`, async (t) => {
      stopClock(t);
      const { id, token } = await invited('ACTIVE', purpose);
      const left = () => services.database.knex('one_time_links').where({ user_id: id });
      moveClock(t, seconds - 5);
      await removeExpired(services.database, 1000);
      assert.equal((await readPasswordLink(services, token))?.id, id);
      moveClock(t, 5);
      assert.equal(await readPasswordLink(services, token), undefined);
      assert.equal(await use(token), undefined);
      assert.equal((await left()).length, 1);
      await removeExpired(services.database, 1000);
      assert.equal((await left()).length, 0);
    });
  }

  it('is stored as a digest, and told by no audit event', async () => {
    const { id, token } = await invited('PASSWORD_EXPIRED', 'reset');
    const { knex } = services.database;
    const stored = JSON.stringify(await knex('one_time_links').where({ user_id: id }));
    await use(token);
    const event = await knex('audit_events').orderBy('seq', 'desc').first();
    assert.deepEqual(event.actor, { id, type: 'User', displayName: event.target[0].displayName });
    assert.deepEqual([event.client, event.transaction_id], [{ ipAddress: '192.0.2.1', userAgent: 'test' }, 'request-1']);
    assert.deepEqual([event.debug_context.before.status, event.debug_context.after.status], ['PASSWORD_EXPIRED', 'ACTIVE']);
    for (const text of [stored, JSON.stringify(event)])
      assert.ok(!text.includes(token) && !text.includes(PASSWORD) && !text.includes('argon2'));
  });

  it('ends what another one may hold: browser sessions and tokens', async () => {
    const { id, token } = await invited('ACTIVE', 'reset');
    const { knex } = services.database;
    const expires = { expires_at: new Date(Date.now() + 3_600_000), exp_hour: Math.floor(Date.now() / 3_600_000) + 1 };
    const held = [1, 3, 4].map((model) => ({ id: `${id}-${model}`, model, server_key: 0, payload: '{}', account_id: id, ...expires }));
    Object.assign(held[0] ?? {}, { uid: id });
    await knex('oidc_payload').insert(held);
    await use(token);
    assert.equal((await knex('oidc_payload').where({ account_id: id })).length, 0);
  });

  it('the sweep forgets calls that may no longer be repeated, and leaves the others', async () => {
    const { knex } = services.database;
    const call = (id: string, expires_at: Date) => ({ id, request_hash: 'x', expires_at });
    await knex('idempotent_calls').insert([call('past', new Date(Date.now() - 1)), call('future', new Date(Date.now() + 60_000))]);
    await removeExpired(services.database, 1000);
    assert.deepEqual(await knex('idempotent_calls').select('id'), [{ id: 'future' }]);
  });
});
