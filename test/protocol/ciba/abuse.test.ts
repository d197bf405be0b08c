/** Abuse of sign-in requests (CIBA section 14 and FAPI-CIBA section 7): other applications, other users, other processes, floods, and users who are not there. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { eventually } from '../../support/process.ts';
import { startService, startTwo } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, tokensFor } from '../servers/relying-party.ts';
import { GRANT, pendingAt, poll, request, reviewed, SETTINGS, signedIn } from './sign-in-requests.ts';

async function begun(t: TestContext, options: Parameters<typeof startService>[1] = {}) {
  const service = await startService(t, options);
  const [user, one] = [await service.createUser({ email: 'ada@example.com' }), await createClient(service, SETTINGS)];
  return { service, user, one, browser: await signedIn(service, user) };
}

test('an auth_req_id is used once across processes, by its application alone', async (t) => {
  const [first, second] = await startTwo(t);
  const user = await first.createUser();
  const [one, stranger] = [await createClient(first, SETTINGS), await createClient(first, SETTINGS)];
  const { body } = await request(first, one, { login_hint: user.login });
  const browser = await signedIn(second, user);
  await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  assert.equal((await poll(first, stranger, body.auth_req_id)).body.error, 'invalid_grant');
  assert.equal((await poll(first, one, body.auth_req_id, 'default')).body.error, 'invalid_grant', 'at another server');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => poll(n % 2 === 0 ? first : second, one, body.auth_req_id)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(400)]);
  assert.equal((await poll(second, one, body.auth_req_id)).body.error, 'invalid_grant');
});

test('the first answer counts, also of two at two processes', async (t) => {
  const [first, second] = await startTwo(t);
  const [user, one] = [await first.createUser(), await createClient(first, SETTINGS)];
  const { body } = await request(first, one, { login_hint: user.login });
  const browsers = [await signedIn(first, user), await signedIn(second, user)] as const;
  const pages = await Promise.all(browsers.map((browser) => reviewed(browser)));
  const done = await Promise.all(
    browsers.map((browser, at) =>
      browser.submit(pages[at] ?? assert.fail(), 'request-form', at === 0 ? { confirm: 'yes' } : { abort: 'yes' }),
    ),
  );
  const said = done.map(({ text }) => /Allowed\.|Refused\./.exec(text)?.[0] ?? 'late');
  const { status } = await poll(first, one, body.auth_req_id);
  assert.equal(said.filter((word) => word !== 'late').length, 1, said.join());
  assert.equal(status, said.includes('Allowed.') ? 200 : 400);
});

test('nobody answers for another user: not signed in, not by the code of the page, not by a page of another site', async (t) => {
  const { service, user, one, browser } = await begun(t);
  const { body } = await request(service, one, { login_hint: user.login });
  const own = await reviewed(browser);
  const other = await service.createUser();
  const stranger = await signedIn(service, other);
  assert.match((await stranger.visit('/account/requests')).text, /No application is waiting/);
  assert.match((await stranger.visit(own.url)).text, /no longer waiting/);
  // A form of the stranger's own, with the code of the request in it.
  const { body: theirs } = await request(service, one, { login_hint: other.login });
  const code = /name="user_code" value="([^"]+)"/.exec(own.text)?.[1] ?? '';
  const posted = await stranger.submit(await reviewed(stranger), 'request-form', { confirm: 'yes', user_code: code });
  assert.match(posted.text, /no longer waiting/);
  for (const agent of [new UserAgent(service.baseUrl)])
    assert.match((await agent.visit(own.url)).url.pathname, /^\/signin/, 'who is not signed in is asked to');
  const forged = new URLSearchParams({ user_code: code, confirm: 'yes', xsrf: 'guessed' });
  assert.equal((await browser.visit(`${service.issuer('built-in')}/device`, { method: 'POST', body: forged })).status, 400);
  await pendingAt(service, one, body.auth_req_id);
  await pendingAt(service, one, theirs.auth_req_id);
});

test('who signs in as somebody else on the way answers for nobody', async (t) => {
  const { service, user, one } = await begun(t);
  const { body } = await request(service, one, { login_hint: user.login, max_age: '0' });
  const browser = await signedIn(service, user);
  moveClock(t, 5);
  const asked = await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  assert.match(asked.text, /id="sign-in-form"/, 'max_age asks for a fresh sign-in');
  const done = await browser.signIn(asked, await service.createUser());
  assert.doesNotMatch(done.text, /Allowed/);
  await pendingAt(service, one, body.auth_req_id);
});

test('neither the key of the row nor a device code nor the code of the page is an auth_req_id', async (t) => {
  const { service, user, one, browser } = await begun(t);
  const { body } = await request(service, one, { login_hint: user.login });
  const page = await reviewed(browser);
  await browser.submit(page, 'request-form', { confirm: 'yes' });
  const keys = await onServer(service.database.url, async (db) => (await db.query('SELECT id FROM oidc_payload WHERE model = 21')).rows);
  const code = page.url.searchParams.get('code') ?? '';
  for (const id of [`row:${keys[0]?.id}`, code, 'guessed']) assert.equal((await poll(service, one, id)).body.error, 'invalid_grant', id);
  const device = await createClient(service, { grant_types: ['urn:ietf:params:oauth:grant-type:device_code', GRANT], response_types: [] });
  const { body: other } = await request(service, device, { login_hint: user.login });
  await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  const asDevice = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: other.auth_req_id };
  assert.equal((await post(service, 'built-in', 'token', device, asDevice)).body.error, 'invalid_grant');
  assert.equal((await poll(service, device, other.auth_req_id)).status, 200);
  assert.equal((await poll(service, one, body.auth_req_id)).status, 200);
});

test('a user who is suspended between request and approval, or between approval and tokens, gets the application nothing', async (t) => {
  const { service, user, one, browser } = await begun(t);
  const before = (await request(service, one, { login_hint: user.login })).body.auth_req_id;
  const page = await reviewed(browser);
  const after = (await request(service, one, { login_hint: user.login })).body.auth_req_id;
  await browser.submit(await reviewed(browser), 'request-form', { confirm: 'yes' });
  assert.equal((await service.api('POST', `/users/${user.id}/lifecycle/suspend`)).status, 200);
  assert.doesNotMatch((await browser.submit(page, 'request-form', { confirm: 'yes' })).text, /Allowed/);
  assert.equal((await poll(service, one, before)).status, 400);
  assert.equal((await poll(service, one, after)).body.error, 'invalid_grant');
  await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
  for (const id of [before, after]) assert.equal((await poll(service, one, id)).body.error, 'invalid_grant');
});

test('an application learns of no user whether they exist, are active, or may use it', async (t) => {
  const { service, user, one } = await begun(t);
  const suspended = await service.createUser();
  await service.api('POST', `/users/${suspended.id}/lifecycle/suspend`);
  const closed = await createClient(service, { ...SETTINGS, assignment: 'ASSIGNED' });
  const known = await request(service, one, { login_hint: user.login });
  const shape = ({ status, body }: typeof known) => [
    status,
    Object.keys(body).sort(),
    body.expires_in,
    body.interval,
    body.auth_req_id.length,
  ];
  for (const [by, hint] of [
    [one, 'nobody-at-all'],
    [one, suspended.login],
    [closed, user.login],
  ] as const) {
    const answer = await request(service, by, { login_hint: hint });
    assert.deepEqual(shape(answer), shape(known), hint);
    await pendingAt(service, by, answer.body.auth_req_id);
  }
  const browser = await signedIn(service, user);
  const { text } = await browser.visit('/account/requests');
  assert.equal([...text.matchAll(/id="review-/g)].length, 1, 'only the application that is open to the user');
});

test('nobody is worn down: five requests for one user in five minutes, ten mails an hour, a user who does not exist counts like others', async (t) => {
  const mails = await startMailServer(t);
  const { service, user, one } = await begun(t, { env: { ...mails.env, RATE_LIMITS: 'true' }, sendsOutbox: true });
  const applications = [one, await createClient(service, SETTINGS), await createClient(service, SETTINGS)];
  for (const by of applications) {
    for (const hint of [user.login, 'nobody-at-all']) {
      for (let n = 0; n < 5; n += 1) assert.equal((await request(service, by, { login_hint: hint })).status, 200, `${hint} ${n}`);
      const refused = await request(service, by, { login_hint: hint.toUpperCase() });
      assert.deepEqual([refused.status, refused.body.error], [429, 'temporarily_unavailable']);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
    }
  }
  // One user has many ID tokens: they count as one.
  const browser = await signedIn(service, user);
  const settings = { ...SETTINGS, grant_types: [GRANT, 'authorization_code'] };
  const hinting = await createClient(service, settings);
  for (let n = 0; n < 6; n += 1) {
    const { body } = await tokensFor(service, browser, user, hinting, { scope: 'openid' });
    assert.equal((await request(service, hinting, { id_token_hint: body.id_token })).status, n < 5 ? 200 : 429, `ID token ${n}`);
  }
  const done = async () =>
    (
      await onServer(
        service.database.url,
        async (db) => (await db.query("SELECT 1 FROM outbox WHERE kind IN ('sign-in-request', 'mail')")).rows,
      )
    ).length === 0;
  await eventually(async () => (await done()) && mails.mails.length >= 10, 'the mails are sent');
  assert.equal(mails.mails.filter(({ subject }) => subject.includes('asks you to sign in')).length, 10);
});
