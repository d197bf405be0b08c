/** `/account/security`: users manage their second factor, each change after a fresh sign-in (OWASP Multifactor Authentication Cheat Sheet). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, recoveryCodesOn, secretOn, wrongCode } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const PAGE = '/account/security';
const isAt = (page: Page, path: string) => assert.equal(page.url.pathname, path, page.text.slice(0, 3000));

test('the page of second factors', async (t) => {
  const service = await startService(t);
  const newBrowser = () => new UserAgent(service.baseUrl);
  /** Where the user arrives who came for the page without a session. */
  const arrive = async (user: { login: string; password: string; secret?: string }, browser = newBrowser()) => {
    let page = await browser.signIn(await browser.visit(PAGE), user);
    if (user.secret !== undefined) page = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    isAt(page, PAGE);
    return { browser, page };
  };
  const asksToSignIn = (page: Page) => {
    isAt(page, '/signin');
    assert.match(page.text, /id="sign-in-form"/);
  };

  await t.test('asks who is not signed in to sign in, and leads back', async () => {
    const { page } = await arrive(await service.createUser());
    assert.match(page.text, /id="app-form"/);
    assert.doesNotMatch(page.text, /id="remove-form"/);
  });

  await t.test('sets an app up; the session goes on with both factors, and the next sign-in asks for it', async () => {
    const user = await service.createUser();
    const { browser, page } = await arrive(user);
    const asked = await browser.submit(page, 'app-form');
    const secret = secretOn(asked);
    assert.match(secret, /^[A-Z2-7]{32}$/);
    assert.match(asked.text, /<svg/);
    const wrong = await browser.submit(asked, 'enroll-form', { passCode: wrongCode(secret) });
    assert.deepEqual([wrong.status, secretOn(wrong)], [400, secret]);
    const shown = await browser.submit(wrong, 'enroll-form', { passCode: codeOf(secret) });
    assert.equal(recoveryCodesOn(shown).length, 10);
    assert.match(shown.text, /href="\/account\/security"/);
    const after = await browser.visit(PAGE);
    assert.match(after.text, /Codes left: 10/);
    const again = await browser.submit(after, 'recovery-codes-form');
    assert.equal(recoveryCodesOn(again).length, 10, 'the session needs no further proof');
    const other = newBrowser();
    assert.match((await other.signIn(await other.visit('/signin'), user)).text, /id="factor-form"/);
  });

  await t.test('every change asks for a sign-in not older than 15 minutes, with the factor', async (t) => {
    const user = await enrolledUser(service);
    const { browser, page } = await arrive(user);
    moveClock(t, 901);
    for (const form of ['remove-form', 'recovery-codes-form']) asksToSignIn(await browser.submit(page, form));
    const signIn = await browser.visit('/signin?account=security');
    asksToSignIn(signIn);
    const factor = await browser.signIn(signIn, user);
    assert.match(factor.text, /id="factor-form"/);
    const back = await browser.submit(factor, 'factor-form', { passCode: codeOf(user.secret) });
    isAt(back, PAGE);
    const removed = await browser.submit(back, 'remove-form');
    assert.match(removed.text, /id="app-form"/);
    const fresh = await service.createUser();
    const plain = await arrive(fresh);
    moveClock(t, 901);
    asksToSignIn(await plain.browser.submit(plain.page, 'app-form'));
  });

  await t.test('a session without the factor changes nothing of a user who has one, however fresh', async () => {
    const user = await service.createUser();
    const stolen = await arrive(user);
    const owner = await arrive(user);
    const asked = await owner.browser.submit(owner.page, 'app-form');
    const theirs = await stolen.browser.submit(stolen.page, 'app-form');
    await owner.browser.submit(asked, 'enroll-form', { passCode: codeOf(secretOn(asked)) });
    asksToSignIn(await stolen.browser.submit(theirs, 'enroll-form', { passCode: codeOf(secretOn(theirs)) }));
    const seen = await stolen.browser.visit(PAGE);
    for (const form of ['remove-form', 'recovery-codes-form']) asksToSignIn(await stolen.browser.submit(seen, form));
    assert.equal((await service.api('GET', `/users/${user.id}/factors`)).body.length, 1);
  });

  await t.test('new recovery codes end the former ones', async () => {
    const user = await enrolledUser(service);
    const { browser, page } = await arrive(user);
    const codes = recoveryCodesOn(await browser.submit(page, 'recovery-codes-form'));
    assert.equal(codes.length, 10);
    const attempt = async (recoveryCode = '') => {
      const other = newBrowser();
      const asked = await other.signIn(await other.visit('/signin'), user);
      return other.submit(asked, 'recovery-form', { recoveryCode });
    };
    assert.equal((await attempt(user.recoveryCodes[0])).status, 400);
    isAt(await attempt(codes[0]), '/account');
    assert.match((await browser.visit(PAGE)).text, /Codes left: 9/);
  });

  await t.test('nobody removes the factor of another user, and each change is audited with before and after', async () => {
    const user = await enrolledUser(service);
    const other = await enrolledUser(service);
    const [{ id: factorId }] = (await service.api('GET', `/users/${other.id}/factors`)).body;
    const { browser, page } = await arrive(user);
    await browser.submit(page, 'remove-form', { factorId });
    assert.equal((await service.api('GET', `/users/${other.id}/factors`)).body.length, 1);
    assert.equal((await service.api('GET', `/users/${user.id}/factors`)).body.length, 1);
    await browser.submit(await browser.visit(PAGE), 'remove-form');
    assert.deepEqual((await service.api('GET', `/users/${user.id}/factors`)).body, []);
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.mfa.factor.deactivate"')}&limit=200`);
    const [event] = body.filter(({ actor }: { actor: { id: string } }) => actor.id === user.id);
    assert.deepEqual([event.debugContext.before.factors.length, event.debugContext.after.factors.length], [1, 0]);
  });

  await t.test('a form of another site, or without its token, is refused', async () => {
    const { browser } = await arrive(await service.createUser());
    for (const headers of [{ origin: 'https://evil.example' }, { origin: service.baseUrl }]) {
      const answer = await browser.send(`${PAGE}/app`, { method: 'POST', body: new URLSearchParams(), headers });
      assert.equal(answer.status, 403);
    }
  });

  await t.test('the start page leads there', async () => {
    const browser = newBrowser();
    const home = await browser.signIn(await browser.visit('/signin'), await service.createUser());
    assert.match(home.text, /href="\/account\/security"/);
  });
});
