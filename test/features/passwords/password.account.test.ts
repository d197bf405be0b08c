/** `/account/password` (OWASP ASVS 5.0 sections 6.2.2 and 6.2.3): by the present password, after a fresh sign-in; everything else that was reached by it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt } from '../../pages/account/arrival.ts';
import { createClient, post, tokensFor } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const NEW = 'a new and much longer password';
const FORM = 'password-form';

test('the change of a password', async (t) => {
  const service = await startService(t);

  await t.test('keeps this browser signed in, in a new session, and ends other sessions and all tokens', async () => {
    const user = await service.createUser();
    const client = await createClient(service);
    const elsewhere = new UserAgent(service.baseUrl);
    const { body: tokens } = await tokensFor(service, elsewhere, user, client);
    const { browser, page } = await arriveAt(service, '/account/password', user);
    const former = browser.cookie('gatehouse-session');
    const done = await browser.submit(page, FORM, { current: user.password, password: NEW });
    assert.equal(done.url.pathname, '/account/password', done.text);
    assert.match(done.text, /id="notice"[^>]*>Your new password is saved/);
    assert.notEqual(browser.cookie('gatehouse-session'), former);
    assert.equal((await browser.visit('/account')).url.pathname, '/account');
    assert.equal((await elsewhere.visit('/account')).url.pathname, '/signin');
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    assert.equal((await post(service, 'built-in', 'token', client, refresh)).body.error, 'invalid_grant');
    const other = new UserAgent(service.baseUrl);
    assert.equal((await other.signIn(await other.visit('/signin'), user)).status, 400, 'the former password');
    assert.equal((await other.signIn(await other.visit('/signin'), { ...user, password: NEW })).url.pathname, '/account');
    const filter = encodeURIComponent(`eventType eq "user.account.update_password" and actor.id eq "${user.id}"`);
    assert.equal((await service.api('GET', `/logs?filter=${filter}`)).body.length, 1);
  });

  await t.test('tells beside the field what is wrong, and changes nothing', async () => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/password', user);
    for (const [current, password, field, words] of [
      ['not the present one', NEW, 'current', /The current password is incorrect/],
      [user.password, '', 'password', /Enter a password/],
      [user.password, 'short', 'password', /at least \d+ characters/],
      [user.password, 'password123', 'password', /This password is too common/],
      [user.password, user.password, 'password', /used this password before/],
    ] as const) {
      const answer = await browser.submit(page, FORM, { current, password });
      assert.equal(answer.status, 400, `${password}: ${answer.url}`);
      assert.match(answer.text, new RegExp(`id="${field}-problem">`), field);
      assert.match(answer.text, words);
      if (password.length > 6) assert.ok(!answer.text.includes(password), 'no password is on the page');
    }
    const other = new UserAgent(service.baseUrl);
    assert.equal((await other.signIn(await other.visit('/signin'), user)).url.pathname, '/account');
  });

  await t.test('asks for a sign-in not older than 15 minutes', async (t) => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/password', user);
    moveClock(t, 901);
    const asked = await browser.submit(page, FORM, { current: user.password, password: NEW });
    assert.equal(asked.url.pathname, '/signin');
    assert.equal((await browser.signIn(asked, user)).url.pathname, '/account/password', 'and leads back');
  });

  await t.test('wrong present passwords count as failed sign-ins, so nobody guesses it here', async () => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/password', user);
    for (let n = 0; n < 12; n += 1) await browser.submit(page, FORM, { current: `guess ${n}`, password: NEW });
    const right = await browser.submit(page, FORM, { current: user.password, password: NEW });
    assert.equal(right.status, 400, 'locked');
  });

  await t.test('of twenty at once one wins', async () => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/password', user);
    const wanted = Array.from({ length: 20 }, (_, n) => `choice of number ${n} of twenty`);
    const pages = await Promise.all(wanted.map((password) => browser.window().submit(page, FORM, { current: user.password, password })));
    const winners = wanted.filter((_, n) => pages[n]?.url.search === '?done=password' && pages[n]?.status === 200);
    assert.equal(winners.length, 1, pages.map(({ url, status }) => `${url.pathname} ${status}`).join('; '));
    const filter = encodeURIComponent(`eventType eq "user.account.update_password" and actor.id eq "${user.id}"`);
    assert.equal((await service.api('GET', `/logs?filter=${filter}`)).body.length, 1);
  });
});

test('where no password signs the user in, the page says what does, and takes none', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const { browser, page } = await arriveAt(service, '/account/password', user);
  const use = async (...methods: string[]) => assert.equal((await service.api('PUT', '/settings/sign-in', { methods })).status, 200);
  const waysIn = (text: string) => [...text.matchAll(/<li dir="auto">([^<]+)<\/li>/g)].map(([, way]) => way);
  const passkey = 'Sign in with a passkey. To add one, open “Security”.';
  const code = 'Sign in with a code that we send to your e-mail address.';

  await use('passkey');
  const answer = await browser.submit(page, FORM, { current: user.password, password: NEW });
  assert.equal(answer.status, 400);
  assert.deepEqual(waysIn(answer.text), [passkey]);
  assert.ok(!answer.text.includes('The current password is incorrect'), 'it is not');
  await use('passkey', 'email');
  const shown = await browser.visit('/account/password');
  assert.equal(shown.status, 200);
  assert.match(shown.text, /You cannot sign in with a password here\./);
  assert.deepEqual(waysIn(shown.text), [passkey, code]);
  assert.doesNotMatch(shown.text, /id="password-form"/);
  assert.match(shown.text, /id="to-security" href="\/account\/security"/);
  const failures = encodeURIComponent('eventType eq "user.session.start" and outcome.result eq "FAILURE"');
  assert.deepEqual((await service.api('GET', `/logs?filter=${failures}`)).body, [], 'nothing counts as a failed sign-in');

  await use('password', 'passkey');
  assert.equal(
    (await browser.submit(await browser.visit('/account/password'), FORM, { current: user.password, password: NEW })).status,
    200,
  );
});
