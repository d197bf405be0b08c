/** A user whose password has expired types it, chooses another one, and goes on with the sign-in (decisions, "Users sign in"). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { assertAccessible } from '../../support/accessibility.ts';
import { inBrowser } from '../../support/browser.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { ADMIN, type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

const NEW = 'violet engines hum';
const FORM = 'choose-password-form';
const EXPIRED = 'Your password has expired. Choose a new one to sign in.';

const expire = async (service: Service, id: string): Promise<void> => {
  assert.equal((await service.api('POST', `/users/${id}/lifecycle/expire_password`)).status, 200);
};

async function expiredUser(t: TestContext, profile: Record<string, unknown> = {}) {
  const service = await startService(t);
  const user = await service.createUser(profile);
  await expire(service, user.id);
  return { service, user };
}

const problemOf = (page: Page): string | undefined => /<p><a href="#password">([^<]*)<\/a><\/p>/.exec(page.text)?.[1];
const notice = (page: Page): string | undefined => /<p class="notice" role="status">([^<]*)<\/p>/.exec(page.text)?.[1];

test('within an authorization request: another password, and the application has its code', async (t) => {
  const { service, user } = await expiredUser(t, { displayName: '<i>Ada</i>' });
  const client = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId })), user);
  assert.equal(page.status, 200);
  assert.equal(notice(page), EXPIRED);
  assert.match(page.text, /for the account &lt;i&gt;Ada&lt;\/i&gt; \(user-/);
  assert.match(page.text, /id="cancel"[^>]*>Return to Test application</);
  assert.ok(!page.text.includes(user.password));
  assert.equal((await browser.visit('/')).url.pathname, '/signin', 'nobody is signed in yet');

  const done = await browser.submit(page, FORM, { password: NEW });
  const { code } = answerOf(done);
  assert.ok(code, done.text);
  const { body } = await post(service, 'default', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  assert.deepEqual([claims.sub, claims.amr], [user.id, ['pwd']]);
  const { body: now } = await service.api('GET', `/users/${user.id}`);
  assert.equal(now.status, 'ACTIVE');
  assert.ok(now.lastLogin >= now.passwordChanged);

  const elsewhere = new UserAgent(service.baseUrl);
  assert.equal((await elsewhere.signIn(await elsewhere.visit('/signin'), user)).status, 400, 'the old one opens nothing');
  assert.equal((await elsewhere.signIn(await elsewhere.visit('/signin'), { ...user, password: NEW })).url.pathname, '/account');
});

test('at /signin, with its events; the form works once, in this browser', async (t) => {
  const { service, user } = await expiredUser(t);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), user);
  assert.equal(notice(page), EXPIRED);
  assert.equal((await new UserAgent(service.baseUrl).submit(page, FORM, { password: NEW })).status, 403, 'RFC 9700 section 4.7');
  assert.equal((await browser.submit(page, FORM, { password: NEW })).url.pathname, '/account');
  const again = await browser.window().submit(page, FORM, { password: 'yet another of them' });
  assert.match(again.text, /id="sign-in-form"/);
  assert.equal(notice(again), 'That took too long, or your password was changed. Sign in again.');
  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent(`target.id eq "${user.id}"`)}&sortOrder=ASCENDING`);
  assert.deepEqual(
    events.map((event: { eventType: string; outcome: { reason?: string } }) => [event.eventType, event.outcome.reason ?? undefined]),
    [
      ['user.lifecycle.create', undefined],
      ['user.account.expire_password', undefined],
      ['user.authentication.failure', 'PASSWORD_EXPIRED'],
      ['user.account.update_password', undefined],
      ['user.session.start', undefined],
    ],
  );
});

test('what is wrong with the new password stands beside its field, and the sign-in can go on', async (t) => {
  const { service, user } = await expiredUser(t, { lastName: 'Hopperton' });
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), user);
  for (const [password, words] of [
    ['', 'Enter a password'],
    ['short', 'The password must have at least 8 characters'],
    ['sunshine1', 'This password is too common. Choose a different one'],
    ['hopperton1', 'The password contains your user name, e-mail address or name. Add at least 8 other letters or digits'],
    ['gatehouse1', 'The password contains the name of this service. Add at least 8 other letters or digits'],
    [user.password, 'You used this password before. Choose a different one'],
  ] as const) {
    const again = await browser.submit(page, FORM, { password });
    assert.deepEqual([again.status, problemOf(again)], [400, words]);
    assert.equal(notice(again), EXPIRED);
    if (password !== '') assert.ok(!again.text.includes(`"${password}"`));
  }
  assert.equal((await browser.submit(page, FORM, { password: NEW })).url.pathname, '/account');
});

test('the new one differs even where no history is kept, and passwords of the history are refused', async (t) => {
  const { service, user } = await expiredUser(t);
  /** The form of somebody who types this expired password; what is chosen in it. */
  const formAfter = async (password: string) => {
    const browser = new UserAgent(service.baseUrl);
    const form = await browser.signIn(await browser.visit('/signin'), { ...user, password });
    return (chosen: string) => browser.submit(form, FORM, { password: chosen });
  };
  await service.api('PUT', '/settings/password', { historyCount: 0 });
  const choose = await formAfter(user.password);
  assert.match(problemOf(await choose(user.password)) ?? '', /You used this password before/);

  await service.api('PUT', '/settings/password', { historyCount: 3 });
  const passwords = [user.password, 'the second of them', 'the third of them', 'the fourth of them'];
  for (const [turn, next] of passwords.slice(1).entries()) {
    const choose = await formAfter(passwords[turn] ?? '');
    for (const former of passwords.slice(0, turn + 1)) {
      assert.match(problemOf(await choose(former)) ?? '', /You used this password before/, `${former}, before ${next}`);
    }
    assert.equal((await choose(next)).url.pathname, '/account');
    await expire(service, user.id);
  }
  const last = await formAfter('the fourth of them');
  assert.match(problemOf(await last('the second of them')) ?? '', /You used this password before/);
  assert.equal((await last(user.password)).url.pathname, '/account', 'the fourth back');
});

