import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { enrolledUser } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const REFUSED = /Incorrect user name or password/;

test('lockout on the sign-in page (decisions, "Users sign in")', async (t) => {
  const service = await startService(t);
  const signIn = async (browser: UserAgent, login: string, password: string): Promise<Page> =>
    browser.signIn(await browser.visit('/signin'), { login, password });
  const isIn = ({ url, status }: Page) => url.pathname === '/account' && status === 200;
  const newBrowser = () => new UserAgent(service.baseUrl);

  await t.test('a successful sign-in gives the browser its cookie: random, for a year, out of the reach of scripts', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const refused = await signIn(browser, user.login, 'wrong');
    assert.equal(refused.status, 400);
    assert.equal(browser.cookie('gatehouse-device'), undefined, 'not before');
    const page = await browser.visit('/signin');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, username: user.login, password: user.password });
    const answer = await browser.send('/signin', { method: 'POST', body, headers: { origin: service.baseUrl } });
    assert.equal(answer.status, 303);
    const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('gatehouse-device='));
    assert.match(line ?? '', /^gatehouse-device=[\w-]{43}; path=\/; expires=[^;]+; samesite=lax; httponly$/i);
    const days = (Date.parse(/expires=([^;]+)/i.exec(line ?? '')?.[1] ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 364 && days < 366);
    const value = browser.cookie('gatehouse-device') ?? '';
    assert.equal(value.length, 43);
    const { rows } = await onServer(service.database.url, (sql) => sql.query('SELECT * FROM user_devices'));
    assert.equal(rows.length, 1);
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(value), 'stored as a digest');
  });

  await t.test('locked: the right password gets the same page as a wrong one, until the minute is over', async (t) => {
    const user = await service.createUser();
    const other = await service.createUser();
    for (let n = 0; n < 10; n += 1) await signIn(newBrowser(), user.login, 'wrong');
    const strip = ({ text }: Page, login: string) =>
      text
        .replaceAll(login, 'NAME')
        .replace(/(name="(csrf|challenge)" value|data-options)="[^"]+"/g, '')
        .replace(/req[\w-]+/g, '');
    const [locked, wrong] = [await signIn(newBrowser(), user.login, user.password), await signIn(newBrowser(), other.login, 'wrong')];
    assert.deepEqual([locked.status, wrong.status], [400, 400]);
    assert.match(locked.text, REFUSED);
    assert.equal(strip(locked, user.login), strip(wrong, other.login));
    moveClock(t, 60);
    assert.ok(isIn(await signIn(newBrowser(), user.login, user.password)));
  });

  await t.test('an attacker does not keep the owner out of the browser in which he signed in before', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    assert.ok(isIn(await signIn(browser, user.login, user.password)));
    const device = browser.cookie('gatehouse-device');
    for (let n = 0; n < 10; n += 1) await signIn(newBrowser(), user.login, 'wrong');
    assert.match((await signIn(newBrowser(), user.login, user.password)).text, REFUSED);

    const returned = newBrowser();
    const page = await returned.visit('/signin');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const cookie = `gatehouse-device=${device}; gatehouse-form=${returned.cookie('gatehouse-form')}`;
    const post = (password: string) =>
      fetch(`${service.baseUrl}/signin`, {
        method: 'POST',
        body: new URLSearchParams({ csrf, username: user.login, password }),
        headers: { origin: service.baseUrl, cookie },
        redirect: 'manual',
      });
    assert.equal((await post('wrong')).status, 400);
    const answer = await post(user.password);
    assert.equal(answer.status, 303);
    assert.ok(
      answer.headers.getSetCookie().some((line) => line.startsWith(`gatehouse-device=${device};`)),
      'it keeps its value',
    );
  });
});

