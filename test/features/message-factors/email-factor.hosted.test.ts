/** Codes by e-mail as a second factor: set up on the account page and at a sign-in, what they prove, what ends them, and each abuse. Without JavaScript. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { arriveAt } from '../../pages/account/arrival.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, ONE_FACTOR, recoveryCodesOn, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { type MailServer, startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const SECURITY = '/account/security';
const FACTOR_MAIL = 'in the browser where you are signing in';

interface Person {
  readonly id: string;
  readonly login: string;
  readonly password: string;
  readonly email: string;
}

async function start(t: TestContext, settings: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: { ...server.env, ...env }, sendsOutbox: true });
  const set = async (changes: Record<string, unknown>) => {
    const { status } = await service.api('PUT', '/settings/sign-in', { messageFactors: ['email'], ...changes });
    assert.equal(status, 200);
  };
  await set(settings);
  const client = await createClient(service);
  const url = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'login', ...parameters });
  const person = async (): Promise<Person> => {
    const email = `${crypto.randomUUID()}@example.com`;
    return { ...(await service.createUser({ email })), email };
  };
  const enrolled = async (): Promise<Person> => {
    const user = await person();
    const made = await service.api('POST', `/users/${user.id}/factors?activate=true`, { factorType: 'email', provider: 'OKTA' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return user;
  };
  const claimsOf = async (page: Page) => {
    const form = { grant_type: 'authorization_code', code: answerOf(page).code ?? '', redirect_uri: CALLBACK };
    const { body } = await post(service, 'default', 'token', client, form);
    const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
    return [claims.amr, claims.acr];
  };
  return { service, server, set, url, person, enrolled, claimsOf };
}

const codeIn = async (server: MailServer, { email }: Person, number = 1): Promise<string> =>
  /Your code is (\d{8})/.exec((await server.mail(email, number, FACTOR_MAIL)).text)?.[1] ?? assert.fail('no code');
const wrong = (code: string): string => (code === '00000000' ? '00000001' : '00000000');
const send = (browser: UserAgent, page: Page) => browser.submit(page, 'send-email-form');
const enter = (browser: UserAgent, page: Page, passCode: string) => browser.submit(page, 'message-form', { passCode });
const signIn = async (service: Service, at: string | URL, user: Person, browser = new UserAgent(service.baseUrl)) => ({
  browser,
  page: await browser.signIn(await browser.visit(at), user),
});
const isAsked = (page: Page, why?: string) => assert.match(page.text, /id="send-email-form"/, why ?? page.text);

async function outcomes({ api }: Service, eventType: string, { id }: Person): Promise<string[]> {
  const { body } = await api('GET', `/logs?filter=${encodeURIComponent(`eventType eq "${eventType}" and target.id eq "${id}"`)}`);
  return body.map(({ outcome }: { outcome: { result: string; reason?: string } }) => outcome.reason ?? outcome.result);
}

test('codes by e-mail as a second factor', async (t) => {
  const { service, server, set, url, person, enrolled, claimsOf } = await start(t);

  await t.test('are set up on the account page by a first code, prove two factors at a sign-in, and are removed', async () => {
    const user = await person();
    const { browser, page } = await arriveAt(service, SECURITY, user);
    assert.match(page.text, /Use codes by e-mail/);
    const asked = await browser.submit(page, 'add-email-form');
    assert.match(asked.text, new RegExp(`We have sent a code to ${user.email[0]}•••@example.com`));
    const code = await codeIn(server, user);
    const refused = await browser.submit(asked, 'first-code-form', { passCode: wrong(code) });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /href="#message-code">The code is incorrect/);
    const shown = await browser.submit(refused, 'first-code-form', { passCode: code });
    assert.equal(recoveryCodesOn(shown).length, 10, shown.text);
    const after = await browser.visit(SECURITY);
    assert.match(after.text, /Codes go to .•••@example\.com/);
    assert.doesNotMatch(after.text, /id="add-email-form"/);
    const { body: factors } = await service.api('GET', `/users/${user.id}/factors`);
    assert.deepEqual(
      factors.map(({ factorType, provider, status, profile }: Record<string, unknown>) => ({ factorType, provider, status, profile })),
      [{ factorType: 'email', provider: 'OKTA', status: 'ACTIVE', profile: { email: `${user.email[0]}•••@example.com` } }],
    );

    const at = await signIn(service, url(), user);
    isAsked(at.page);
    assert.equal(
      server.mails.filter(({ to, text }) => to === user.email && text.includes(FACTOR_MAIL)).length,
      1,
      'nothing is sent unasked',
    );
    const waiting = await send(at.browser, at.page);
    const second = await codeIn(server, user, 2);
    const again = await enter(at.browser, waiting, wrong(second));
    assert.equal(again.status, 400);
    const done = await enter(at.browser, again, ` ${second.slice(0, 4)} ${second.slice(4)} `);
    assert.deepEqual(await claimsOf(done), [['pwd', 'otp', 'mfa'], TWO_FACTORS]);
    assert.deepEqual((await outcomes(service, 'user.authentication.auth_via_mfa', user)).sort(), ['INVALID_CREDENTIALS', 'SUCCESS']);
    assert.deepEqual(await outcomes(service, 'system.email.send_factor_verify_message', user), ['SUCCESS', 'SUCCESS']);
    const log = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.authentication.auth_via_mfa"')}`);
    assert.match(JSON.stringify(log.body), /"method":"email"/);

    assert.match((await browser.submit(await browser.visit(SECURITY), 'remove-email-form')).text, /Removed\./);
    assert.ok(answerOf((await signIn(service, url(), user)).page).code, 'nothing is asked any more');
  });

  await t.test('are one factor after a sign-in by e-mail: the same mailbox proves nothing new', async () => {
    await set({ methods: ['password', 'passkey', 'email'] });
    const user = await enrolled();
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.submit(await browser.visit(url()), 'sign-in-form', { username: user.email, method: 'email' });
    const first = /Your code is (\d{8})/.exec((await server.mail(user.email, 1, 'where you started')).text)?.[1] ?? '';
    const done = await browser.submit(page, 'code-form', { code: first });
    assert.deepEqual(await claimsOf(done), [['otp'], ONE_FACTOR]);
    const stepsUp = await browser.visit(url({ prompt: '', acr_values: TWO_FACTORS }));
    assert.match(stepsUp.text, /id="enroll-form"/, 'an app or a passkey is set up instead');
    assert.doesNotMatch(stepsUp.text, /send-email-form/);
    const own = await browser.visit(SECURITY);
    const setUp = await browser.submit(own, 'app-form');
    const shown = await browser.submit(setUp, 'enroll-form', { passCode: codeOf(secretOn(setUp)) });
    assert.match((await browser.visit(SECURITY)).text, /Authenticator app/, shown.text);
    await set({});
  });

  await t.test('are set up at a sign-in that demands two factors', async () => {
    const user = await person();
    const { browser, page } = await signIn(service, url({ acr_values: TWO_FACTORS }), user);
    assert.match(page.text, /Set up two-step verification/);
    const asked = await send(browser, page);
    assert.match(asked.text, /id="first-code-form"/, asked.text);
    // E-mails with codes are sent independently of each other: the second one could arrive first.
    await codeIn(server, user);
    const back = await browser.submit(asked, 'other-form');
    assert.match(back.text, /id="enroll-form"/);
    const again = await send(browser, back);
    const shown = await browser.submit(again, 'first-code-form', { passCode: await codeIn(server, user, 2) });
    assert.equal(recoveryCodesOn(shown).length, 10, shown.text);
    const done = await browser.submit(shown, 'enrolled-form');
    assert.deepEqual(await claimsOf(done), [['pwd', 'otp', 'mfa'], TWO_FACTORS]);
  });

  await t.test('work once, the newest alone, in the browser that asked, for ten minutes, and for five attempts', async (t) => {
    const user = await enrolled();
    const { browser, page } = await signIn(service, url(), user);
    const sent = await send(browser, page);
    const first = await codeIn(server, user);
    const other = new UserAgent(service.baseUrl);
    other.plant(browser, 'gatehouse-sign-in');
    assert.match((await other.visit('/signin')).text, /id="sign-in-form"/, 'the token alone is worth nothing in another browser');
    const resent = await browser.submit(sent, 'send-email-form');
    const second = await codeIn(server, user, 2);
    assert.equal((await enter(browser, resent, first)).status, 400, 'the code before has ended');
    const both = await Promise.all([enter(browser.window(), resent, second), enter(browser.window(), resent, second)]);
    assert.equal(both.filter((one) => answerOf(one).code !== undefined).length, 1, 'of two at once one signs in');

    const stranger = await enrolled();
    const his = await signIn(service, url(), stranger);
    const hisPage = await send(his.browser, his.page);
    const mine = await signIn(service, url(), user);
    const myPage = await send(mine.browser, mine.page);
    const hisCode = await codeIn(server, stranger);
    assert.equal((await enter(mine.browser, myPage, hisCode)).status, 400, 'a code of another user');
    const right = await codeIn(server, user, 3);
    let guessed = await enter(mine.browser, myPage, wrong(right));
    for (let times = 0; times < 2; times += 1) guessed = await enter(mine.browser, guessed, wrong(right));
    const late = mine.browser.window();
    assert.match((await enter(mine.browser, guessed, wrong(right))).text, /id="sign-in-form"/, 'five attempts');
    assert.equal(answerOf(await enter(late, guessed, right)).code, undefined);

    moveClock(t, 599);
    moveClock(t, 2);
    assert.match((await enter(his.browser, hisPage, hisCode)).text, /id="sign-in-form"/, 'ten minutes');
  });

  await t.test('end with a new password, with the factor, and with the policy; then the user has none', async () => {
    const user = await enrolled();
    const codes = () =>
      onServer(service.database.url, async (sql) => (await sql.query(`SELECT * FROM email_codes WHERE user_id = '${user.id}'`)).rows);
    const one = await signIn(service, url(), user);
    await send(one.browser, one.page);
    assert.equal((await codes()).length, 1);
    assert.equal(JSON.stringify(await codes()).includes(await codeIn(server, user)), false, 'a code is stored sealed');
    await service.api('POST', `/users/${user.id}`, { credentials: { password: { value: user.password.split('').reverse().join('') } } });
    assert.equal((await codes()).length, 0);

    const person2 = await enrolled();
    const two = await signIn(service, url(), person2);
    const waiting = await send(two.browser, two.page);
    const code = await codeIn(server, person2);
    await service.api('DELETE', `/users/${person2.id}/factors`);
    assert.match((await enter(two.browser, waiting, code)).text, /id="sign-in-form"/);

    const person3 = await enrolled();
    await set({ messageFactors: [] });
    const { body } = await service.api('GET', `/users/${person3.id}/factors`);
    assert.deepEqual([body[0].factorType, body[0].status], ['email', 'DISABLED']);
    const free = await signIn(service, url(), person3);
    assert.deepEqual(await claimsOf(free.page), [['pwd'], ONE_FACTOR]);
    const refused = await service.api('POST', `/users/${(await person()).id}/factors`, { factorType: 'email', provider: 'OKTA' });
    assert.equal(refused.status, 400);
    await set({});
  });

  await t.test('an address that was changed after the code was sent takes its code with it', async () => {
    const user = await enrolled();
    const { browser, page } = await signIn(service, url(), user);
    const waiting = await send(browser, page);
    const code = await codeIn(server, user);
    assert.equal((await service.api('POST', `/users/${user.id}`, { profile: { email: `new-${user.email}` } })).status, 200);
    assert.equal((await enter(browser, waiting, code)).status, 400);
  });

  await t.test('forms that are made up set up and send nothing', async () => {
    const user = await enrolled();
    const { browser, page } = await signIn(service, url(), user);
    const made = await browser.submit(page, 'send-email-form', { factorId: 'fac-of-nobody' });
    isAsked(made);
    assert.equal(server.mails.filter(({ to, text }) => to === user.email && text.includes('code')).length, 0);
    const plain = await person();
    const own = await arriveAt(service, SECURITY, plain);
    const odd = await own.browser.submit(own.page, 'add-email-form', { factorId: 'CARRIER_PIGEON' });
    assert.equal(odd.status, 200);
    assert.equal(server.mails.filter(({ to }) => to === plain.email).length, 0);
  });
});

test('five codes an hour for an account; a browser that the user knows has a count of its own', async (t) => {
  const { service, server, url, enrolled } = await start(t, {}, { RATE_LIMITS: 'on' });
  const user = await enrolled();
  const { browser, page } = await signIn(service, url(), user);
  let sent = page;
  let code = '';
  for (let times = 1; times <= 5; times += 1) {
    sent = await send(browser, sent);
    code = await codeIn(server, user, times);
  }
  const refused = await send(browser, sent);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /href="#messages">We have sent too many codes/);
  assert.ok((await outcomes(service, 'system.email.send_factor_verify_message', user)).includes('TOO_MANY_REQUESTS'));
  assert.ok(answerOf(await enter(browser, refused, code)).code, 'the newest one is still right');
  const known = await signIn(service, url(), user, browser);
  assert.match((await send(browser, known.page)).text, /id="message-form"/);
});