test('the history holds for a link, too', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(new URL(body.resetPasswordUrl).pathname);
  const again = await browser.submit(page, FORM, { password: user.password });
  assert.deepEqual([again.status, problemOf(again)], [400, 'You used this password before. Choose a different one']);
  assert.equal((await browser.submit(again, FORM, { password: NEW })).url.pathname, '/account');
});

test('maxAgeDays: from that day on another one is asked for; sessions and the status stay as they are until then', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const before = new UserAgent(service.baseUrl);
  await before.signIn(await before.visit('/signin'), user);
  await service.api('PUT', '/settings/password', { maxAgeDays: 1 });
  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 43_200 });
  moveClock(t, 86_000);
  const browser = new UserAgent(service.baseUrl);
  assert.equal((await browser.signIn(await browser.visit('/signin'), user)).url.pathname, '/account');
  moveClock(t, 500);
  const late = new UserAgent(service.baseUrl);
  const page = await late.signIn(await late.visit('/signin'), user);
  assert.equal(notice(page), EXPIRED);
  assert.equal((await service.api('GET', `/users/${user.id}`)).body.status, 'ACTIVE');
  assert.equal((await browser.visit('/')).url.pathname, '/account', 'the session goes on');
  assert.equal((await late.submit(page, FORM, { password: NEW })).url.pathname, '/account');
  assert.equal((await browser.visit('/')).url.pathname, '/signin', 'sessions begun with the old password have ended');
});

test('the form is good for ten minutes, and for nothing once the password was changed, reset, or typed anew', async (t) => {
  const { service, user } = await expiredUser(t);
  const ask = async () => {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit('/signin'), user);
    assert.equal(notice(page), EXPIRED);
    return async () => /id="sign-in-form"/.test((await browser.submit(page, FORM, { password: NEW })).text);
  };
  const first = await ask();
  const second = await ask();
  assert.equal(await first(), true, 'one at a time');
  moveClock(t, 601);
  assert.equal(await second(), true);
  const third = await ask();
  await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
  assert.equal(await third(), true);
  await expire(service, user.id);
  const fourth = await ask();
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  assert.equal(await fourth(), true);
});

