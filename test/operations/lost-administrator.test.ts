/** Nobody gets in any more: a command on the machine makes an administrator (docs/how-to/recover-an-administrator.md). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { onServer, startedDatabase } from '../support/database.ts';
import { enrolledUser } from '../support/factors.ts';
import { callCommand, dataDirectory, runCommand, runService } from '../support/process.ts';
import { ADMIN, newSecretKey, STARTED, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const linkIn = (output: string): string => /shown only once: (\S+\/choose-password\/\S+)$/m.exec(output)?.[1] ?? assert.fail(output);

/** Opens the link, chooses a password, and signs in to the console. */
async function getIn(baseUrl: string, link: string, login: string): Promise<string> {
  const browser = new UserAgent(baseUrl);
  const password = randomBytes(12).toString('base64url');
  const chosen = await browser.submit(await browser.visit(link), 'choose-password-form', { password, passwordConfirmation: password });
  assert.equal(chosen.status, 200, chosen.text);
  const fresh = new UserAgent(baseUrl);
  const page = await fresh.signIn(await fresh.visit('/admin'), { login, password });
  assert.equal(page.status, 200, page.text);
  return page.text;
}

test('beside the running service: suspended, locked, without a role, with a lost second factor; who is not there is created', async (t) => {
  const service = await startService(t);
  const env = { DATABASE_URL: service.database.url, SECRET_KEY: STARTED.SECRET_KEY, BASE_URL: service.baseUrl };
  const administrator = async (...args: string[]) => {
    const { code, stdout, stderr } = await callCommand(env, 'administrator', ...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const user = await enrolledUser(service);
  await onServer(service.database.url, (sql) =>
    sql.query("UPDATE users SET failed_sign_ins = 9, sign_in_locks = 5, locked_until = now() + interval '1 hour' WHERE id = $1", [user.id]),
  );
  const told = await administrator(user.login, '--reset-factors');
  assert.match(told, new RegExp(`^${user.login}: unlocked, made a SUPER_ADMIN, second factors reset\\.\\n`));
  assert.match(await getIn(service.baseUrl, linkIn(told), user.login), /Dashboard/);
  const again = new UserAgent(service.baseUrl);
  assert.doesNotMatch((await again.visit(linkIn(told))).text, /choose-password-form/, 'the link counts once');

  const { body: admin } = await service.api('GET', `/users/${ADMIN.username}`);
  assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/suspend`)).status, 200);
  assert.match(await administrator(user.id), new RegExp(`^${user.login}: unsuspended\\.`));
  assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/deactivate`)).status, 200);
  const back = await administrator(user.login);
  assert.match(back, new RegExp(`^${user.login}: activated`));
  assert.match(await getIn(service.baseUrl, linkIn(back), user.login), /Dashboard/);
  assert.match(await administrator(ADMIN.username), /^admin: is a SUPER_ADMIN and can sign in\.\n/);
  assert.match(await getIn(service.baseUrl, linkIn(await administrator('new-one')), 'new-one'), /Dashboard/);
  assert.match(await administrator('Zoe\u0308'), /: created/);
  assert.match(await administrator('Zo\u00eb'), /: is a SUPER_ADMIN and can sign in/, 'however it is typed');

  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('actor.type eq "SystemPrincipal"')}&limit=200`);
  const seen = events.map((event: { eventType: string; target: { alternateId?: string; displayName: string }[] }) =>
    [event.eventType, event.target[0]?.displayName].join(' '),
  );
  for (const expected of [
    `user.account.unlock_by_admin ${user.login}`,
    `user.account.privilege.grant ${user.login}`,
    `user.mfa.factor.reset_all ${user.login}`,
    `user.account.reset_password ${user.login}`,
    `user.lifecycle.unsuspend ${user.login}`,
    `user.account.reset_password ${admin.profile.login}`,
    'user.lifecycle.create new-one',
  ]) {
    assert.ok(seen.includes(expected), `${expected} among ${seen}`);
  }
  assert.ok(!JSON.stringify(events).includes('/choose-password/'), 'no link in the log');
});

test('on the embedded database of a service that is stopped', async (t) => {
  const env = { DATA_DIR: dataDirectory(t), SECRET_KEY: newSecretKey() };
  const early = runCommand(t, 'administrator', env, 'ada');
  assert.equal(await early.ended, 1);
  assert.match(early.output.stderr, /There is no database in .*Start the service once/);
  const service = await runService(t, env);
  assert.equal(await service.stop(), 0);
  const port = new URL(service.baseUrl).port;
  const command = runCommand(t, 'administrator', { ...env, PORT: port }, 'ada');
  assert.equal(await command.ended, 0, command.output.stderr);
  const after = await runService(t, { ...env, PORT: port });
  assert.match(await getIn(after.baseUrl, linkIn(command.output.stdout), 'ada'), /Dashboard/);
});

test('what cannot be done is told, and nothing is changed', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const env = { DATABASE_URL: database.url, SECRET_KEY: STARTED.SECRET_KEY };
  for (const args of [[], ['--what']]) {
    const { code, stderr } = await callCommand(env, 'administrator', ...args);
    assert.equal(code, 2);
    assert.match(stderr, /^Usage: gatehouse administrator \[options\] <user-name>/m);
  }
  const mistyped = await callCommand(env, 'administrator', 'usr_00000000000000000000');
  assert.equal(mistyped.code, 1);
  assert.match(mistyped.stderr, /login: must not have the form of a user ID/);
});
