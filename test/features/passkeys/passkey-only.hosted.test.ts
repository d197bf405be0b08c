/** `settings/sign-in.passwordOptional`: accounts without a password. How they begin, how a password is removed, and the way back by e-mail. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, post } from '../../protocol/servers/relying-party.ts';
import { recoveryCodesOn } from '../../support/factors.ts';
import { startMailServer } from '../../support/mail.ts';
import { Authenticator, askedOn, prove, userWithPasskey } from '../../support/passkeys.ts';
import { startService } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';
import { canSignIn, GOOD } from '../users/user-holdings.ts';
import { harness, isAt } from './passkey-harness.ts';

const EMAIL = 'ada@example.com';
const PASSWORD_PAGE = '/account/password';
const isDone = (page: Page) => assert.ok(answerOf(page).code, page.text.slice(0, 3000));

async function withoutPasswords(t: TestContext, settings: Record<string, unknown> = { passwordOptional: true }) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.api('PUT', '/settings/registration', { enabled: true });
  assert.equal((await service.api('PUT', '/settings/sign-in', settings)).status, 200);
  return { server, ...(await harness(t, service)) };
}

test('an account begins without a password', async (t) => {
  const { server, service, request, newBrowser, claimsOf } = await withoutPasswords(t);
  const browser = newBrowser();
  const form = await browser.visit(request({ prompt: 'create' }));
  assert.match(form.text, /Leave it empty to use a passkey instead/);
  await browser.submit(form, 'sign-up-form', { email: EMAIL });
  const offer = await browser.visit((await server.mail(EMAIL)).link);
  assert.match(offer.text, /Your account has no password/);
  const authenticator = new Authenticator(service.baseUrl);
  const shown = await browser.submit(offer, 'passkey-form', { credential: authenticator.create(askedOn(offer)) });
  const [recoveryCode = ''] = recoveryCodesOn(shown);
  const claims = await claimsOf(answerOf(await browser.submit(shown, 'enrolled-form')).code);
  const user = (await service.api('GET', `/users/${EMAIL}`)).body;
  assert.deepEqual([claims.sub, claims.amr], [user.id, ['otp', 'hwk', 'user', 'mfa']]);
  const other = newBrowser();
  isDone(await prove(other, await other.visit(request()), authenticator));
  assert.equal(await canSignIn(service, { login: EMAIL, password: '' }), false);

  await t.test('the passkey is lost: a link by e-mail and a recovery code let the user in', async () => {
    const lost = newBrowser();
    await lost.submit(await lost.visit('/forgot-password'), 'forgot-password-form', { username: EMAIL });
    const { link } = await server.mail(EMAIL, 1, '/choose-password/');
    const page = await lost.submit(await lost.visit(link), 'choose-password-form', { password: GOOD });
    assert.match(page.text, /id="recovery-form"/, 'the mailbox alone is not enough');
    isAt(await lost.submit(page, 'recovery-form', { recoveryCode }), '/account');
  });
});

test('who declines the passkey at sign-up has the way by e-mail', async (t) => {
  const { server, service, newBrowser } = await withoutPasswords(t);
  const browser = newBrowser();
  await browser.submit(await browser.visit('/signup'), 'sign-up-form', { email: EMAIL });
  const offer = await browser.visit((await server.mail(EMAIL)).link);
  isAt(await browser.submit(offer, 'offer-form'), '/account');
  const other = newBrowser();
  await other.submit(await other.visit('/forgot-password'), 'forgot-password-form', { username: EMAIL });
  const { link } = await server.mail(EMAIL, 1, '/choose-password/');
  await other.submit(await other.visit(link), 'choose-password-form', { password: GOOD });
  assert.ok(await canSignIn(service, { login: EMAIL, password: GOOD }));
});

test('with passkeys as the only method, sign-up asks for no password and makes a passkey', async (t) => {
  const { server, service, newBrowser } = await withoutPasswords(t, { methods: ['passkey'] });
  const browser = newBrowser();
  const form = await browser.visit('/signup');
  assert.doesNotMatch(form.text, /type="password"/);
  await browser.submit(form, 'sign-up-form', { email: EMAIL });
  const offer = await browser.visit((await server.mail(EMAIL)).link);
  const authenticator = new Authenticator(service.baseUrl);
  const shown = await browser.submit(offer, 'passkey-form', { credential: authenticator.create(askedOn(offer)) });
  isAt(await browser.submit(shown, 'enrolled-form'), '/account');
  const other = newBrowser();
  isAt(await prove(other, await other.visit('/signin'), authenticator), '/account');
});

test('a password is removed by a user who has a passkey, where the settings allow it', async (t) => {
  const { server, service, client, request, newBrowser, outcomes } = await withoutPasswords(t);
  const profile = { email: EMAIL };
  const plain = await service.createUser();
  const bare = newBrowser();
  assert.doesNotMatch((await bare.signIn(await bare.visit(PASSWORD_PAGE), plain)).text, /remove-password/, 'no passkey, no removal');

  const user = await userWithPasskey(service);
  assert.equal((await service.api('POST', `/users/${user.id}`, { profile })).status, 200);
  const elsewhere = newBrowser();
  await prove(elsewhere, await elsewhere.visit('/signin'), user.authenticator);
  const page = await user.browser.visit(PASSWORD_PAGE);
  const done = await user.browser.submit(page, 'remove-password-form');
  isAt(done, PASSWORD_PAGE);
  assert.match(done.text, /Your password is removed/);
  assert.match((await server.mail(EMAIL, 1, 'Your password was removed')).link, /\/forgot-password$/);
  assert.doesNotMatch(done.text, /id="current"|remove-password/);
  isAt(await user.browser.visit('/account'), '/account');
  isAt(await elsewhere.visit('/account'), '/signin');
  assert.equal(await canSignIn(service, user), false);
  const grant = { grant_type: 'password', username: user.login, password: user.password };
  assert.notEqual((await post(service, 'built-in', 'token', client, grant)).status, 200);
  assert.match((await server.mail(EMAIL, 1, 'no longer works')).subject, /was changed/);
  assert.deepEqual(await outcomes('user.account.update_password', user.id), ['SUCCESS']);
  const [event] = (await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.account.update_password"')}`)).body;
  assert.equal(event.debugContext.after.hasPassword, false);
  const other = newBrowser();
  isDone(await prove(other, await other.visit(request()), user.authenticator));

  await t.test('the passkey then stays, and twenty removals at once were one', async () => {
    assert.match((await user.browser.visit('/account/security')).text, /your only way to sign in/);
    const second = await userWithPasskey(service);
    const form = await second.browser.visit(PASSWORD_PAGE);
    await Promise.all(Array.from({ length: 20 }, () => second.browser.window().submit(form, 'remove-password-form')));
    assert.deepEqual(await outcomes('user.account.update_password', second.id), ['SUCCESS']);
  });

  await t.test('a first password is set again on the same page', async () => {
    const form = await other.visit(PASSWORD_PAGE);
    assert.match((await other.submit(form, 'password-form', { password: user.password })).text, /id="error-summary"/, 'not the former one');
    assert.match((await other.submit(form, 'password-form', { password: GOOD })).text, /id="password-form"/);
    const third = newBrowser();
    assert.match((await third.signIn(await third.visit('/signin'), { ...user, password: GOOD })).text, /id="recovery-form"/);
  });

  await t.test('not where it is not allowed, whatever form is sent', async () => {
    const third = await userWithPasskey(service);
    const form = await third.browser.visit(PASSWORD_PAGE);
    for (const settings of [{}, { passwordOptional: true, methods: ['password'] }]) {
      await service.api('PUT', '/settings/sign-in', settings);
      assert.doesNotMatch((await third.browser.visit(PASSWORD_PAGE)).text, /remove-password/);
      await third.browser.submit(form, 'remove-password-form');
      assert.deepEqual(await outcomes('user.account.update_password', third.id), []);
    }
  });
});
