/** What nobody types, in each field of the forms about how somebody signs in: NUL and other control characters, halves of characters, ten thousand of them, nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, enrolledUser } from '../../support/factors.ts';
import { userWithPasskey } from '../../support/passkeys.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const STRANGE = [
  '',
  '\u0000',
  'a\u0000b',
  '\u001b[31m\r\n',
  '\ud800',
  '\u202egnp.exe',
  "'; DROP TABLE passkeys; --",
  'x'.repeat(10_000),
  '%00',
  '{"id":{}}',
];

test('strange values in each field are refused without an internal error, and the page is still there', async (t) => {
  const service = await startService(t);
  const user = await userWithPasskey(service);
  const stranger = new UserAgent(service.baseUrl);
  const tokenOn = async (agent: UserAgent, path: string) => /name="csrf" value="([^"]+)"/.exec((await agent.visit(path)).text)?.[1] ?? '';
  const tokens = { own: await tokenOn(user.browser, '/account/security'), signIn: await tokenOn(stranger, '/signin') };
  const post = (browser: UserAgent, path: string, fields: Record<string, string>) =>
    browser.visit(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' },
    });
  const [passkey] = (await service.api('GET', `/users/${user.id}/factors`)).body;
  const forms: readonly [path: string, field: string][] = [
    ['/account/security/remove', 'factorId'],
    ['/account/security/connect', 'idp'],
    ['/account/security/disconnect', 'idp'],
    ['/account/security/enroll', 'stateToken'],
    ['/account/security/enroll', 'passCode'],
    ['/account/security/enroll-passkey', 'credential'],
    ['/account/security/enroll-passkey', 'challenge'],
    ['/account/security/enroll-passkey', 'name'],
    [`/account/security/passkey/${passkey.id}`, 'name'],
    ['/signin/passkey', 'credential'],
    ['/signin/passkey', 'challenge'],
  ];
  for (const [path, field] of forms) {
    for (const value of STRANGE) {
      const [agent, csrf] = path.startsWith('/signin') ? [stranger, tokens.signIn] : [user.browser, tokens.own];
      const { status, text } = await post(agent.window(), path, { csrf, [field]: value });
      assert.ok(status < 500 && status !== 403, `${path} ${field} ${JSON.stringify(value.slice(0, 30))}: ${status} ${text.slice(0, 500)}`);
    }
  }
  assert.match((await user.browser.visit('/account/security')).text, /id="remove-passkey-1"/);

  const owner = await enrolledUser(service);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), owner);
  for (const [field, value] of STRANGE.slice(1, 3).flatMap((value) => [['passCode', value] as const, ['recoveryCode', value] as const])) {
    const { status } = await browser.window().submit(page, 'factor-form', { [field]: value });
    assert.equal(status, 400, `${field} ${JSON.stringify(value)}`);
  }
  for (const cookie of ['\u0000', 'x'.repeat(4000)]) {
    const { status } = await fetch(`${service.listensAt}/signin`, {
      headers: { cookie: `gatehouse-sign-in=${encodeURIComponent(cookie)}` },
    });
    assert.equal(status, 200);
  }
  assert.equal((await browser.submit(page, 'factor-form', { passCode: codeOf(owner.secret, 1) })).url.pathname, '/account');
  for (const value of STRANGE.slice(1)) {
    for (const path of ['/authn/credentials/change_password', '/authn/factors/one/verify']) {
      const body = path.endsWith('verify')
        ? { stateToken: value, passCode: value }
        : { stateToken: value, oldPassword: value, newPassword: value };
      const { status } = await service.api('POST', path, body);
      assert.ok(status >= 400 && status < 500, `${path} ${JSON.stringify(value.slice(0, 30))}: ${status}`);
    }
    for (const method of ['GET', 'DELETE']) {
      const { status } = await service.api(method, `/users/${user.id}/factors/${encodeURIComponent(value.replace('\ud800', 'x'))}`);
      assert.ok(status >= 400 && status < 500, `${method} ${JSON.stringify(value.slice(0, 30))}: ${status}`);
    }
  }
});