test('a link that was sent is none of these forms, nor the other way round', async (t) => {
  const { service, user } = await expiredUser(t);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), user);
  const token = browser.cookie('gatehouse-sign-in') ?? '';
  assert.match(token, /^[\w-]{43}$/);
  assert.equal((await browser.visit(`/choose-password/${token}`)).status, 410);
  const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  const link = new URL(body.resetPasswordUrl).pathname.split('/').at(-1) ?? '';
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const sent = await fetch(`${service.baseUrl}/signin/password`, {
    method: 'POST',
    body: new URLSearchParams({ csrf, password: NEW }),
    headers: { origin: service.baseUrl, cookie: `gatehouse-form=${browser.cookie('gatehouse-form')}; gatehouse-sign-in=${link}` },
  });
  assert.match(await sent.text(), /id="sign-in-form"/);
  assert.equal((await browser.visit(`/choose-password/${link}`)).status, 200, 'and is not used up by it');
  const { rows } = await onServer(service.database.url, (sql) => sql.query('SELECT 1 FROM sign_in_states WHERE id = $1', [token]));
  assert.equal(rows.length, 0, 'stored as a digest');
});

test('of twenty forms sent at once one sets its password', async (t) => {
  const { service, user } = await expiredUser(t);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), user);
  const sent = Array.from({ length: 20 }, (_, n) => `choice of number ${n}`);
  const pages = await Promise.all(sent.map((password) => browser.window().submit(page, FORM, { password })));
  const winners = sent.filter((_, n) => pages[n]?.url.pathname === '/account');
  assert.equal(winners.length, 1);
  const other = new UserAgent(service.baseUrl);
  assert.equal((await other.signIn(await other.visit('/signin'), { ...user, password: winners[0] ?? '' })).url.pathname, '/account');
});

test('who does not know the password is not told that it has expired; guesses lock it like any other', async (t) => {
  const { service, user } = await expiredUser(t);
  const other = await service.createUser();
  const shown = async (login: string, password: string) => {
    const browser = new UserAgent(service.baseUrl);
    const { status, text } = await browser.signIn(await browser.visit('/signin'), { login, password });
    return `${status} ${text.replaceAll(login, 'LOGIN').replace(/(name="(csrf|challenge)" value|data-options)="[^"]*"/g, '')}`.replace(
      /[\w-]{36,}/g,
      'RANDOM',
    );
  };
  const answers = [await shown(user.login, 'wrong'), await shown(other.login, 'wrong'), await shown('nobody-of-these', 'wrong')];
  assert.equal(new Set(answers).size, 1);
  for (let n = 0; n < 9; n += 1) await shown(user.login, 'wrong');
  assert.equal(await shown(user.login, user.password), answers[0], 'locked: neither is the right password told');
  moveClock(t, 61);
  assert.match(await shown(user.login, user.password), /Your password has expired/);
});

test('the last SUPER_ADMIN is not locked out by an expired password', async (t) => {
  const service = await startService(t);
  const { body } = await service.api('GET', `/users/${ADMIN.username}`);
  assert.equal((await service.api('POST', `/users/${body.id}/lifecycle/expire_password`)).status, 200);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin'), { login: ADMIN.username, password: ADMIN.password });
  assert.equal(notice(page), EXPIRED);
  assert.equal((await browser.submit(page, FORM, { password: NEW })).url.pathname, '/admin');
});

test('in four languages; the address of the form leads to its page', async (t) => {
  const { service, user } = await expiredUser(t);
  for (const [language, words] of Object.entries({
    de: 'Ihr Passwort ist abgelaufen.',
    es: 'Su contraseña ha caducado.',
    'zh-Hans': '您的密码已过期。',
    en: 'Your password has expired.',
  })) {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit(`/signin?language=${language}`), user);
    assert.ok(page.text.includes(words), language);
    const again = await browser.visit('/signin/password');
    assert.equal(again.url.pathname, '/signin');
    assert.ok(again.text.includes(words), language);
  }
});

test(
  'in Chromium: expired, refused, replaced, signed in; axe-core finds nothing in light and dark (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const { service, user } = await expiredUser(t, { displayName: 'Ada Lovelace' });
    const window = await openWindow(browser);
    const page = await window.open();
    const look = (name: string) => assertAccessible(page, name);
    await page.goto(`${service.baseUrl}/signin`);
    await signIn(page, user);
    await page.waitForSelector(`#${FORM}`);
    await look('an expired password');
    await page.fill('#password', user.password);
    await page.click('#save-password');
    await page.waitForSelector('#error-summary');
    assert.equal(await page.locator(':focus').getAttribute('id'), 'error-summary');
    await look('an expired password, with an error');
    await page.fill('#password', NEW);
    await page.click('#save-password');
    await page.waitForSelector('#sign-out');
    window.assertQuiet();
  }),
);
