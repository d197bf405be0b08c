/** A refusal costs the same statements, whoever is meant and whatever is in the way (OWASP Authentication Cheat Sheet, "Authentication and Error Messages"). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { pino } from 'pino';
import { NOBODY, SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { checkPassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { createUser } from '../../../src/features/users/users.service.ts';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { digest, Keyring } from '../../../src/platform/crypto/secrets.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { openNotifications } from '../../../src/platform/database/notifications.ts';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';

const RIGHT = 'correct horse battery staple';
const WRONG = 'wrong horse';
const DEVICE = 'a'.repeat(43);
/** What is kept for seconds is read in some attempts and not in others. */
const ATTEMPTS = 3;

test('on the sign-in page, where a right password ends the sign-in by one statement', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const counted = await countingProxy(t, own);
  const database = await openDatabase({ connection: counted.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const log = pino({ level: 'silent' });
  const notifications = await openNotifications(own.connection, log);
  afterwards(t, () => notifications.close());
  const services = { database, notifications, log, keyring: new Keyring([randomBytes(32)]), config: loadConfig({}) };

  const { knex } = database;
  const user = async (login: string, changes: object = {}) => {
    const { id } = await createUser(
      services,
      { profile: { login, email: `${login}@example.com` }, password: RIGHT, activate: true },
      SYSTEM,
    );
    await knex('users')
      .where({ id })
      .update({ last_login: new Date(), ...changes });
    return id;
  };
  const lockedUntil = new Date(Date.now() + 3_600_000);
  await user('active');
  await user('nobody-yet', { password_hash: null });
  await user('suspended', { status: 'SUSPENDED' });
  await user('deactivated', { status: 'DEPROVISIONED' });
  await user('locked', { locked_until: lockedUntil });
  const here = { user_id: await user('locked-here'), device_hash: digest(DEVICE), expires_at: lockedUntil, locked_until: lockedUntil };
  await knex('user_devices').insert(here);

  const request = { actor: NOBODY, ipAddress: '192.0.2.1', userAgent: 'a browser', device: DEVICE };
  /** By what they begin with: whose count is written does not matter. */
  const refusal = async (username: string, password: string): Promise<string[]> => {
    counted.taken();
    assert.equal(await checkPassword(services, { username, password, device: DEVICE }, request, {}), undefined);
    const taken = counted.taken().filter((statement) => !/^\s*SET /.test(statement));
    return taken.map((statement) => statement.trim().split(/\W/, 1).join().toUpperCase());
  };
  const cheapest = async (username: string, password: string): Promise<string[]> => {
    const refusals: string[][] = [];
    for (let times = 0; times < ATTEMPTS; times += 1) refusals.push(await refusal(username, password));
    return refusals.reduce((one, other) => (other.length < one.length ? other : one));
  };

  const unknown = await cheapest('unknown', WRONG);
  assert.ok(unknown.includes('UPDATE') && unknown.includes('COMMIT'), unknown.join());
  const meant: [login: string, password: string][] = [
    ['active', WRONG],
    ['nobody-yet', WRONG],
    ...['suspended', 'deactivated', 'locked', 'locked-here'].flatMap((login): [string, string][] => [
      [login, WRONG],
      [login, RIGHT],
    ]),
  ];
  for (const [login, password] of meant) assert.deepEqual(await cheapest(login, password), unknown, `${login}, ${password}`);
  assert.equal((await checkPassword(services, { username: 'active', password: RIGHT, device: DEVICE }, request, {}))?.kind, 'right');
});