test('a hundred failures from one address: a page in plain words, in four languages, and 429 with Retry-After', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  await onServer(service.database.url, (sql) =>
    sql.query(`INSERT INTO failures_by_address VALUES ('sign-in:127.0.0.1', 99, $1)`, [Date.now() + 900_000]),
  );
  const browser = new UserAgent(service.baseUrl);
  const form = await browser.visit('/signin');
  const last = await browser.signIn(form, { login: user.login, password: 'wrong' });
  assert.equal(last.status, 400, 'the hundredth is told that it is wrong');
  for (const [language, heading] of [
    ['en', 'Too many failed sign-ins'],
    ['de', 'Zu viele fehlgeschlagene Anmeldungen'],
    ['es', 'Demasiados inicios de sesión fallidos'],
    ['zh', '登录失败次数过多'],
  ] as const) {
    const answer = await browser.send(`/signin?language=${language}`, {
      method: 'POST',
      body: new URLSearchParams({
        csrf: /name="csrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '',
        username: user.login,
        password: user.password,
      }),
      headers: { origin: service.baseUrl },
    });
    assert.equal(answer.status, 429);
    const retryAfter = Number(answer.headers.get('retry-after'));
    assert.ok(retryAfter > 0 && retryAfter <= 900);
    const text = await answer.text();
    assert.match(text, new RegExp(`<h1[^>]*>${heading}`));
    assert.match(text, /id="error-code">too_many_failures</);
    assert.match(text, new RegExp(`<html lang="${language}`));
  }
  assert.equal((await browser.visit('/signin')).status, 200, 'the form itself is shown');
});

test('others behind the same address do not keep a user out of the browser in which they signed in before (OWASP, "Device Cookies")', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const factored = await enrolledUser(service);
  const [known, withFactor] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  /** As the browser is when its session is over. */
  const anew = (browser: UserAgent) => browser.only('gatehouse-device');
  const signIn = async (browser: UserAgent, password: string) =>
    browser.signIn(await browser.visit('/signin'), { login: user.login, password });
  assert.equal((await signIn(known, user.password)).url.pathname, '/account');
  const proveFactor = async (browser: UserAgent, recoveryCode = '') =>
    browser.submit(await browser.signIn(await browser.visit('/signin'), factored), 'recovery-form', { recoveryCode });
  const [first, second] = factored.recoveryCodes;
  assert.equal((await proveFactor(withFactor, first)).url.pathname, '/account');

  await onServer(service.database.url, (sql) =>
    sql.query(`INSERT INTO failures_by_address VALUES ('sign-in:127.0.0.1', 100, $1)`, [Date.now() + 900_000]),
  );
  assert.equal((await signIn(anew(known), user.password)).url.pathname, '/account', 'the plain way');
  assert.equal((await proveFactor(anew(withFactor), second)).url.pathname, '/account', 'with a second factor');
  for (let n = 0; n < 10; n += 1) assert.equal((await signIn(anew(known), 'wrong')).status, 400, 'a wrong password is told');
  assert.equal((await signIn(anew(known), user.password)).status, 400, 'and its own count locks the browser');
  assert.equal((await signIn(new UserAgent(service.baseUrl), user.password)).status, 429, 'another browser');
  const other = anew(known);
  assert.equal((await other.signIn(await other.visit('/signin'), factored)).status, 429, 'another user');
});

test('on https the cookie of the browser is bound to the host and Secure (decisions, "Cookies")', async (t) => {
  const origin = 'https://id.example';
  const service = await startService(t, { env: { BASE_URL: origin } });
  const user = await service.createUser();
  const form = await fetch(`${service.listensAt}/signin`);
  const cookie = form.headers.getSetCookie().map((line) => line.split(';')[0]);
  const csrf = /name="csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
  const answer = await fetch(`${service.listensAt}/signin`, {
    method: 'POST',
    body: new URLSearchParams({ csrf, username: user.login, password: user.password }),
    headers: { origin, cookie: cookie.join('; ') },
    redirect: 'manual',
  });
  assert.equal(answer.status, 303);
  const line = answer.headers.getSetCookie().find((given) => given.includes('gatehouse-device='));
  assert.match(line ?? '', /^__Host-gatehouse-device=[\w-]{43}; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/i);
});
